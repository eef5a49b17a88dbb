"""Types, elements and values of schemas."""

from __future__ import annotations

from .const import Nil as Nil
from .const import SkipValue as SkipValue
from .elements import *  # noqa: F403
from .schema import Schema as Schema
from .types import *  # noqa: F403
from .types.builtins import *  # noqa: F403
from .valueobjects import *  # noqa: F403

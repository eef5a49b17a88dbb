"""Elements, attributes, wildcards and groups of a schema."""

from .element import *  # noqa: F403
from .indicators import *  # noqa: F403
from .indicators import Indicator as Indicator
from .indicators import OrderIndicator as OrderIndicator

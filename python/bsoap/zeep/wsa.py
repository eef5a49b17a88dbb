"""WS-Addressing waits for a later release."""

from __future__ import annotations

from typing import Any

from .exceptions import NotCovered
from .plugins import Plugin


class WsAddressingPlugin(Plugin):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotCovered(
            "WS-Addressing waits for a later release of bsoap; until then give the header blocks by _soapheaders, "
            "or by bsoap.Client(..., soap_headers=[...])"
        )

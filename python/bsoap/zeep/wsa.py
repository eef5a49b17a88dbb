"""The header blocks of WS-Addressing for requests: Action, MessageID and To."""

from __future__ import annotations

import uuid
from typing import Any

from lxml import etree
from lxml.builder import ElementMaker

from . import ns
from .plugins import Plugin
from .wsdl.utils import get_or_create_header

WSA = ElementMaker(namespace=ns.WSA, nsmap={"wsa": ns.WSA})


class WsAddressingPlugin(Plugin):
    """Adds the blocks to each request. Requests of operations whose WSDL declares an Action have them without this plugin."""

    nsmap = {"wsa": ns.WSA}

    def __init__(self, address_url: str | None = None) -> None:
        self.address_url = address_url

    def egress(self, envelope: Any, http_headers: Any, operation: Any, binding_options: Any) -> Any:
        action = operation.abstract.wsa_action or operation.soapaction
        header = get_or_create_header(envelope)
        header.extend(
            [
                WSA.Action(action),
                WSA.MessageID(f"urn:uuid:{uuid.uuid4()}"),
                WSA.To(self.address_url or binding_options["address"]),
            ]
        )
        etree.cleanup_namespaces(header, keep_ns_prefixes=header.nsmap, top_nsmap=self.nsmap)
        return envelope, http_headers

"""Bindings: how messages are made, sent and read.

Three ways, the first that fits:

1. The codec of bsoap converts, and its client transports.
2. The codec converts, and the transport of the program (a session with adapters, a subclass, plugins) transports.
3. zeep's rules convert with lxml what the codec refuses, so that errors are those of zeep.
"""

from __future__ import annotations

import logging
from typing import Any

from lxml import etree

from ... import _errors
from .. import _convert, _native, _packages, ns, plugins
from ..exceptions import (
    Fault,
    NotCovered,
    TransportError,
    XMLSyntaxError,
)
from ..loader import parse_xml
from ..utils import get_media_type
from ..wsa import WsAddressingPlugin
from ..xsd.types import ComplexType
from ..xsd.utils import as_qname, qname_attr
from .definitions import Binding, Operation
from .messages import DocumentMessage, RpcMessage, unwrapped
from .utils import etree_to_string, url_http_to_https

logger = logging.getLogger("zeep.wsdl.bindings.soap")

_TRANSPORTS = ("http://schemas.xmlsoap.org/soap/http", "http://www.w3.org/2003/05/soap/bindings/HTTP/")


class SoapBinding(Binding):
    nsmap: dict[str, str] = {}

    def __init__(
        self, wsdl: Any, name: Any, port_name: Any, transport: Any = None, default_style: str = "document"
    ) -> None:
        super().__init__(wsdl, name, port_name)
        self.transport = transport
        self.default_style = default_style

    def create_message(self, operation: str, *args: Any, **kwargs: Any) -> Any:
        return self._create(operation, args, kwargs)[0]

    def _create(
        self, operation: str, args: tuple[Any, ...], kwargs: dict[str, Any], client: Any = None, options: Any = None
    ) -> tuple[Any, dict[str, str]]:
        """The envelope as an element of lxml and the HTTP headers, as plugins left them."""
        found = self.get(operation)
        text = found.encode(args, kwargs)
        envelope = found.create(*args, **kwargs).content if text is None else parse_xml(text)
        return self._dressed(envelope, found, client, options)

    def _dressed(self, envelope: Any, operation: Any, client: Any, options: Any) -> tuple[Any, dict[str, str]]:
        headers = self._http_headers(operation)
        if client is None:
            return envelope, headers
        options = options or client.service._binding_options
        if operation.abstract.wsa_action:
            envelope, headers = WsAddressingPlugin().egress(envelope, headers, operation, options)
        envelope, headers = plugins.apply_egress(client, envelope, headers, operation, options)
        for wsse in _wsse_of(client):
            envelope, headers = wsse.apply(envelope, headers)
        if client.settings.extra_http_headers:
            headers.update(client.settings.extra_http_headers)
        return envelope, headers

    def _http_headers(self, operation: Any) -> dict[str, str]:
        raise NotImplementedError

    def send(
        self, client: Any, options: dict[str, Any], operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        found = self.get(operation)
        native = None if found.abstract.wsa_action else _native.client_for(client, self, options)
        if native is not None:
            result = native.call(found, args, kwargs)
            if result is not _native.NOT_SENT:
                return result
        message, headers = self._message(client, options, found, args, kwargs)
        if isinstance(message, bytes):
            response = client.transport.post(options["address"], message, headers)
        else:
            response = client.transport.post_xml(options["address"], message, headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, found, response)

    async def send_async(
        self, client: Any, options: dict[str, Any], operation: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        found = self.get(operation)
        message, headers = self._message(client, options, found, args, kwargs)
        if isinstance(message, bytes):
            response = client.transport.new_response(await client.transport.post(options["address"], message, headers))
        else:
            response = await client.transport.post_xml(options["address"], message, headers)
        if client.settings.raw_response:
            return response
        return self.process_reply(client, found, response)

    def _message(self, client: Any, options: Any, operation: Any, args: Any, kwargs: Any) -> tuple[Any, dict[str, str]]:
        """The text of the request if nothing needs to see its elements, otherwise the envelope."""
        is_seen = client.plugins or _wsse_of(client) or operation.abstract.wsa_action
        if not is_seen and not _overrides_post_xml(client.transport):
            text = operation.encode(args, kwargs)
            if text is not None:
                return text, {**self._http_headers(operation), **(client.settings.extra_http_headers or {})}
        return self._create(operation.name, args, kwargs, client=client, options=options)

    def process_reply(self, client: Any, operation: Any, response: Any) -> Any:
        status, content = response.status_code, response.content
        if status in (201, 202) and not content:
            return None
        if status != 200 and not content:
            raise TransportError(f"Server returned HTTP status {status} (no content available)", status_code=status)
        content_type = response.headers.get("Content-Type") or "text/xml"
        if get_media_type(content_type) == "multipart/related":
            return self._process_package(client, operation, response, content_type)
        return self._process_content(client, operation, status, content, response.headers)

    def _process_package(self, client: Any, operation: Any, response: Any, content_type: str) -> Any:
        # The parts are known if the client of bsoap has received the package.
        received = getattr(response, "_bsoap_parts", None)
        content = response.content
        content, parts = (content, received) if received is not None else _packages.split(content, content_type)
        pack = _packages.MessagePack(parts)
        try:
            document = parse_xml(content, self.transport, settings=client.settings)
        except XMLSyntaxError:
            # The error of an answer without a package.
            return self._process_text(client, operation, response.status_code, content, response.headers)
        if not parts:
            _packages.refuse_xop(document)
        elif _packages.process_xop(document, pack):
            content, parts = etree.tostring(document), []
        result = self._process_content(client, operation, response.status_code, content, response.headers)
        if not parts:
            return result
        pack._set_root(result)
        return pack

    def _process_content(self, client: Any, operation: Any, status: int, content: bytes, headers: Any) -> Any:
        is_seen = any(type(plugin) is not plugins.HistoryPlugin for plugin in client.plugins) or _verifies(client)
        if status == 200 and not is_seen:
            result = operation.decode(content)
            if result is not _native.NOT_SENT:
                if client.plugins:
                    plugins.apply_ingress(client, parse_xml(content), headers, operation)
                return result
        return self._process_text(client, operation, status, content, headers)

    def _process_text(self, client: Any, operation: Any, status: int, content: bytes, headers: Any) -> Any:
        """Reads an answer by zeep's rules."""
        try:
            envelope = parse_xml(content, self.transport, settings=client.settings)
        except XMLSyntaxError as error:
            raise TransportError(
                f"Server returned response ({status}) with invalid XML: {error}.\nContent: {content!r}",
                status_code=status,
                content=content,
            ) from error
        for wsse in _wsse_of(client):
            wsse.verify(envelope)
        envelope, headers = plugins.apply_ingress(client, envelope, headers, operation)
        fault = envelope.find(f"{{{self.nsmap['soap-env']}}}Body/{{{self.nsmap['soap-env']}}}Fault")
        if status != 200 or fault is not None:
            return self.process_error(envelope, operation)
        return operation.process_reply(envelope)

    def process_error(self, doc: Any, operation: Any) -> Any:
        env = self.nsmap["soap-env"]
        fault = doc.find(f"{{{env}}}Body/{{{env}}}Fault")
        if fault is None:
            raise Fault("Unknown fault occured", detail=etree_to_string(doc))
        raise self._fault(fault)

    def _fault(self, node: Any) -> Fault:
        raise NotImplementedError

    def process_service_port(self, xmlelement: Any, force_https: bool = False) -> dict[str, Any] | None:
        node = xmlelement.find(f"{{{self.nsmap['soap']}}}address")
        if node is None:
            return None
        location = node.get("location")
        return {"address": url_http_to_https(location) if force_https and location else location}


def _wsse_of(client: Any) -> list[Any]:
    if not client.wsse:
        return []
    return list(client.wsse) if isinstance(client.wsse, (list, tuple)) else [client.wsse]


def _verifies(client: Any) -> bool:
    """Whether a part of WS-Security wants to see the answers."""
    from ..wsse.username import UsernameToken

    return any(getattr(type(part), "verify", None) is not UsernameToken.verify for part in _wsse_of(client))


def _overrides_post_xml(transport: Any) -> bool:
    from ..transports import AsyncTransport, Transport

    own = getattr(type(transport), "post_xml", None)
    return own not in (Transport.post_xml, AsyncTransport.post_xml) or "post_xml" in getattr(transport, "__dict__", {})


class Soap11Binding(SoapBinding):
    nsmap = {"soap": ns.SOAP_11, "soap-env": ns.SOAP_ENV_11, "wsdl": ns.WSDL, "xsd": ns.XSD}

    def _http_headers(self, operation: Any) -> dict[str, str]:
        action = operation.soapaction
        return {"SOAPAction": f'"{action}"' if action else '""', "Content-Type": "text/xml; charset=utf-8"}

    def _fault(self, node: Any) -> Fault:
        def text(name: str) -> Any:
            found = node.find(name, namespaces=node.nsmap)
            return None if found is None else found.text

        detail = node.find("detail", namespaces={key: value for key, value in node.nsmap.items() if key is not None})
        if detail is None:
            detail = node.find("{*}detail")
        return Fault(text("faultstring"), text("faultcode"), text("faultactor"), detail)


class Soap12Binding(SoapBinding):
    nsmap = {"soap": ns.SOAP_12, "soap-env": ns.SOAP_ENV_12, "wsdl": ns.WSDL, "xsd": ns.XSD}

    def _http_headers(self, operation: Any) -> dict[str, str]:
        action = operation.soapaction
        return {
            "SOAPAction": f'"{action}"' if action else '""',
            "Content-Type": f'application/soap+xml; charset=utf-8; action="{action}"',
        }

    def _fault(self, node: Any) -> Fault:
        env = {"e": ns.SOAP_ENV_12}
        subcodes = []
        inner = node.find("e:Code/e:Subcode", namespaces=env)
        while inner is not None:
            value = inner.find("e:Value", namespaces=env)
            subcodes.append(as_qname(value.text, value.nsmap))
            inner = inner.find("e:Subcode", namespaces=env)
        return Fault(
            node.findtext("e:Reason/e:Text", namespaces=env),
            node.findtext("e:Code/e:Value", namespaces=env),
            None,
            node.find("e:Detail", namespaces=env),
            subcodes,
        )


class HttpBinding(Binding):
    """HTTP GET and POST without SOAP; its operations cannot be called."""

    def process_service_port(self, xmlelement: Any, force_https: bool = False) -> dict[str, Any] | None:
        node = xmlelement.find(f"{{{ns.HTTP}}}address")
        return None if node is None else {"address": node.get("location")}

    def send(self, client: Any, options: Any, operation: str, args: Any, kwargs: Any) -> Any:
        raise NotCovered(
            f"{self.name.text} is a binding of HTTP without SOAP: send the request of {operation} with requests"
        )


class HttpGetBinding(HttpBinding):
    pass


class HttpPostBinding(HttpBinding):
    pass


class SoapOperation(Operation):
    def __init__(self, name: str, binding: Any, nsmap: Any, soapaction: str | None, style: str) -> None:
        super().__init__(name, binding)
        self.nsmap = nsmap
        self.soapaction = soapaction
        self.style = style
        # Whether the codec has refused messages of this operation.
        self._is_refused = {"input": False, "output": False}

    def create(self, *args: Any, **kwargs: Any) -> Any:
        return self.input.serialize(*args, **kwargs)

    def arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, list[str]] | None:
        """The arguments for the codec and the header blocks as XML; None if it cannot take them."""
        message = self.input
        if message.waits_for or message._is_body_wrapped or self._is_refused["input"]:
            return None
        given = dict(kwargs)
        headers = given.pop("_soapheaders", None)
        blocks: list[str] = []
        header = message._serialize_header(headers, {"soap-env": self.nsmap["soap-env"]})
        if header is not None:
            blocks = [etree.tostring(block, encoding="unicode") for block in header]
        if message.body is None:
            return (None, []) if not args and not given and not blocks else None
        kind = message.body.type
        try:
            if args or not isinstance(kind, ComplexType):
                value = message.body(*args, **given)
            else:
                value = given
            return _convert.encoder(kind)(value), blocks
        except _convert.Refused:
            return None
        except (ValueError, TypeError):
            # zeep's rules say what is wrong.
            return None

    def encode(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bytes | None:
        """The text of the request by the codec; None if it refuses the arguments."""
        prepared = self.arguments(args, kwargs)
        native = _native.of(self.binding.wsdl)
        if prepared is None or native is None:
            return None
        value, blocks = prepared
        try:
            return native.template(self).encode(value, soap_headers={"#any": blocks} if blocks else None)
        except (_errors.Error, ValueError, TypeError) as error:
            logger.debug("the codec refuses the arguments of %s: %s", self.name, error)
            return None

    def decode(self, content: bytes) -> Any:
        """The result by the codec; `NOT_SENT` if zeep's rules are to read it."""
        native = _native.of(self.binding.wsdl)
        message = self.output
        if native is None or message is None or message.body is None or message.has_headers or message.waits_for:
            return _native.NOT_SENT
        if message._is_body_wrapped or self._is_refused["output"]:
            return _native.NOT_SENT
        try:
            decoded = native.decoder(self).answer(self.name, content)
            return None if decoded is None else self.converted(decoded.value)
        except _convert.Refused:
            # It refuses others of this operation too, most likely.
            self._is_refused["output"] = True
        except (_errors.Error, ValueError) as error:
            logger.debug("the codec refuses the answer of %s: %s", self.name, error)
        return _native.NOT_SENT

    def converted(self, value: Any) -> Any:
        """The result for a value of the codec."""
        kind = self.output.body.type
        convert: Any = _convert.decoder(kind, self.binding.wsdl.types)
        return unwrapped(convert(value, True) if isinstance(kind, ComplexType) else convert(value))

    def process_reply(self, envelope: Any) -> Any:
        name = f"{{{self.nsmap['soap-env']}}}Envelope"
        if envelope.tag != name:
            raise XMLSyntaxError(
                f"The XML returned by the server does not contain a valid {name} root element. "
                f"The root element found is {envelope.tag} "
            )
        if self.output is not None:
            return self.output.deserialize(envelope)
        return None


def parse(definition: Any, node: Any) -> Any:
    """The binding of an element of a WSDL; None if its kind is unknown."""
    name = etree.QName(definition.target_namespace, node.get("name"))
    port_type = qname_attr(node, "type", definition.target_namespace)
    for cls in (Soap11Binding, Soap12Binding):
        soap = node.find(f"{{{cls.nsmap['soap']}}}binding")
        if soap is None:
            continue
        if soap.get("transport") not in _TRANSPORTS:
            logger.debug("The binding transport %s is not supported (only soap/http)", soap.get("transport"))
            return None
        made = cls(definition.wsdl, name, port_type, soap.get("transport"), soap.get("style", "document"))
        assert port_type is not None
        try:
            made.port_type = definition.get("port_types", port_type.text)
        except IndexError:
            return None
        for item in node.findall(f"{{{ns.WSDL}}}operation"):
            operation = _operation(definition, made, item)
            if operation is not None:
                made._operations[operation.name] = operation
        return made
    http = node.find(f"{{{ns.HTTP}}}binding")
    if http is None:
        return None
    http_class = HttpGetBinding if http.get("verb") == "GET" else HttpPostBinding
    other = http_class(definition.wsdl, name, port_type)
    for item in node.findall(f"{{{ns.WSDL}}}operation"):
        other._operations[item.get("name")] = Operation(item.get("name"), other)
    return other


def _operation(definition: Any, binding: Any, node: Any) -> Any:
    soap = {"soap": binding.nsmap["soap"]}
    own = node.find("soap:operation", namespaces=soap)
    style = binding.default_style if own is None else own.get("style", binding.default_style)
    name = node.get("name")
    made = SoapOperation(name, binding, binding.nsmap, None if own is None else own.get("soapAction"), style)
    made.abstract = binding.port_type.operations.get(name)
    if made.abstract is None:
        return None
    abstract = {"input": made.abstract.input_message, "output": made.abstract.output_message}
    for item in node:
        kind = etree.QName(item).localname if isinstance(item.tag, str) else ""
        if kind not in ("input", "output", "fault"):
            continue
        multipart = item.find(f"{{{ns.MIME}}}multipartRelated")
        content = [] if multipart is None else [part.get("part") for part in multipart.iter(f"{{{ns.MIME}}}content")]
        # The parts of a MIME package have the elements of SOAP in them.
        body = item.find(".//soap:body", namespaces=soap)
        cls = RpcMessage if style == "rpc" else DocumentMessage
        message = cls(made, item.get("name"), kind, style, None if body is None else body.get("namespace"))
        if body is not None and body.get("use") == "encoded":
            message.waits_for = 'messages with use="encoded"'
        elif content and kind == "input":
            message.waits_for = "requests with attachments"
        target = abstract.get(kind) if kind != "fault" else made.abstract.fault_messages.get(item.get("name"))
        headers = []
        for header in item.findall(".//soap:header", namespaces=soap):
            source = definition.get(
                "messages", as_qname(header.get("message"), header.nsmap, definition.target_namespace).text
            )
            headers.append((header.get("part"), source.parts[header.get("part")], source is target))
        names = None if body is None else (body.get("parts") or body.get("part"))
        in_body = names.split() if names else None
        if content and in_body is None and target is not None:
            in_body = [name for name in target.parts if name not in content]
        message.resolve(target, in_body, headers, body is not None and in_body != [])
        if kind == "fault":
            made.faults[item.get("name")] = message
        else:
            setattr(made, kind, message)
    return made


__all__ = [
    "HttpGetBinding",
    "HttpPostBinding",
    "Soap11Binding",
    "Soap12Binding",
    "SoapBinding",
    "SoapOperation",
]

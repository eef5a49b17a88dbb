"""Abstract messages, operations, services and ports."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any, NamedTuple


class MessagePart(NamedTuple):
    element: Any
    type: Any


class AbstractMessage:
    def __init__(self, name: Any) -> None:
        self.name = name
        self.parts: OrderedDict[str, MessagePart] = OrderedDict()

    def __repr__(self) -> str:
        return f"<AbstractMessage(name={self.name.text!r})>"


class AbstractOperation:
    def __init__(
        self,
        name: str,
        input_message: Any = None,
        output_message: Any = None,
        fault_messages: Any = None,
        parameter_order: Any = None,
        wsa_action: str | None = None,
    ) -> None:
        self.name = name
        self.input_message = input_message
        self.output_message = output_message
        self.fault_messages = fault_messages or {}
        self.parameter_order = parameter_order
        self.wsa_action = wsa_action


class PortType:
    def __init__(self, name: Any, operations: dict[str, AbstractOperation]) -> None:
        self.name = name
        self.operations = operations

    def __repr__(self) -> str:
        return f"<PortType(name={self.name.text!r})>"


class Binding:
    def __init__(self, wsdl: Any, name: Any, port_name: Any) -> None:
        self.wsdl = wsdl
        self.name = name
        self.port_name = port_name
        self.port_type: Any = None
        self._operations: dict[str, Any] = {}

    def all(self) -> dict[str, Any]:
        return self._operations

    def get(self, key: str) -> Any:
        try:
            return self._operations[key]
        except KeyError:
            raise ValueError(f"No such operation {key!r} on {self.name}") from None

    def __str__(self) -> str:
        return f"{type(self).__name__}: {self.name.text}"

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name.text!r}, port_type={self.port_type!r})>"


class Operation:
    def __init__(self, name: str, binding: Any) -> None:
        self.name = name
        self.binding = binding
        self.abstract: Any = None
        self.style: str | None = None
        self.input: Any = None
        self.output: Any = None
        self.faults: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"<{type(self).__name__}(name={self.name!r}, style={self.style!r})>"

    def __str__(self) -> str:
        if not self.input:
            return f"{self.name}(missing input message)"
        text = f"{self.name}({self.input.signature()})"
        return f"{text} -> {self.output.signature(as_output=True)}" if self.output else text


class Port:
    def __init__(self, name: str, binding: Any, binding_options: dict[str, Any]) -> None:
        self.name = name
        self.binding = binding
        self.binding_options = binding_options

    def get_operation(self, name: str) -> Any:
        return self.binding.get(name)

    def __repr__(self) -> str:
        return f"<Port(name={self.name!r}, binding={self.binding!r}, {self.binding_options!r})>"

    def __str__(self) -> str:
        return f"Port: {self.name} ({self.binding})"


class Service:
    def __init__(self, name: str) -> None:
        self.name = name
        self.ports: OrderedDict[str, Port] = OrderedDict()

    def __repr__(self) -> str:
        return f"<Service(name={self.name!r}, ports={self.ports!r})>"

    def __str__(self) -> str:
        return f"Service: {self.name}"

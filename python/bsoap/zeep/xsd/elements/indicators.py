"""Sequences, choices and groups of a schema."""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from functools import cached_property
from typing import Any as Anything

from ...exceptions import UnexpectedElementError, ValidationError
from ..const import NotSet, SkipValue
from ..utils import create_prefixed_name, max_occurs_iter
from .element import Any, Base, Element

__all__ = ["All", "Choice", "Group", "Sequence"]


class Indicator(Base):
    elements: Anything

    @property
    def default_value(self) -> Anything:
        values = OrderedDict((name, element.default_value) for name, element in self.elements)
        return {"_value_1": values} if self.accepts_multiple else values


class OrderIndicator(Indicator, list):  # type: ignore[type-arg]
    """A sequence, a choice or an all."""

    def __init__(self, elements: Anything = None, min_occurs: int = 1, max_occurs: Anything = 1) -> None:
        self.min_occurs = min_occurs
        self.max_occurs = max_occurs
        list.__init__(self, elements or [])

    def clone(self, name: Anything, min_occurs: int = 1, max_occurs: Anything = 1) -> Anything:
        return type(self)(list(self), min_occurs=min_occurs, max_occurs=max_occurs)

    @cached_property
    def elements(self) -> list[tuple[Anything, Anything]]:
        result: list[tuple[Anything, Anything]] = []
        for name, element in self.elements_nested:
            result.extend(element.elements if name is None else [(name, element)])
        return result

    @cached_property
    def elements_nested(self) -> list[tuple[Anything, Anything]]:
        """The members with their names; groups that do not repeat add no level and have no name."""
        result: list[tuple[Anything, Anything]] = []
        wildcards = _numbered("_value_")
        seen: dict[str, int] = {}
        for element in self:
            if isinstance(element, Indicator):
                if element.accepts_multiple:
                    result.append((next(wildcards), element))
                else:
                    for name, _ in element.elements:
                        _unique(seen, name)
                    result.append((None, element))
            elif isinstance(element, Any):
                result.append((next(wildcards), element))
            else:
                result.append((_unique(seen, element.attr_name), element))
        return result

    def accept(self, values: Anything) -> Anything:
        results = set()
        for value in values if self.accepts_multiple else [values]:
            count = 0
            for _, element in self.elements_nested:
                if isinstance(element, Element):
                    count += int(element.name in value and value[element.name] is not None)
                else:
                    count += element.accept(value)
            results.add(count)
        return max(results) if results else 0

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        if any(isinstance(element, Choice) for _, element in self.elements_nested):
            raise TypeError("Choice elements only work with keyword arguments")
        result = {}
        for name, _ in self.elements:
            if index >= len(args):
                break
            result[name] = args[index]
            index += 1
        return result, args, index

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if not self.accepts_multiple:
            found: dict[str, Anything] = OrderedDict()
            for member, element in self.elements_nested:
                found.update(element.parse_kwargs(kwargs, member, available) or {})
            return found
        if name not in available:
            return {}
        items = kwargs.get(name)
        result = []
        for item in max_occurs_iter(self.max_occurs, items if isinstance(items, list) else [items]):
            try:
                rest = set(item.keys() if hasattr(item, "keys") else item)
            except TypeError:
                raise TypeError("A list of dicts is expected for unbounded Sequences") from None
            values: dict[str, Anything] = OrderedDict()
            for member, element in self.elements:
                values.update(element.parse_kwargs(item, member, rest) or {})
            if rest:
                raise TypeError(f"{self}() got an unexpected keyword argument {next(iter(rest))!r}.")
            result.append(values)
        available.discard(name)
        return {name: result}

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        values = value if isinstance(value, list) else [value]
        self.validate(values, render_path)
        for item in max_occurs_iter(self.max_occurs, values):
            for name, element in self.elements_nested:
                if not name:
                    member, path = item, render_path
                elif name in item:
                    member, path = item[name], render_path + [name]
                else:
                    member, path = NotSet, render_path
                if member is SkipValue:
                    continue
                if member is not None or not element.is_optional:
                    element.render(parent, member, path)

    def validate(self, value: Anything, render_path: Anything) -> None:
        if any(item is NotSet for item in value):
            raise ValidationError("No value set", path=render_path)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        parts = []
        for name, element in self.elements_nested:
            text = element.signature(schema, standalone=False)
            parts.append(text if isinstance(element, Indicator) else f"{name}: {text}")
        part = ", ".join(parts)
        return f"[{part}]" if self.accepts_multiple else part

    def __repr__(self) -> str:
        return f"<{type(self).__name__}({list.__repr__(self)})>"

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)


class All(OrderIndicator):
    def __init__(
        self, elements: Anything = None, min_occurs: int = 1, max_occurs: Anything = 1, consume_other: bool = False
    ) -> None:
        super().__init__(elements, min_occurs, max_occurs)
        self._consume_other = consume_other

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        expected = {element.qname.text for _, element in self.elements}
        found: dict[str, deque[Anything]] = defaultdict(deque)
        rest = []
        for element in xmlelements:
            if element.tag in expected:
                found[element.tag].append(element)
            else:
                rest.append(element)
        xmlelements.clear()
        xmlelements.extend(rest)
        result: dict[str, Anything] = OrderedDict()
        for member, element in self.elements:
            if given := found.get(element.qname.text):
                result[member] = element.parse_xmlelements(given, schema, context=context)
        if self._consume_other and xmlelements:
            result["_raw_elements"] = list(xmlelements)
            xmlelements.clear()
        return result


class Sequence(OrderIndicator):
    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result: list[Anything] = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            before = len(xmlelements)
            values: dict[str, Anything] = OrderedDict()
            for member, element in self._parsed:
                try:
                    value = element.parse_xmlelements(xmlelements, schema, member, context=context)
                except UnexpectedElementError:
                    if schema.settings.strict:
                        # The first element of another occurrence does not fit: the sequence has ended.
                        if result and len(xmlelements) == before:
                            return {name: result}
                        raise
                    value = None
                if isinstance(element, Indicator):
                    values.update(value or {})
                else:
                    values[member] = value
                if not xmlelements:
                    break
            if len(xmlelements) == before:
                break
            if values:
                result.append(values)
        if self.accepts_multiple:
            return {name: result}
        return result[0] if result else None

    @cached_property
    def _parsed(self) -> list[tuple[Anything, Anything]]:
        return [(name, element) for name, element in self.elements_nested]


class Choice(OrderIndicator):
    @property
    def is_optional(self) -> bool:
        return True

    @property
    def default_value(self) -> Anything:
        return OrderedDict()

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        if args:
            raise TypeError("Choice elements only work with keyword arguments")
        return {}, args, index

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result = []
        for _ in max_occurs_iter(self.max_occurs):
            if not xmlelements:
                break
            best: tuple[int, Anything] = (0, None)
            for member, element in self.elements_nested:
                rest = copy.copy(xmlelements)
                try:
                    found = element.parse_xmlelements(rest, schema, member, context=context)
                except UnexpectedElementError:
                    continue
                if not isinstance(element, Indicator):
                    found = {member: found}
                consumed = len(xmlelements) - len(rest)
                if consumed > best[0]:
                    best = (consumed, found)
            if not best[0]:
                break
            result.append(best[1])
            for _ in range(best[0]):
                xmlelements.popleft()
        if self.accepts_multiple:
            return {name: result}
        return result[0] if result else {}

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if name and name in available:
            values = kwargs[name] or []
            available.discard(name)
            items = [self._chosen(value, name) for value in ([values] if isinstance(values, dict) else values)]
            if self.accepts_multiple:
                return {name: items}
            return {name: items[0] if items else None}
        if self.accepts_multiple:
            return {}
        result: dict[str, Anything] = {}
        is_found = False
        for member, choice in self.elements_nested:
            rest = copy.copy(available)
            given = choice.parse_kwargs(kwargs, member, rest)
            if not given:
                continue
            # A branch without values is taken besides the first one with values.
            if is_found and any(value is not None and value != [] for value in given.values()):
                continue
            is_found = is_found or any(value is not None and value != [] for value in given.values())
            available.intersection_update(rest)
            result.update(given)
        if is_found:
            for member, _ in self.elements:
                result.setdefault(member, None)
            return result
        return {}

    def _chosen(self, value: Anything, name: Anything) -> Anything:
        for element in self:
            if isinstance(element, OrderIndicator):
                chosen = value[name] if name in value else value
                if element.accept(chosen):
                    return chosen
            elif isinstance(element, Any):
                return value
            elif isinstance(element, Group):
                if element.accept(value):
                    return value
            elif element.name in value:
                return {element.name: value[element.name]}
        raise TypeError(
            f"No complete xsd:Sequence found for the xsd:Choice {name!r}.\nThe signature is: {self.signature()}"
        )

    def accept(self, values: Anything) -> Anything:
        best = 0
        for name, element in self.elements_nested:
            if isinstance(element, Element):
                items = values if self.accepts_multiple and isinstance(values, list) else [values]
                found = int(bool(items) and all(name in item and item[name] is not None for item in items))
            else:
                found = element.accept(values)
            best = max(best, found)
        return best

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        values = value if self.accepts_multiple else [value]
        if values is None or values is NotSet:
            return
        for item in values:
            found = self._find_element_to_render(item)
            if found:
                found[0].render(parent, found[1], render_path)

    def _find_element_to_render(self, value: Anything) -> Anything:
        best: tuple[Anything, ...] = (0,)
        for name, element in self.elements_nested:
            if isinstance(element, Element):
                if element.name in value and value[element.name] is not None and best[0] < 1:
                    best = (1, element, value[element.name])
                continue
            chosen = value
            if name is not None:
                try:
                    chosen = value[name]
                except (KeyError, TypeError):
                    chosen = value
            score = int(element.accept(chosen)) if chosen is not None else 0
            if score > best[0]:
                best = (score, element, chosen)
        return best[1:] if best[0] else None

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        parts = []
        for name, element in self.elements_nested:
            text = element.signature(schema, standalone=False)
            parts.append(f"{{{text}}}" if isinstance(element, OrderIndicator) else f"{{{name}: {text}}}")
        part = f"({' | '.join(parts)})"
        return f"{part}[]" if self.accepts_multiple else part


class Group(Indicator):
    def __init__(self, name: Anything, child: Anything, max_occurs: Anything = 1, min_occurs: int = 1) -> None:
        self.child = child
        self.qname = name
        self.name = name.localname if name else None
        self.max_occurs = max_occurs
        self.min_occurs = min_occurs

    def __str__(self) -> str:
        return self.signature()

    def __iter__(self) -> Iterator[Anything]:
        return iter(self.child)

    @cached_property
    def elements(self) -> Anything:
        return [("_value_1", self.child)] if self.accepts_multiple else self.child.elements

    def clone(self, name: Anything, min_occurs: int = 1, max_occurs: Anything = 1) -> Anything:
        return type(self)(None, self.child, min_occurs=min_occurs, max_occurs=max_occurs)

    def accept(self, values: Anything) -> Anything:
        return self.child.accept(values)

    def parse_args(self, args: list[Anything], index: int = 0) -> Anything:
        return self.child.parse_args(args, index)

    def parse_kwargs(self, kwargs: Anything, name: Anything, available: set[str]) -> Anything:
        if not self.accepts_multiple:
            return self.child.parse_kwargs(kwargs, name, available)
        if name not in kwargs:
            return {}
        available.discard(name)
        result = []
        for item in max_occurs_iter(self.max_occurs, kwargs[name]):
            rest = set(item)
            values = self.child.parse_kwargs(item, "_value_1" if self.child.accepts_multiple else None, rest)
            if rest:
                raise TypeError(f"{self}() got an unexpected keyword argument {next(iter(rest))!r}.")
            if values:
                result.append(values)
        return {name: result}

    def parse_xmlelements(
        self, xmlelements: Anything, schema: Anything, name: Anything = None, context: Anything = None
    ) -> Anything:
        result: list[Anything] = []
        for _ in max_occurs_iter(self.max_occurs):
            before = len(xmlelements)
            try:
                result.append(self.child.parse_xmlelements(xmlelements, schema, name, context=context))
            except UnexpectedElementError:
                if not (result and self.accepts_multiple):
                    raise
                break
            if not xmlelements or len(xmlelements) == before:
                break
        return {name: result} if self.accepts_multiple else result[0]

    def render(self, parent: Anything, value: Anything, render_path: Anything) -> None:
        for item in value if isinstance(value, list) else [value]:
            self.child.render(parent, item, render_path)

    def signature(self, schema: Anything = None, standalone: bool = True) -> str:
        text = self.child.signature(schema, standalone=False)
        return f"{create_prefixed_name(self.qname, schema)}({text})" if standalone else str(text)


def _numbered(prefix: str) -> Iterator[str]:
    number = 0
    while True:
        number += 1
        yield f"{prefix}{number}"


def _unique(seen: dict[str, int], name: str) -> str:
    if name in seen:
        seen[name] += 1
        return f"{name}__{seen[name]}"
    seen[name] = 0
    return name

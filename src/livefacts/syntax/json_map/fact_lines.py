"""The lines of a map, and the facts that they make of a message.

A line makes one fact of a message; if its paths range over a list (`[*]`), one of each element.
All paths of a line go through the same lists: those of one lie along those of another.

- If a path with `?` is missing, the fact is left out.
- Else, if any path is missing or has no fitting value, nothing is made of the message: it is
  a dead letter, with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyoxigraph import NamedNode, Triple

from livefacts.errors import InputError
from livefacts.model.facts import Fact
from livefacts.syntax.json_map.term_templates import (
    EventId,
    FactValue,
    FixedTerm,
    IriTemplate,
    Time,
    TimeValue,
)
from livefacts.syntax.json_map.value_paths import JsonPath, read_json


@dataclass(frozen=True, slots=True)
class MappedFact:
    """A fact of a message: when it happens, on which stream, and whether it is taken back."""

    fact: Fact | Triple
    time: Time | None = None
    stream: str | None = None
    retracts: bool = False


@dataclass(frozen=True, slots=True)
class FactLine:
    """One line: a predicate fact, or a triple if it has no name; when and where it happens."""

    name: str | None
    values: tuple[FactValue, ...]
    time: TimeValue | None = None
    stream: FixedTerm | IriTemplate | None = None
    retracts: bool = False

    @property
    def paths(self) -> tuple[JsonPath, ...]:
        """All places of a message that it looks at."""
        inside = [path for value in self.values for path in value.paths]
        inside += [] if self.time is None else [self.time.path]
        inside += [] if self.stream is None else self.stream.paths
        return tuple(inside)

    def facts(self, message: Any, event: str) -> Iterator[MappedFact]:
        """The facts of a message; `event` tells it from all others."""
        optional = [path for path in self.paths if path.is_optional]
        for numbers in self._elements(message):
            if all(path.at(message, numbers) is not None for path in optional):
                yield self._fact(message, numbers, event)

    def _elements(self, message: Any) -> Iterator[tuple[int, ...]]:
        """The numbers of the elements that it ranges over, list by list."""
        ranges = max((path.ranges for path in self.paths), key=len, default=())
        found: list[tuple[int, ...]] = [()]
        for steps in ranges:
            inside = [(n, self._list(steps, message, n)) for n in found]
            found = [(*n, each) for n, items in inside for each in range(len(items))]
        return iter(found)

    def _list(self, steps: tuple[Any, ...], message: Any, numbers: Sequence[int]) -> list[Any]:
        items = JsonPath(steps).at(message, numbers)
        if isinstance(items, list):
            return items
        if any(path.is_optional and steps in path.ranges for path in self.paths):
            return []
        raise InputError(f"there is no list {JsonPath(steps)} in this message")

    def _fact(self, message: Any, numbers: Sequence[int], event: str) -> MappedFact:
        terms = [value.made(message, numbers, event) for value in self.values]
        fact = Triple(*terms) if self.name is None else Fact(self.name, tuple(terms))  # type: ignore[arg-type]
        time = None if self.time is None else self.time.made(message, numbers)
        stream = None if self.stream is None else self.stream.made(message, numbers, event)
        assert stream is None or isinstance(stream, NamedNode), "the parser lets only IRIs pass"
        return MappedFact(fact, time, None if stream is None else stream.value, self.retracts)


@dataclass(frozen=True, slots=True)
class JsonMap:
    """What messages stand for: lines, each of which makes facts of them."""

    lines: tuple[FactLine, ...]

    @property
    def is_timed(self) -> bool:
        """Whether all facts have times."""
        return all(line.time is not None for line in self.lines)

    @property
    def has_events(self) -> bool:
        """Whether facts name the event that they come from."""
        return any(isinstance(value, EventId) for line in self.lines for value in line.values)

    def facts(self, text: str | bytes, event: str = "") -> list[MappedFact]:
        """The facts of a message in the order of the lines, or an `InputError` with the reason."""
        message = read_json(text)
        return [fact for line in self.lines for fact in line.facts(message, event)]

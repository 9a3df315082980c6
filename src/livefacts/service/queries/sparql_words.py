"""The wording of queries: patterns, paths and expressions as SPARQL writes them, with prefixes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from livefacts.engine.queries.basic_parts import FRESH, NestedTerm, PathPattern
from livefacts.engine.queries.joins.step_tables import Slot
from livefacts.language.algebra import (
    BLANK,
    UNNAMED,
    Alternative,
    Grouped,
    InversePath,
    NoneOf,
    OrderKey,
    Parameter,
    Path,
    PredicatePath,
    Query,
    QueryAggregate,
    Repeated,
    TripleTerm,
    With,
    parts_in,
)
from livefacts.language.algebra import Sequence as PathSequence
from livefacts.language.expressions import QueryExpression, written
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import RDF_TYPE
from livefacts.service.queries.results import shown


class QueryWords:
    """Writes the parts of one query; `constants` are what its parameters stand for.

    What the query computes without a name is written out wherever it stands.
    """

    def __init__(
        self, query: Query, prefixes: Mapping[str, str], constants: Sequence[Term]
    ) -> None:
        self._prefixes = prefixes
        self._constants = constants
        self._terms: list[Any] = []
        self._unnamed = {
            name: value
            for part, _ in parts_in(query)
            for name, value in _computed(part)
            if name.startswith(UNNAMED)
        }

    def number(self, term: Any) -> int:
        """A number to write a term by."""
        self._terms.append(term)
        return len(self._terms) - 1

    def slot(self, slot: Slot | Variable | Term | Parameter | TripleTerm) -> str:
        """A variable, or a term, by itself or by its name or number."""
        match slot:
            case int():
                return self.slot(self._terms[slot])
            case str() if slot.startswith(FRESH):
                return f"{BLANK}{slot.removeprefix(FRESH)}"
            case str() if slot in self._unnamed:
                return self._value(self._unnamed[slot])
            case str():
                return slot if slot.startswith(BLANK) else f"?{slot}"
            case Variable():
                return self.slot(slot.name)
            case Parameter():
                return self.slot(self._constants[slot.number])
            case TripleTerm():
                return f"<<( {' '.join(map(self.slot, slot.slots))} )>>"
            case _:
                return shown(slot, self._prefixes)  # type: ignore[arg-type]

    def triple(self, slots: Sequence[Slot]) -> str:
        """A triple pattern."""
        first, second, third = map(self.slot, slots)
        return f"{first} {'a' if second == self.slot(RDF_TYPE) else second} {third}"

    def stage(self, stage: PathPattern | NestedTerm) -> str:
        """What is matched beside triple patterns."""
        if isinstance(stage, NestedTerm):
            inner = " ".join(map(self.slot, stage.slots))
            return f"triple term {self.slot(stage.name)} = <<( {inner} )>>"
        ends = self.slot(stage.subject), self.slot(stage.object)
        return f"path {ends[0]} {self.path(stage.path)} {ends[1]}"

    def path(self, path: Path) -> str:
        """A property path."""
        match path:
            case PredicatePath():
                return self.slot(path.predicate)
            case InversePath():
                return f"^{self._inner(path.path)}"
            case PathSequence():
                return "/".join(map(self._one_of_several, path.paths))
            case Alternative():
                return "|".join(map(self._one_of_several, path.paths))
            case Repeated():
                return f"{self._inner(path.path)}{path.mark}"
            case NoneOf():
                return f"!({'|'.join(map(self.slot, path.predicates))})"

    def _one_of_several(self, path: Path) -> str:
        text = self.path(path)
        return f"({text})" if isinstance(path, PathSequence | Alternative) else text

    def _inner(self, path: Path) -> str:
        text = self.path(path)
        return text if isinstance(path, PredicatePath | NoneOf) else f"({text})"

    def expression(self, expression: QueryExpression) -> str:
        return written(expression, self.slot)

    def total(self, named: tuple[Variable, QueryAggregate]) -> str:
        """`COUNT(DISTINCT ?x) AS ?n`, or without a name."""
        variable, aggregate = named
        text = self._value(aggregate)
        return text if variable.name in self._unnamed else f"{text} AS {variable}"

    def _value(self, value: QueryExpression | QueryAggregate) -> str:
        if not isinstance(value, QueryAggregate):
            return self.expression(value)
        inner = "*" if value.value is None else self.expression(value.value)
        return f"{value.function}({'DISTINCT ' if value.distinct else ''}{inner})"

    def binding(self, pattern: With) -> str:
        """`(STR(?x) AS ?n)`, or without a name."""
        text = self.expression(pattern.value)
        name = pattern.variable.name
        return text if name in self._unnamed else f"({text} AS ?{name})"

    def key(self, key: OrderKey) -> str:
        """What rows are ordered by."""
        text = self.expression(key.value)
        return f"DESC({text})" if key.descending else text


def _computed(part: Any) -> Iterator[tuple[str, QueryExpression | QueryAggregate]]:
    """What a part of a query computes, by the names of the variables that have it."""
    if isinstance(part, With):
        yield part.variable.name, part.value
    elif isinstance(part, Grouped):
        yield from ((variable.name, total) for variable, total in part.aggregates)

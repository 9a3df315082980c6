"""Results: what a query answers, as objects and as text.

`Rows` answer SELECT, `Answer` answers ASK, `Triples` answer CONSTRUCT and DESCRIBE.  All of
them can be written as a table for people, and in the formats of the SPARQL standards.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.errors import QueryError
from livefacts.model.namespaces import XSD
from livefacts.service.change.fact_reader import listed
from livefacts.service.change.html_tables import html_table
from livefacts.service.change.tabular import NO_TERM, Tabular
from livefacts.store.terms.dictionary import Dictionary

if TYPE_CHECKING:
    import pyarrow as pa

    from livefacts.service.queries.plan_source import PlanSource
    from livefacts.service.queries.plan_tree import PlanTree

RdfTerm: TypeAlias = NamedNode | BlankNode | Literal | Triple
T = TypeVar("T")
PIECE = 16_384
"""So many rows are made at once."""
_BARE = frozenset(XSD + name for name in ("integer", "decimal", "double", "boolean"))


class Row(tuple["RdfTerm | None", ...]):
    """One answer: its terms in SELECT order, by position or by name; None is unbound.

    >>> row = Row.of(("x", "n"), (NamedNode("ex:a"), None))
    >>> row["x"], row[1]
    (<NamedNode value=ex:a>, None)
    """

    __slots__ = ()
    variables: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def of(variables: tuple[str, ...], terms: Sequence[RdfTerm | None]) -> Row:
        return row_type(variables)(terms)

    def __reduce__(self) -> tuple[Any, ...]:
        return Row.of, (self.variables, tuple(self))

    @overload  # type: ignore[override]
    def __getitem__(self, key: int | str) -> RdfTerm | None: ...
    @overload
    def __getitem__(self, key: slice) -> tuple[RdfTerm | None, ...]: ...
    def __getitem__(self, key: int | str | slice) -> Any:
        if not isinstance(key, str):
            return super().__getitem__(key)
        name = key.lstrip("?$")
        if name not in self.variables:
            listed = ", ".join(f"?{variable}" for variable in self.variables)
            raise QueryError(f"the query has no variable ?{name}", hint=f"it selects {listed}")
        return super().__getitem__(self.variables.index(name))

    def as_dict(self) -> dict[str, RdfTerm]:
        """The bound variables and their terms."""
        pairs = zip(self.variables, self, strict=True)
        return {name: term for name, term in pairs if term is not None}


@cache
def row_type(variables: tuple[str, ...]) -> type[Row]:
    """The rows of these variables: each row has the names from its type, and needs no room for them."""
    return type("Row", (Row,), {"__slots__": (), "variables": variables})


class Terms(Protocol):
    """Makes terms of ids."""

    def decode(self, ids: Any) -> list[Any]:
        """The terms of ids; None where one is unbound."""
        ...

    def packed_texts(self, ids: Any) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The texts of terms that the dictionary knows, one after the other, and their ends."""
        ...


class IdRows(Sequence[T]):
    """Rows of ids, of which objects are made when they are read, some at a time."""

    def __init__(
        self,
        columns: Sequence[NDArray[np.int32]],
        count: int,
        terms: Terms,
        made: Callable[[tuple[Any, ...]], T],
    ) -> None:
        self._columns = columns
        self._count = count
        self._terms = terms
        self._made = made

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[T]:
        firsts = range(0, len(self), PIECE)
        return chain.from_iterable(self._piece(slice(first, first + PIECE)) for first in firsts)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...
    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        if isinstance(index, slice):
            return tuple(self._piece(index))
        at = range(len(self))[index]
        return self._piece(slice(at, at + 1))[0]

    def _piece(self, part: slice) -> list[T]:
        return listed(lambda: self._rows_of(part))

    def _rows_of(self, part: slice) -> Iterator[T]:
        if not self._columns:
            return map(self._made, ((),) * len(range(self._count)[part]))
        terms = [self._terms.decode(column[part]) for column in self._columns]
        return map(self._made, zip(*terms, strict=True))

    def to_arrow(self, names: Sequence[str], *, as_terms: bool) -> pa.Table:
        """The rows as columns of Arrow."""
        from livefacts.service.change.arrow_columns import arrow_table

        return arrow_table(
            dict(zip(names, self._columns, strict=True)), self._terms, as_terms=as_terms
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(tuple(self))


@dataclass(frozen=True)
class Rows(Tabular):
    """The answers of a SELECT query, in order; `complete` unless a limit has cut them."""

    variables: tuple[str, ...]
    rows: Sequence[Row]
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    complete: bool = field(default=True, compare=False, repr=False)
    noted: PlanSource | None = field(default=None, compare=False, repr=False)

    @property
    def plan(self) -> PlanTree:
        """How the answers were found: `print` shows it."""
        return _plan(self.noted)

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Row:
        return self.rows[index]

    def _repr_html_(self) -> str:
        cells = ([shown(term, self.prefixes) for term in row] for row in self.rows)
        rest = "" if self.complete else "<small>, and more: a limit has cut them</small>"
        return html_table([f"?{name}" for name in self.variables], cells, len(self)) + rest

    def to_table(self, width: int = 100) -> str:
        """A text table, with IRIs shortened by the known prefixes."""
        cells = [[shown(term, self.prefixes) for term in row] for row in self.rows]
        return table([f"?{name}" for name in self.variables], cells, width)

    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """A column for each variable: values of Arrow's types, or terms as N-Triples text."""
        return _arrow(self.rows, self.variables, terms)

    def to_csv(self) -> str:
        return _written(self, "csv")

    def to_tsv(self) -> str:
        return _written(self, "tsv")

    def to_json(self) -> str:
        return _written(self, "json")

    def to_xml(self) -> str:
        return _written(self, "xml")


@dataclass(frozen=True)
class Answer:
    """The answer of an ASK query; use it as a bool."""

    value: bool
    noted: PlanSource | None = field(default=None, compare=False, repr=False)
    complete: ClassVar[bool] = True

    @property
    def plan(self) -> PlanTree:
        """How the answer was found: `print` shows it."""
        return _plan(self.noted)

    def __bool__(self) -> bool:
        return self.value

    def to_table(self, width: int = 100) -> str:
        return "yes\n" if self.value else "no\n"

    def to_csv(self) -> str:
        return _written(self, "csv")

    def to_tsv(self) -> str:
        return _written(self, "tsv")

    def to_json(self) -> str:
        return _written(self, "json")

    def to_xml(self) -> str:
        return _written(self, "xml")


@dataclass(frozen=True)
class Triples(Tabular):
    """The triples that a CONSTRUCT or DESCRIBE query makes, each once."""

    triples: Sequence[Triple]
    prefixes: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)
    complete: bool = field(default=True, compare=False, repr=False)
    noted: PlanSource | None = field(default=None, compare=False, repr=False)

    variables = ("subject", "predicate", "object")

    def __iter__(self) -> Iterator[Triple]:
        return iter(self.triples)

    def __len__(self) -> int:
        return len(self.triples)

    @property
    def plan(self) -> PlanTree:
        """How the triples were found: `print` shows it."""
        return _plan(self.noted)

    def _repr_html_(self) -> str:
        return self.as_rows()._repr_html_()

    def as_rows(self) -> Rows:
        """The triples as rows of subject, predicate and object."""
        rows = tuple(Row.of(self.variables, tuple(triple)) for triple in self.triples)
        return Rows(self.variables, rows, self.prefixes, self.complete)

    def to_table(self, width: int = 100) -> str:
        return self.as_rows().to_table(width)

    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """A column for each variable: values of Arrow's types, or terms as N-Triples text."""
        return _arrow(self.triples, self.variables, terms)

    def to_csv(self) -> str:
        return _written(self, "csv")

    def to_tsv(self) -> str:
        return _written(self, "tsv")

    def to_json(self) -> str:
        return _written(self, "json")

    def to_ntriples(self) -> str:
        return _written(self, "nt")

    def to_turtle(self) -> str:
        return _written(self, "ttl")


QueryResult: TypeAlias = Rows | Answer | Triples


def _arrow(rows: Sequence[Any], names: tuple[str, ...], as_terms: bool) -> pa.Table:
    if isinstance(rows, IdRows):
        return rows.to_arrow(names, as_terms=as_terms)
    terms = Dictionary()
    ids = [[NO_TERM if term is None else terms.encode_one(term) for term in row] for row in rows]
    columns = list(np.array(ids, np.int32).reshape(-1, len(names)).T)
    return IdRows(columns, len(ids), terms, tuple).to_arrow(names, as_terms=as_terms)


def _written(result: QueryResult, form: str) -> str:
    from livefacts.service.queries.result_writers import result_pieces

    return "".join(result_pieces(result, form))


def _plan(noted: PlanSource | None) -> PlanTree:
    if noted is None:
        raise QueryError(
            "only the answers of query() have a plan", hint="a watch has one, too: watch.plan"
        )
    return noted.tree()


def shown(term: RdfTerm | None, prefixes: Mapping[str, str]) -> str:
    """A term for people: short IRIs, bare numbers, quoted strings."""
    if term is None:
        return ""
    if isinstance(term, NamedNode):
        return _shortened(term.value, prefixes)
    if isinstance(term, Literal):
        return _shown_literal(term, prefixes)
    if isinstance(term, Triple):
        return f"<<( {' '.join(shown(part, prefixes) for part in term)} )>>"
    return str(term)


def _shortened(iri: str, prefixes: Mapping[str, str]) -> str:
    fitting = [(len(p), name) for name, p in prefixes.items() if p and iri.startswith(p)]
    if not fitting:
        return f"<{iri}>"
    length, name = max(fitting)
    local = iri[length:]
    is_name = local.replace("_", "").replace("-", "").isalnum() or not local
    return f"{name}:{local}" if is_name else f"<{iri}>"


def _shown_literal(literal: Literal, prefixes: Mapping[str, str]) -> str:
    if literal.datatype.value in _BARE:
        return literal.value
    text = str(literal)
    if "^^" not in text or literal.language is not None:
        return text
    return f"{text.rpartition('^^')[0]}^^{_shortened(literal.datatype.value, prefixes)}"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    """Columns under their heads, cut to the width, and the number of rows."""
    if not heads:
        return f"({_counted(len(rows))})\n"
    widths = _column_widths(heads, rows, width)
    lines = [_line(heads, widths), "  ".join("─" * w for w in widths)]
    lines += [_line(row, widths) for row in rows]
    return "\n".join([*lines, f"({_counted(len(rows))})"]) + "\n"


def _column_widths(heads: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[int]:
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    least = max(8, (width - 2 * (len(heads) - 1)) // len(heads))
    while sum(widths) + 2 * (len(widths) - 1) > width and max(widths) > least:
        widest = widths.index(max(widths))
        widths[widest] -= 1
    return widths


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = [_fitted(cell, width) for cell, width in zip(cells, widths, strict=True)]
    return "  ".join(padded).rstrip()


def _fitted(cell: str, width: int) -> str:
    return cell.ljust(width) if len(cell) <= width else cell[: width - 1] + "…"


def _counted(number: int) -> str:
    return "1 row" if number == 1 else f"{number:,} rows"


def plain(term: RdfTerm | None) -> str:
    """A term in SPARQL's CSV: without brackets, quotes, language and datatype."""
    if term is None:
        return ""
    return term.value if isinstance(term, NamedNode | Literal) else str(term)


def tabbed(term: RdfTerm | None) -> str:
    """A term in SPARQL's TSV: as in Turtle, on one line."""
    if isinstance(term, Triple):
        return f"<<( {' '.join(map(tabbed, term))} )>>"
    return "" if term is None else str(term).replace("\t", "\\t")


def as_json(term: RdfTerm) -> dict[str, Any]:
    """A term in SPARQL's JSON."""
    match term:
        case NamedNode():
            return {"type": "uri", "value": term.value}
        case BlankNode():
            return {"type": "bnode", "value": term.value}
        case Literal():
            return _literal_as_json(term)
        case Triple():
            parts = zip(Triples.variables, term, strict=True)
            return {"type": "triple", "value": {name: as_json(part) for name, part in parts}}


def _literal_as_json(literal: Literal) -> dict[str, Any]:
    found: dict[str, Any] = {"type": "literal", "value": literal.value}
    if literal.language is not None:
        found["xml:lang"] = literal.language
        if literal.direction is not None:
            found["its:dir"] = literal.direction.value
    elif literal.datatype.value != XSD + "string":
        found["datatype"] = literal.datatype.value
    return found

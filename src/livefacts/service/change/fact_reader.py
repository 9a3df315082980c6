"""The fact reader: rows of ids become triples and predicate facts, in pieces.

Some facts work but are not shown: predicates that begin with `_`, and generalized triples
(a literal as subject, a blank node as predicate, a symbol), which RDF cannot write.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, TypeVar

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES, Engine, Ids
from livefacts.errors import InputError, OptionError
from livefacts.model.facts import Fact, Term
from livefacts.service.change.tabular import Tabular
from livefacts.store.facts.selection import KnownNames
from livefacts.store.terms.dictionary import Dictionary, Loan
from livefacts.store.terms.id_reader import TermReader

if TYPE_CHECKING:
    import pyarrow as pa

Terms = Dictionary | TermReader
"""The terms of ids: as they are now, or as they were in a version."""
T = TypeVar("T")
PIECE = 4096
HIDDEN = "_"
NO_COLUMNS: Mapping[str, int] = MappingProxyType({})


class FactReader:
    """Decides which facts are shown, and decodes them."""

    def __init__(self, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self._names = KnownNames(dictionary, lambda name: not name.startswith(HIDDEN))

    def stored(self, engine: Engine, derived: bool | None) -> dict[int, Ids]:
        """What holds and is shown, by shape; only conclusions, or only what was asserted."""
        return {shape: self._stored(engine, shape, derived) for shape in engine.shapes()}

    def count(self, engine: Engine, derived: bool | None) -> int:
        """How many there are of them."""
        return sum(map(len, self.stored(engine, derived).values()))

    def _stored(self, engine: Engine, shape: int, derived: bool | None) -> Ids:
        rows = engine.rows(shape, derived, self._names)
        return self.shown({shape: rows}).get(shape, rows) if shape == TRIPLES else rows

    def holds(self, engine: Engine, shape: int, terms: Iterable[Term]) -> bool:
        """Whether a fact holds and is shown."""
        terms_now = self.dictionary.reader()
        found = [terms_now.find(term) for term in terms]
        if None in found:
            return False
        ids = np.array([found], np.int32)
        return engine.holds(shape, ids) and len(self.shown({shape: ids})[shape]) == 1

    def shown(self, facts: Mapping[int, Ids]) -> dict[int, Ids]:
        """The shown ones among facts by shape."""
        found = {}
        for shape, ids in facts.items():
            if len(ids):
                marks = np.empty(len(ids), np.bool_)
                mark = self.dictionary.mark_statements if shape == TRIPLES else self._names.mark
                found[shape] = ids if mark(ids, marks) else ids[marks]
        return found

    def ntriples(self, rows: Ids) -> str:
        """Triples as N-Triples, or quads as N-Quads."""
        return self.dictionary.write_ntriples(rows).decode() if len(rows) else ""

    def decoded(self, facts: Mapping[int, Ids]) -> Iterator[Triple | Fact]:
        """Triples and predicate facts, decoded piece by piece; the caller keeps their terms."""
        return decoded(facts, self.dictionary)

    def view(self, facts: Mapping[int, Ids], loan: Loan) -> FactView:
        """Facts to be read later, whose terms are lent."""
        return FactView(facts, self.dictionary, loan)


def decoded(facts: Mapping[int, Ids], terms: Terms) -> Iterator[Triple | Fact]:
    """Triples and predicate facts, decoded piece by piece."""
    for shape, ids in facts.items():
        for first in range(0, len(ids), PIECE):
            yield from listed(partial(_piece, shape, ids[first : first + PIECE], terms))


def _piece(shape: int, ids: Ids, terms: Terms) -> Iterable[Triple | Fact]:
    found, width = terms.decode(ids.reshape(-1)), ids.shape[1]
    if shape == TRIPLES:
        return map(Triple, found[0::3], found[1::3], found[2::3])  # type: ignore[arg-type]
    names = map(str, found[0::width])
    columns = [found[place::width] for place in range(1, width)]
    return map(Fact, names, zip(*columns, strict=True) if columns else repeat(()))


def listed(rows: Callable[[], Iterable[T]]) -> list[T]:
    """All rows, made while the collector of garbage waits.

    They hold no cycles; looking for some after every few hundred of them takes twice as long as
    all the rest.
    """
    is_on = gc.isenabled()
    gc.disable()
    try:
        return list(rows())
    finally:
        if is_on:
            gc.enable()


def check_derived(derived: object) -> None:
    """Refuse what is neither True nor False nor None: the name of a predicate, maybe."""
    if derived is not None and not isinstance(derived, bool):
        raise OptionError(
            f"derived={derived!r} is neither True nor False",
            hint="derived=True gives conclusions, False what was asserted, None all facts",
        )


class FactView(Tabular, Collection[Triple | Fact]):
    """Facts of one moment, decoded each time they are read."""

    def __init__(
        self,
        facts: Mapping[int, Ids],
        terms: Terms,
        loan: Loan | None = None,
        columns: Mapping[str, int] = NO_COLUMNS,
    ) -> None:
        self._facts = facts
        self._terms = terms
        self._loan = loan
        """Keeps the terms, unless they are there as long as `terms`."""
        self._columns = columns
        """Which column of ids the variables of a pattern name."""

    def matching(self, pattern: object, prefixes: Mapping[str, str]) -> FactView:
        """Those that a pattern means: a name of a predicate, or an atom with variables."""
        if pattern is None:
            return self
        from livefacts.service.change.fact_patterns import read_pattern

        wanted = read_pattern(pattern, prefixes)
        found = wanted.matching(self._facts, self._terms)
        return FactView(found, self._terms, self._loan, wanted.columns())

    def __len__(self) -> int:
        return sum(map(len, self._facts.values()))

    def __iter__(self) -> Iterator[Triple | Fact]:
        yield from decoded(self._facts, self._terms)

    def __contains__(self, fact: object) -> bool:
        return any(fact == other for other in self)

    def __repr__(self) -> str:
        return f"<{len(self):,} facts>"

    def to_arrow(self, *, terms: bool = False) -> pa.Table:
        """A column for each variable of the pattern, or for each place of the facts.

        Values of Arrow's types, or terms as N-Triples text.
        """
        from livefacts.service.change.arrow_columns import arrow_table

        return arrow_table(self._id_columns(), self._terms, as_terms=terms)

    def _id_columns(self) -> dict[str, Ids]:
        """The columns of ids by their names."""
        shapes = [shape for shape, rows in self._facts.items() if len(rows)] or list(self._facts)
        kinds = {(shape, int(name)) for shape in shapes for name in self._names(shape)}
        if len(kinds) > 1:
            raise InputError(
                "facts of several predicates are no table",
                hint='name one: facts("reading"), facts("reading(?s, ?v)"), facts("[?s, ?p, ?o]")',
            )
        shape = shapes[0] if shapes else TRIPLES
        rows = self._facts.get(shape, np.zeros((0, 3), np.int32))
        columns = self._columns or _places(shape, rows.shape[1])
        return {name: rows[:, at] for name, at in columns.items()}

    def _names(self, shape: int) -> Ids:
        """The names of the predicates of a shape; one stands for all triples."""
        rows = self._facts[shape]
        return np.unique(rows[:, 0]) if shape != TRIPLES else np.zeros(1, np.int32)


def _places(shape: int, width: int) -> dict[str, int]:
    """What columns are called that no variable names."""
    if shape == TRIPLES:
        return {"subject": 0, "predicate": 1, "object": 2}
    return {f"a{at}": at for at in range(1, width)}

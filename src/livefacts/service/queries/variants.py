"""Variants: the different ways in which facts write a value that the query store keeps once.

pyoxigraph stores a number, date or boolean by its value: "01" and "1" become one integer,
"a"@EN becomes "a"@en, and what comes back is a canonical form.  A fact that is stored in
another form than it was written in is remembered here, together with all facts that share
the stored quad: it leaves the store when the last of them is gone, and answers can be
written as the facts are.  Facts that are stored as they are written, nearly all of them,
cost nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import lru_cache

from pyoxigraph import BlankNode, Literal, NamedNode, Quad, Store, Triple

from livefacts.model.namespaces import XSD

RdfTerm = NamedNode | BlankNode | Literal | Triple

_PLAIN_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_ANYTHING = NamedNode("urn:livefacts:anything")


def stored_form(term: RdfTerm) -> RdfTerm:
    """The term that the query store hands back for this one."""
    if isinstance(term, Literal):
        return term if _is_surely_kept(term) else _tried_out(term)
    return _tried_out(term) if isinstance(term, Triple) else term


def is_kept_as_written(term: RdfTerm) -> bool:
    """Whether the query store hands this term back as it is."""
    return stored_form(term) == term


def _is_surely_kept(literal: Literal) -> bool:
    if literal.language is not None:
        return literal.language.islower()
    datatype = literal.datatype.value
    if not datatype.startswith(XSD) or datatype == XSD + "string":
        return True
    return datatype == XSD + "integer" and bool(_PLAIN_INTEGER.fullmatch(literal.value))


@lru_cache(maxsize=65_536)
def _tried_out(term: Literal | Triple) -> RdfTerm:
    quad = Quad(_ANYTHING, _ANYTHING, term)
    store = Store()
    store.add(quad)
    kept: RdfTerm = next(iter(store)).object
    return kept


class Variants:
    """A store, and the facts that share quads in it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sharing: dict[Quad, set[Quad]] = {}
        self._written: dict[RdfTerm, Counter[RdfTerm]] = {}
        self._chosen: dict[RdfTerm, RdfTerm] = {}

    def add(self, quads: Iterable[Quad]) -> None:
        """Adds facts that were not there."""
        self._chosen.clear()
        plain, altered = [], []
        for quad in quads:
            kept = _kept(quad)
            if kept == quad:
                plain.append(quad)
            else:
                altered.append((kept, quad))
        self._add_plain(plain)
        for kept, quad in altered:
            self._add_altered(kept, quad)

    def _add_plain(self, quads: list[Quad]) -> None:
        if self._sharing:
            for quad in quads:
                if quad in self._sharing:
                    self._sharing[quad].add(quad)
        self._store.extend(quads)

    def _add_altered(self, kept: Quad, quad: Quad) -> None:
        if kept not in self._sharing:
            self._sharing[kept] = {kept} if kept in self._store else set()
            self._store.add(kept)
        self._sharing[kept].add(quad)
        self._written.setdefault(kept.object, Counter())[quad.object] += 1

    def remove(self, quads: Iterable[Quad]) -> None:
        """Removes facts that were there."""
        self._chosen.clear()
        for quad in quads:
            kept = _kept(quad)
            if kept not in self._sharing:
                self._store.remove(kept)
            else:
                self._remove_sharer(kept, quad)

    def _remove_sharer(self, kept: Quad, quad: Quad) -> None:
        sharing = self._sharing[kept]
        if quad not in sharing:
            return
        sharing.remove(quad)
        if quad != kept:
            self._forget(kept.object, quad.object)
        if not sharing:
            del self._sharing[kept]
            self._store.remove(kept)

    def _forget(self, kept: RdfTerm, written: RdfTerm) -> None:
        counts = self._written[kept]
        counts[written] -= 1
        if not counts[written]:
            del counts[written]
        if not counts:
            del self._written[kept]

    @property
    def is_empty(self) -> bool:
        """Whether every fact is stored as it is written."""
        return not self._written

    def as_written(self, term: RdfTerm) -> RdfTerm:
        """The term as the facts write it, where they all write it in one way."""
        if term not in self._written:
            return term
        if term not in self._chosen:
            (written, *others) = self._written[term]
            ambiguous = others or self._is_written_as_stored(term)
            self._chosen[term] = term if ambiguous else written
        return self._chosen[term]

    def _is_written_as_stored(self, term: RdfTerm) -> bool:
        quads = self._store.quads_for_pattern(None, None, term, None)
        return any(quad in self._sharing.get(quad, (quad,)) for quad in quads)

    def sharing(self, quad: Quad) -> list[Quad]:
        """The facts that are stored as this one is; itself, if it is stored as written."""
        return sorted(self._sharing.get(_kept(quad), (quad,)), key=str)

    def triples_as_written(self, triple: Triple) -> Iterator[Triple]:
        """The facts that are stored as this triple, or the triple with its object as written."""
        facts = self._sharing.get(Quad(triple.subject, triple.predicate, triple.object))
        if facts is None:
            written = self.as_written(triple.object)
            yield Triple(triple.subject, triple.predicate, written)
        else:
            for fact in sorted(facts, key=str):
                yield fact.triple


def _kept(quad: Quad) -> Quad:
    """The quad that the store keeps for a fact."""
    form = stored_form(quad.object)
    if form == quad.object:
        return quad
    return Quad(quad.subject, quad.predicate, form, quad.graph_name)

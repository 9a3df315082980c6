"""Retraction: facts that go, from files, texts and objects, as rows of ids.

What is to be removed is looked up and never added to the dictionary: a fact with an unknown
term cannot have been asserted.  Labels of blank nodes are those that the reasoner hands out, and
one that it never gave is refused: it was meant for a node that it does not name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from pyoxigraph import BlankNode

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.errors import InputError, Place
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.service.change.arguments import Statement, as_statements, graph_of
from livefacts.service.change.assertions import NO_QUADS
from livefacts.service.change.intake import NO_PREFIXES, Intake, ReadingOptions, in_pieces, terms_of
from livefacts.store.terms.dictionary import BLANK, Dictionary
from livefacts.store.terms.ntriples import known_triples
from livefacts.syntax.input.files import utf8

AS_HANDED_OUT = b""
"""The scope of labels that are taken as they are."""
UNKNOWN = -1
HANDED_OUT = re.compile(r"_:[ftu][0-9][0-9r]*_")
"""What labels begin with that come from a scope; their nodes are forgotten with their last fact."""
QUADS = -1
"""Stands for the shape of quads, beside those of facts."""


class Retraction:
    """What one change retracts."""

    def __init__(self, dictionary: Dictionary, known: Mapping[str, str] = NO_PREFIXES) -> None:
        self._dictionary = dictionary
        self._known = known
        self._read: dict[int, list[Ids]] = {}
        self._found: dict[int, list[list[int]]] = {}
        self.strange = 0
        """How many of the facts cannot have been asserted: one of their terms is unknown."""

    # taking in

    def take(self, facts: Any) -> None:
        """Facts, in any of the ways in which they are given to `Reasoner.remove`."""
        if isinstance(facts, str):
            self.take_text(facts)
        elif isinstance(facts, os.PathLike):
            self.take_file(facts)
        else:
            self.take_statements(as_statements(facts))

    def take_file(self, path: str | os.PathLike[str]) -> None:
        """An RDF file, or a file of facts."""
        read = Intake(Dictionary())
        read.take_file(path, AS_HANDED_OUT, ReadingOptions())
        self._take_read(read)

    def take_text(self, text: str) -> None:
        """Facts in Turtle or N-Triples, or in the rule language."""
        rows = known_triples(utf8(text), self._dictionary) if text[:1] == "<" else None
        if rows is not None:
            self._read.setdefault(TRIPLES, []).append(rows)
            return
        read = Intake(Dictionary(), self._known)
        read.take_text(text, AS_HANDED_OUT)
        self._take_read(read)

    def _take_read(self, read: Intake) -> None:
        if read.program.rules:
            raise InputError("a rule where facts are wanted", hint="remove_rules removes rules")
        for shape, ids in [*read.facts().items(), (QUADS, read.quads())]:
            if len(ids):
                self._take_known(shape, self._translated(ids, read.dictionary))

    def _take_known(self, shape: int, rows: Ids) -> None:
        """Rows of ids; those with an unknown term are left out."""
        known = (rows != UNKNOWN).all(axis=1)
        self.strange += int(np.count_nonzero(~known))
        self._read.setdefault(shape, []).append(np.ascontiguousarray(rows[known]))

    def _translated(self, ids: Ids, read: Dictionary) -> Ids:
        """Rows of another dictionary in ours."""
        terms, places = np.unique(ids.reshape(-1), return_inverse=True)
        found = self._dictionary.ids_of(read, terms)
        for label in read.texts(terms[(found == UNKNOWN) & (read.kinds(terms) == BLANK)]):
            _check_label(label)
        translated: Ids = found[places].reshape(ids.shape)
        return translated

    def take_rows(self, facts: Mapping[int, Ids], quads: Ids) -> None:
        """Facts by shape, and quads of named graphs, in ids."""
        for shape, ids in [*facts.items(), (QUADS, quads)]:
            self._read.setdefault(shape, []).append(ids)

    def take_statements(self, statements: Iterable[Statement]) -> None:
        """Triples, quads and predicate facts."""
        pieces, others = in_pieces(statements)
        for shape, piece in pieces:
            terms = terms_of(piece)
            ids = self._dictionary.find_all(terms)
            for at in np.flatnonzero(ids == UNKNOWN).tolist():
                if isinstance(terms[at], BlankNode):
                    _check_label(str(terms[at]))
            self._take_known(shape, ids.reshape(-1, 3 if shape == TRIPLES else shape))
        for statement in others:
            self.take_statement(statement)

    def take_statement(self, statement: Statement, place: Place | None = None) -> None:
        """One of them, and where it stands in a text."""
        graph = graph_of(statement)
        if isinstance(statement, Fact):
            terms: list[Term] = [Symbol(statement.name), *statement.arguments]
            shape = len(terms)
        else:
            terms = [statement.subject, statement.predicate, statement.object]
            shape = TRIPLES if graph is None else QUADS
        if graph is not None:
            terms.append(graph)
        row = [self._find(term, place) for term in terms]
        if UNKNOWN in row:
            self.strange += 1
        else:
            self._found.setdefault(shape, []).append(row)

    def _find(self, term: Term, place: Place | None) -> int:
        found = self._dictionary.find(term)
        if found is None and isinstance(term, BlankNode):
            _check_label(str(term), place)
        return UNKNOWN if found is None else found

    # what was taken in

    def facts(self) -> dict[int, Ids]:
        """Assertions of the default graph that go, by shape."""
        shapes = (self._read | self._found).keys() - {QUADS}
        return {shape: self._all(shape) for shape in shapes}

    def quads(self) -> Ids:
        """Assertions of named graphs that go."""
        return self._all(QUADS) if QUADS in self._read | self._found else NO_QUADS

    def _all(self, shape: int) -> Ids:
        rows = self._read.get(shape, [])
        if shape in self._found:
            rows = [*rows, np.array(self._found[shape], np.int32)]
        return rows[0] if len(rows) == 1 else np.concatenate(rows)


def _check_label(label: str, place: Place | None = None) -> None:
    """Refuse a blank node that the reasoner does not know, unless it may have known it once."""
    if HANDED_OUT.match(label):
        return
    raise InputError(
        f"there is no blank node {label}",
        place=place,
        hint="a label is local to its file; use the labels that facts, queries and deltas "
        "show, such as _:f1_x",
    )

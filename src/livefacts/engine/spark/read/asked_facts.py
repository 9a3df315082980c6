"""Asked facts: the facts of every shape that a change asks to add or remove, as ids.

Facts are text in Turtle, N-Triples or the rule language, a path to a file of any of them,
or objects.  Everything is read before anything is changed.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyoxigraph import BlankNode, DefaultGraph, Quad, Triple

from livefacts.engine.spark.read.row_statements import statements_of
from livefacts.engine.spark.read.splits import is_of_rules
from livefacts.errors import InputError, RuleError
from livefacts.kb.stores.address import is_remote
from livefacts.kb.stores.file_path import StorePath, store_path
from livefacts.kb.term_encoding import Encoding, encode_numbers, keep_apart
from livefacts.language.program import Program
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.blank_labels import label_in
from livefacts.store.terms.dictionary import Dictionary, Ids
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, Batch
from livefacts.syntax.input.files import File
from livefacts.syntax.rdf.documents import read_rows, read_text
from livefacts.syntax.rulelang.rule_parser import parse, read_rules

Statement = Triple | Quad | Fact
Facts: TypeAlias = str | os.PathLike[str] | pa.Table | Iterable[Statement]
"""Text in Turtle, N-Triples or the rule language, a path or an address of a file, rows of texts, or facts."""
QUADS = -1
"""The shape of triples with the named graph that asserts them."""
WIDTHS = {TRIPLES: 3, QUADS: 4}
Rows = dict[int, Ids]
"""Facts by shape, in the numbers of a dictionary."""


def rows_of(facts: Facts, scope: bytes, dictionary: Dictionary) -> Rows:
    """Facts in the numbers of a dictionary; blank nodes of texts get the scope."""
    if isinstance(facts, Triple | Quad | Fact):
        return _rows_of_objects([facts], dictionary)
    if isinstance(facts, str):
        return _rows_of_text(facts, scope, dictionary)
    if isinstance(facts, pa.Table):
        return _rows_of_batches(statements_of(facts, dictionary, scope))
    if not isinstance(facts, os.PathLike):
        return _rows_of_objects(facts, dictionary)
    source: File = facts.source() if isinstance(facts, StorePath) else facts
    if is_of_rules(os.fspath(facts)):
        return _rows_of_program(read_rules(source, _labels(scope)), dictionary)
    return _rows_of_batches(read_rows(source, dictionary, scope=scope))


def placed(facts: Facts, options: Mapping[str, str]) -> Facts:
    """The same facts; where they are an address on a remote store, with what it takes to read it."""
    is_named = isinstance(facts, str | os.PathLike) and is_remote(facts)
    return store_path(facts, options) if is_named else facts  # type: ignore[arg-type]


def _rows_of_text(text: str, scope: bytes, dictionary: Dictionary) -> Rows:
    try:
        batches = read_text(text, dictionary, scope)
    except InputError as turtle_error:
        try:
            program = parse(text, blank_nodes=_labels(scope))
        except RuleError as error:
            raise (error if "(" in text.partition("\n")[0] else turtle_error) from None
        return _rows_of_program(program, dictionary)
    return _rows_of_batches(batches)


def _rows_of_batches(batches: Iterable[Batch]) -> Rows:
    triples, quads = [np.zeros((0, 3), np.int32)], [np.zeros((0, 4), np.int32)]
    for batch in batches:
        if batch.graphs is None:
            triples.append(batch.rows)
            continue
        is_named = batch.graphs != DEFAULT_GRAPH
        triples.append(batch.rows[~is_named])
        quads.append(np.column_stack([batch.rows[is_named], batch.graphs[is_named]]))
    found = {TRIPLES: np.concatenate(triples)}
    named = np.concatenate(quads)
    return {**found, QUADS: named} if len(named) else found


def _rows_of_program(program: Program, dictionary: Dictionary) -> Rows:
    if program.rules:
        raise InputError(
            "a rule where facts are wanted",
            place=program.rules[0].place,
            hint="change_rules takes rules",
        )
    return _rows_of_objects(program.facts, dictionary)


def _rows_of_objects(facts: Iterable[Statement], dictionary: Dictionary) -> Rows:
    terms: dict[int, list[Term]] = {}
    for fact in facts:
        shape, row = row_of(fact)
        terms.setdefault(shape, []).extend(row)
    return {
        shape: dictionary.encode(listed).reshape(-1, WIDTHS.get(shape, shape))
        for shape, listed in terms.items()
    }


def row_of(fact: Statement) -> tuple[int, list[Term]]:
    """The shape of a fact, and its terms."""
    if isinstance(fact, Fact):
        return 1 + len(fact.arguments), [Symbol(fact.name), *fact.arguments]
    if isinstance(fact, Quad) and not isinstance(fact.graph_name, DefaultGraph):
        return QUADS, [fact.subject, fact.predicate, fact.object, fact.graph_name]
    if isinstance(fact, Triple | Quad):
        return TRIPLES, [fact.subject, fact.predicate, fact.object]
    raise InputError(
        f"{fact!r} is not a fact", hint="give Triples, Quads, Facts, text, or a Path to a file"
    )


def _labels(scope: bytes) -> Callable[[str], BlankNode]:
    return lambda label: BlankNode(label_in(scope, label.encode()).decode())


@dataclass(frozen=True, slots=True)
class AskedFacts:
    """What a change asks for: facts that come and go, and other terms that it speaks of."""

    dictionary: Dictionary
    added: Rows
    removed: Rows
    others: Ids

    @property
    def size(self) -> int:
        return sum(len(ids) for rows in (self.added, self.removed) for ids in rows.values())

    def beside(self, terms: Iterable[Term]) -> AskedFacts:
        """The same, which speaks of more terms."""
        more = self.dictionary.encode(terms)
        return replace(self, others=np.concatenate([self.others, more]))


def read_asked(
    add: Facts = (), remove: Facts = (), scope: bytes = b"", others: Iterable[Term] = ()
) -> AskedFacts:
    """Read what a change asks for; labels of facts that go are those that were handed out."""
    dictionary = Dictionary()
    added, removed = rows_of(add, scope, dictionary), rows_of(remove, b"", dictionary)
    return AskedFacts(dictionary, added, removed, dictionary.encode(list(others)))


@dataclass(frozen=True, slots=True)
class SettledChange:
    """A change in ids: its facts each once, the terms that are new, and how ids are made."""

    added: dict[int, HashIds]
    removed: dict[int, HashIds]
    terms: dict[int, str]
    encoding: Encoding


def settle(
    change: AskedFacts, encoding: Encoding, known: Callable[[HashIds], Mapping[int, str]]
) -> SettledChange:
    """A change in ids, in which no two texts have the same one; `known` are those of tables."""
    parts = [ids.reshape(-1) for rows in (change.added, change.removed) for ids in rows.values()]
    numbers = np.unique(np.concatenate([change.others, *parts]))
    apart = keep_apart(partial(encode_numbers, numbers, change.dictionary), encoding, known)
    ids = apart.terms.ids
    added, removed = (
        {shape: unique_rows(ids[_places(numbers, row)]) for shape, row in rows.items()}
        for rows in (change.added, change.removed)
    )
    told = [ids[_places(numbers, change.others)], *map(np.ravel, added.values())]
    spoken_of = np.unique(np.concatenate(told)).tolist()
    new = {id: apart.new[id] for id in spoken_of if id in apart.new}
    return SettledChange(added, removed, new, apart.encoding)


def _places(numbers: Ids, ids: Ids) -> NDArray[np.int64]:
    return np.searchsorted(numbers, ids)


def unique_rows(rows: HashIds) -> HashIds:
    """Rows in order, each once.

    >>> unique_rows(np.array([[2, 1], [1, 5], [2, 1]])).tolist()
    [[1, 5], [2, 1]]
    """
    if len(rows) < 2:
        return rows
    ordered = rows[np.lexsort(rows.T[::-1])]
    is_first = np.ones(len(rows), np.bool_)
    is_first[1:] = (ordered[1:] != ordered[:-1]).any(axis=1)
    return ordered[is_first]

"""The intake: facts and rules that come, from files, texts and objects, as rows of ids.

Everything is read and encoded before the engine hears of it: what cannot be read leaves
the state as it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import numpy as np
from pyoxigraph import BlankNode, NamedNode, Triple

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.errors import InputError, LivefactsError, RuleError, UnknownPrefixError
from livefacts.language.program import NO_PROGRAM, Program
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import DECLARED
from livefacts.model.work_bounds import look
from livefacts.service.change import columns
from livefacts.service.change.arguments import Statement, as_statements, graph_of
from livefacts.service.change.assertions import NO_QUADS
from livefacts.store.terms.blank_labels import label_in
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.ntriples import DEFAULT_GRAPH, Batch, plain_triples
from livefacts.syntax.input.files import Progress, utf8, without_compression
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rdf.documents import read_rows, read_text, scope_of_name
from livefacts.syntax.rule_sets import read_rule_file
from livefacts.syntax.rulelang.plain_facts import PlainFacts
from livefacts.syntax.rulelang.rule_parser import parse

RULES_SUFFIX = ".rules"
RULE_SUFFIXES = (RULES_SUFFIX, ".srl", ".jena", ".dlog")
FEWEST_AT_ONCE = 16
PIECE = 1 << 16
PATCH_SUFFIX = ".rdfp"
BY_NAME = "by-name"
LOCAL = "local"
NO_PREFIXES: Mapping[str, str] = {}


_UNDECLARED = re.compile(r"[Tt]he prefix (?P<name>[^\s:]*): (?:has not been|is not) declared")


@dataclass(frozen=True, slots=True)
class ReadingOptions:
    """How files are read."""

    format: str | None = None
    graph: NamedNode | None = None
    bnodes: str = LOCAL
    rejects: Rejects | None = None
    progress: Progress | None = None
    unpacked: int | None = None

    def with_ears(self, rejects: Rejects, progress: Progress) -> ReadingOptions:
        """The same, for who wants to hear of rejects and progress."""
        return replace(self, rejects=rejects, progress=progress)

    def __post_init__(self) -> None:
        if self.bnodes not in (LOCAL, BY_NAME):
            raise InputError(
                f"unknown bnodes={self.bnodes!r}", hint=f'use "{LOCAL}" or "{BY_NAME}"'
            )


class Intake:
    """What one change asserts, and the rules that came with it."""

    def __init__(self, dictionary: Dictionary, known: Mapping[str, str] = NO_PREFIXES) -> None:
        self.dictionary = dictionary
        self._known = known
        self._triples: list[Ids] = []
        self._quads: list[Ids] = []
        self._rows: dict[int, list[list[int]]] = {}
        self._arrays: dict[int, list[Ids]] = {}
        self._objects: list[Iterable[Any]] = []
        """Everything that came as objects of Python, in its order."""
        self.program = NO_PROGRAM
        self.prefixes: dict[str, str] = {}
        self.hints: list[str] = []

    # taking in

    def take(self, facts: Any, scopes: Iterator[object]) -> None:
        """Triples, Facts, tuples, a text, or a Path to a file; text and file have a scope each."""
        if isinstance(facts, str):
            self.take_text(facts, f"t{next(scopes)}".encode())
        elif hasattr(facts, "__fspath__"):
            self.take_file(facts, f"f{next(scopes)}".encode(), ReadingOptions())
        elif type(facts) is not tuple or facts:
            self.take_objects(facts)

    def take_file(
        self, path: str | os.PathLike[str], scope: bytes, reading: ReadingOptions
    ) -> None:
        """An RDF file, or a file of rules and facts."""
        if reading.bnodes == BY_NAME and path != "-":
            scope = scope_of_name(path)
        suffix = without_compression(Path(path)).suffix
        if suffix == PATCH_SUFFIX:
            raise InputError(
                f"{path} is a patch, which may also remove facts",
                hint="apply it: Reasoner.apply(patch=Path(...)), or livefacts apply --patch",
            )
        if suffix in RULE_SUFFIXES and reading.format is None:
            self.take_program(read_rule_file(Path(path), _labels(scope)))
            return
        for batch in read_rows(
            os.fspath(path),
            self.dictionary,
            format=reading.format,
            graph=reading.graph,
            scope=scope,
            rejects=reading.rejects,
            prefixes=self.prefixes,
            progress=reading.progress,
            unpacked=reading.unpacked,
        ):
            self._take_batch(batch)

    def take_text(self, text: str, scope: bytes) -> None:
        """Facts in Turtle or N-Triples, or in the rule language."""
        if text[:1] == "<":
            data = text.encode() if text.isascii() else utf8(text)
            triples = plain_triples(data, self.dictionary, scope)
            if triples is not None:
                self._triples.append(triples)
                return
        facts = PlainFacts().read(text)
        if facts is not None:
            self.take_objects(facts)
        else:
            read_with(self._known, text, lambda full: self._take_any_text(full, scope))

    def _take_any_text(self, text: str, scope: bytes) -> None:
        try:
            batches = read_text(text, self.dictionary, scope, self.prefixes)
        except InputError as turtle_error:
            self._take_fact_text(text, scope, turtle_error)
            return
        for batch in batches:
            self._take_batch(batch)

    def _take_fact_text(self, text: str, scope: bytes, turtle_error: InputError) -> None:
        try:
            program = parse(text, blank_nodes=_labels(scope))
        except RuleError as error:
            if _looks_like_a_path(text):
                turtle_error.hint = f"a file? load({text!r}), or give it as a Path"
            raise (error if _looks_like_facts(text) else turtle_error) from None
        if program.rules:
            raise InputError(
                "a rule where facts are wanted",
                place=program.rules[0].place,
                hint="add_rules takes rules",
            )
        self.take_program(program)

    def take_program(self, program: Program) -> None:
        """Rules, and the facts that came with them."""
        self.program = self.program.joined(replace(program, facts=()))
        self.take_statements(program.facts)

    def take_objects(self, facts: Any) -> None:
        """Facts as objects of Python; many of one shape are looked up at once."""
        if type(facts) is Triple:
            facts = [facts]
        if type(facts) is list and set(map(type, facts)) == {Triple}:
            self._take_triples(facts)
            return
        arrays, left = columns.encode_columns(facts, self.dictionary)
        for ids in arrays:
            self._arrays.setdefault(ids.shape[1], []).append(ids)
        statements = list(as_statements(left))
        self._objects.append(facts if arrays else statements)
        self._take_statements(statements)

    def _take_triples(self, triples: list[Triple]) -> None:
        """Triples and nothing else."""
        self._objects.append(triples)
        if len(triples) < FEWEST_AT_ONCE:
            encode = self.dictionary.encode_one
            rows = [[encode(t.subject), encode(t.predicate), encode(t.object)] for t in triples]
            self._triples.append(np.array(rows, np.int32))
            return
        for first in range(0, len(triples), PIECE):
            self._triples.append(self.dictionary.encode_triples(triples[first : first + PIECE]))

    def take_statements(self, statements: Iterable[Statement]) -> None:
        """Triples, quads and predicate facts; many of a kind have their terms looked up at once."""
        statements = list(statements)
        self._objects.append(statements)
        self._take_statements(statements)

    def _take_statements(self, statements: list[Statement]) -> None:
        pieces, others = in_pieces(statements)
        for shape, piece in pieces:
            if shape == TRIPLES:
                self._triples.append(self.dictionary.encode_triples(piece))  # type: ignore[arg-type]
            else:
                ids = self.dictionary.encode(terms_of(piece)).reshape(-1, shape)
                self._arrays.setdefault(shape, []).append(ids)
        self._take_one_by_one(others)

    def _take_one_by_one(self, statements: Iterable[Statement]) -> None:
        encode = self.dictionary.encode_one
        for statement in statements:
            if isinstance(statement, Fact):
                row = [encode(Symbol(statement.name)), *map(encode, statement.arguments)]
                self._rows.setdefault(len(row), []).append(row)
                continue
            row = [encode(t) for t in (statement.subject, statement.predicate, statement.object)]
            graph = graph_of(statement)
            if graph is None:
                self._rows.setdefault(TRIPLES, []).append(row)
            else:
                self._quads.append(np.array([[*row, encode(graph)]], np.int32))

    def take_rows(self, facts: Mapping[int, Ids], quads: Ids) -> None:
        """Facts by shape, and quads of named graphs, in ids."""
        for shape, ids in facts.items():
            if shape == TRIPLES:
                self._triples.append(ids)
            else:
                self._arrays.setdefault(shape, []).append(ids)
        self._quads.append(quads)

    def _take_batch(self, batch: Batch) -> None:
        look(batch.rows.nbytes)
        if batch.graphs is None:
            self._triples.append(batch.rows)
            return
        default = batch.graphs == DEFAULT_GRAPH
        self._triples.append(batch.rows[default])
        named = np.column_stack([batch.rows[~default], batch.graphs[~default]])
        self._quads.append(named.astype(np.int32))

    # what was taken in

    def facts(self) -> dict[int, Ids]:
        """Assertions of the default graph, by shape."""
        parts = {shape: [*arrays] for shape, arrays in self._arrays.items()}
        if self._triples:
            parts[TRIPLES] = [*self._triples]
        for shape, rows in self._rows.items():
            parts.setdefault(shape, []).append(np.array(rows, np.int32))
        return {
            shape: asserted[0] if len(asserted) == 1 else np.concatenate(asserted)
            for shape, asserted in parts.items()
        }

    def in_order(self) -> list[dict[int, Ids]]:
        """Assertions of the default graph as they came, in runs of one shape."""
        if self._triples and not self._arrays and not self._rows and len(self._triples) == 1:
            return [{TRIPLES: self._triples[0]}]
        facts = self.facts()
        if len(facts) < 2:
            return [facts]
        runs = []
        for _, objects in groupby(chain.from_iterable(self._objects), _shape):
            run = Intake(self.dictionary)
            run.take_objects(list(objects))
            runs.append(run.facts())
        return runs

    def quads(self) -> Ids:
        """Assertions of named graphs."""
        return np.concatenate(self._quads) if self._quads else NO_QUADS


def in_pieces(
    statements: Iterable[Statement],
) -> tuple[Iterator[tuple[int, list[Triple | Fact]]], list[Statement]]:
    """Many triples or facts of one shape, in pieces to look up at once; and the rest."""
    kinds: dict[int, list[Triple | Fact]] = {}
    others: list[Statement] = []
    for statement in statements:
        if type(statement) is Triple:
            kinds.setdefault(TRIPLES, []).append(statement)
        elif type(statement) is Fact:
            kinds.setdefault(1 + len(statement.arguments), []).append(statement)
        else:
            others.append(statement)
    for shape in [shape for shape, kind in kinds.items() if len(kind) < FEWEST_AT_ONCE]:
        others += kinds.pop(shape)
    pieces = (
        (shape, kind[first : first + PIECE])
        for shape, kind in kinds.items()
        for first in range(0, len(kind), PIECE)
    )
    return pieces, others


def terms_of(statements: list[Triple | Fact]) -> list[Term]:
    """The terms of statements of one shape, one after the other."""
    symbols: dict[str, Symbol] = {}
    terms: list[Term] = []
    for statement in statements:
        if isinstance(statement, Fact):
            name = statement.name
            terms.append(symbols.get(name) or symbols.setdefault(name, Symbol(name)))
            terms += statement.arguments
        else:
            terms += (statement.subject, statement.predicate, statement.object)
    return terms


def _shape(fact: Any) -> int:
    if isinstance(fact, Fact):
        return 1 + len(fact.arguments)
    return len(fact) if isinstance(fact, tuple) and type(fact[0]) is str else TRIPLES


def _labels(scope: bytes) -> Callable[[str], BlankNode]:
    """Blank nodes of a rule file, in the file's scope as everywhere; without one, as they are."""
    return lambda label: BlankNode(label_in(scope, label.encode()).decode())


def _looks_like_a_path(text: str) -> bool:
    """Whether a text is the name of a file, such as people.ttl."""
    return re.fullmatch(r"[^\s<>\"]+\.\w+", text.strip()) is not None


def _looks_like_facts(text: str) -> bool:
    """Whether a text was meant in the rule language rather than as RDF."""
    first = text.lstrip().partition("\n")[0]
    return "(" in first or ":-" in text or first.startswith("[")


def read_with(known: Mapping[str, str], text: str, read: Callable[[str], None]) -> None:
    """Read a text, with declarations of the known prefixes that it lacks."""
    known = {**DECLARED, **known}
    added: list[str] = []
    while True:
        try:
            read("".join(f"@prefix {name}: <{known[name]}> .\n" for name in added) + text)
        except (InputError, UnknownPrefixError) as error:
            found = _UNDECLARED.search(error.message)
            if found is None or found["name"] in added or found["name"] not in known:
                raise _placed(error, found, len(added)) from None
            added.append(found["name"])
        else:
            return


def _placed(error: LivefactsError, found: re.Match[str] | None, lines: int) -> LivefactsError:
    if error.place is not None and error.place.line > lines:
        error.place = replace(error.place, line=error.place.line - lines)
    if found is not None and not error.hint:
        error.hint = f"declare it: @prefix {found['name']}: <http://…> ."
    return error

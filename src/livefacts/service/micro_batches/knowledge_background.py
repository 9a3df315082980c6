"""The background of a stream: what a knowledge base asserts and its rules, at a version.

It is taken in as one change of the reasoner that follows the stream, and so is what has changed
from one version to the next.  The version stands in the row of that change, so that it is taken in
once, whatever ends the process.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyoxigraph import NamedNode, Triple

from livefacts.errors import LivefactsError
from livefacts.kb.rule_table import stored_program
from livefacts.language.formula import Family
from livefacts.language.program import NO_PROGRAM, Program
from livefacts.model.facts import Fact
from livefacts.service.knowledge.recorder import ORIGIN, Origin
from livefacts.service.reasoner.durable import DurableReasoner
from livefacts.syntax.rulelang.rule_parser import parse

if TYPE_CHECKING:
    from livefacts.engine.spark.pipeline import Pipeline
    from livefacts.engine.spark.watch.answer_frames import Messages as DataFrame

NAME = "background"
SYMBOL_MARK = "'"


class KnowledgeBackground:
    """A knowledge base, as a stream sees it: at one version, or at the last one that there is."""

    def __init__(self, pipeline: Pipeline, version: int | None = None) -> None:
        self._pipeline = pipeline
        self._pinned = version

    @property
    def version(self) -> int:
        """The version that is to be seen; 0 while there is none."""
        if self._pinned is not None:
            return self._pinned
        return self._pipeline.seq if self._pipeline.base.settings else 0

    def program(self) -> Program:
        """The rules at that version."""
        return self._rules(self.version)

    def statements(self) -> tuple[Triple | Fact, ...]:
        """What is asserted at that version."""
        return tuple(self._facts(0, self.version).statements())

    def families(self) -> frozenset[Family]:
        """The predicates of what is asserted at that version."""
        return self._facts(0, self.version).families()

    def _rules(self, version: int) -> Program:
        if not version:
            return NO_PROGRAM
        base = self._pipeline.base
        return stored_program(base, base.commit(version))

    def follow(self, reasoner: DurableReasoner, program: Program | None = None) -> None:
        """Take in what has changed since the version that a reasoner has; at first, everything.

        `program` has the rules of the stream itself, which are taken in in the same change.
        """
        known = reasoner.offsets.get(NAME)
        before = int(known.position or 0) if known is not None else 0
        now = self.version
        if known is not None and before == now:
            return
        added, removed = self._facts(before, now), self._facts(now, before)
        rules, gone = self._rules(now), self._rules(before)
        # The row has the version also where nothing was to be changed, since it has a key.
        token = ORIGIN.set(Origin(NAME, str(now)))
        try:
            reasoner.record(
                lambda: reasoner.apply(
                    add="".join(f"{_triple(row)} .\n" for row in added.triples()),
                    remove=[*removed.statements()],
                    remove_rules=[*gone.minus(rules.rules).rules],
                    add_rules=Program(tuple(rules.minus(gone.rules).rules))
                    .joined(program or NO_PROGRAM)
                    .joined(Program(facts=tuple(added.predicates()))),
                ),
                key=f"{NAME} {now} after {reasoner.seq}",
            )
        finally:
            ORIGIN.reset(token)

    def _facts(self, without: int, at: int) -> _Difference:
        return _Difference(self._pipeline, without, at)


class _Difference:
    """What is asserted at a version, and was not at another one."""

    def __init__(self, pipeline: Pipeline, without: int, at: int) -> None:
        self._pipeline, self._without, self._at = pipeline, without, at

    def triples(self) -> Iterator[Any]:
        """Rows of s, p and o as texts."""
        return self._new("triples", ("s", "p", "o"))

    def predicates(self) -> Iterator[Fact]:
        """Predicate facts."""
        texts = [
            f"{row.name}({', '.join(text.removeprefix(SYMBOL_MARK) for text in row.arguments)}) ."
            if row.arguments
            else f"{row.name} ."
            for row in self._new("predicates", ("name", "arguments"))
        ]
        for fact in parse("\n".join(texts)).facts:
            if isinstance(fact, Fact):
                yield fact

    def statements(self) -> Iterator[Any]:
        """All of it."""
        from pyoxigraph import RdfFormat
        from pyoxigraph import parse as parse_rdf

        text = "".join(f"{_triple(row)} .\n" for row in self.triples())
        yield from (quad.triple for quad in parse_rdf(text, RdfFormat.N_TRIPLES))
        yield from self.predicates()

    def families(self) -> frozenset[Family]:
        """The predicates of all of it."""
        if not self._at:
            return frozenset()
        triples = self._asserted("triples", self._at, ("p",)).distinct().collect()
        names = self._asserted("predicates", self._at, ("name",)).distinct().collect()
        iris = (NamedNode(row.p[1:-1]) for row in triples)
        return frozenset([*iris, *(row.name for row in names)])

    def _new(self, kind: str, columns: tuple[str, ...]) -> Iterator[Any]:
        if not self._at:
            return iter(())
        try:
            new = self._asserted(kind, self._at, columns)
            if self._without:
                new = new.exceptAll(self._asserted(kind, self._without, columns))
            return iter(new.collect())
        except LivefactsError as error:
            raise LivefactsError(
                f"the background cannot go from version {self._without} to {self._at}: {error}",
                hint="give the stream another name=, which begins with the present version",
            ) from error

    def _asserted(self, kind: str, version: int, columns: tuple[str, ...]) -> DataFrame:
        pipeline = self._pipeline
        facts = pipeline.facts if kind == "triples" else pipeline.predicate_facts
        return facts(decoded=True, version=version).where("told").select(*columns)


def _triple(row: Any) -> str:
    return f"{row.s} {row.p} {row.o}"

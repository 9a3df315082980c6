"""Verification: the report of `verify`, whether everything that the reasoner keeps is right."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.engine.embedded.recheck.differences import (
    MISSING,
    TWICE,
    UNFOUNDED,
    RowDifference,
    Verified,
    verify_engine,
)
from livefacts.errors import DamageError
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Term, shown
from livefacts.store.facts.named_graphs import NamedGraphs
from livefacts.store.terms.dictionary import Dictionary

if TYPE_CHECKING:
    from livefacts.engine.embedded.change.engine import EmbeddedEngine

LISTED = 10
"""How many differences the report prints."""
GRAPHS, FILES = "graphs", "files"
GENERALIZED = tuple[Term, ...]
"""A triple that RDF cannot write, such as one with a literal as its subject."""


@dataclass(frozen=True, slots=True)
class Difference:
    """One thing that is not as it should be.

    `kind` is "missing" (follows, and is not stored), "unfounded" (is stored, and does not
    follow), "twice", a flag ("asserted", "edge", …), a counter ("plain count", "recursive
    count", "single count"), "rules", "graphs", "index", "books" or "files" (of a folder).  `fact` is the fact it
    is about, or None.
    """

    kind: str
    fact: Triple | Fact | GENERALIZED | None
    expected: int = 0
    found: int = 0
    note: str = ""

    @property
    def written(self) -> str:
        """The fact as text, or nothing."""
        if self.fact is None:
            return ""
        if isinstance(self.fact, Triple | Fact):
            return str(self.fact)
        return " ".join(map(shown, self.fact))

    def __str__(self) -> str:
        fact = self.written
        if self.kind == MISSING:
            return f"{fact} follows, but is missing"
        if self.kind == UNFOUNDED:
            return f"{fact} is there, but nothing asserts or derives it"
        if self.kind == TWICE:
            return f"{fact} is stored twice"
        if self.note:
            return f"{fact} {self.note}" if fact else self.note
        return f"{fact}: {self.kind} is {self.found}, should be {self.expected}"


@dataclass(frozen=True, slots=True)
class VerifyReport:
    """What `verify` found: true if nothing differs, and in words when printed.

    `differences` are the first of each kind, `counts` says how many there are of each;
    `facts` and `instances` (of rules) are what was compared, hidden facts included.
    """

    differences: tuple[Difference, ...]
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: int = 0
    instances: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def __bool__(self) -> bool:
        return self.ok

    def with_damages(self, damages: Sequence[DamageError]) -> VerifyReport:
        """The same, with what was found in files."""
        if not damages:
            return self
        found = [Difference(FILES, None, note=damage.message) for damage in damages]
        counts = {**self.counts, FILES: len(found)}
        return replace(self, differences=(*found, *self.differences), counts=counts)

    def __str__(self) -> str:
        looked = f"{self.facts:,} facts computed anew ({self.seconds:.1f} s)"
        if self.ok:
            return f"{looked}: everything is as it should be"
        total = sum(self.counts.values())
        lines = [f"{looked}: {total:,} {'difference' if total == 1 else 'differences'}"]
        lines += [f"  {difference}" for difference in self.differences[:LISTED]]
        if total > LISTED:
            lines.append(f"  and {total - LISTED:,} more")
        return "\n".join(lines)


def verify(
    engine: EmbeddedEngine,
    rules: Sequence[Rule],
    graphs: NamedGraphs,
    held: Mapping[int, Ids],
    dictionary: Dictionary,
    as_kept: Callable[[Ids], Ids] | None = None,
    followed: Sequence[Rule] | None = None,
) -> VerifyReport:
    """Compute everything anew from what was asserted, and compare; `held` is what streams assert.

    `as_kept` chooses, of what named graphs and streams assert, what the engine was given as it is;
    `followed` are the rules as they are followed, if those differ.
    """
    started = time.perf_counter()
    triples = graphs.quads()[:, :3]
    if TRIPLES in held:
        triples = np.concatenate([triples, held[TRIPLES]])
    others = {**held, TRIPLES: triples if as_kept is None else as_kept(triples)}
    found = verify_engine(engine, rules, others, followed)
    of_graphs = [
        Difference(GRAPHS, None, note=f"{b.problem} (named graphs)") for b in graphs.broken()
    ]
    decoded = tuple(_decoded(found, dictionary))
    counts = found.counts | ({GRAPHS: len(of_graphs)} if of_graphs else {})
    return VerifyReport(
        (*decoded, *of_graphs),
        counts,
        found.facts,
        found.instances,
        time.perf_counter() - started,
    )


def _decoded(found: Verified, dictionary: Dictionary) -> Iterator[Difference]:
    for row in found.differences:
        yield Difference(row.kind, _fact(row, dictionary), row.expected, row.found, row.note)


def _fact(row: RowDifference, dictionary: Dictionary) -> Triple | Fact | GENERALIZED | None:
    if not row.fact:
        return None
    ids: Ids = np.array(row.fact, np.int32)
    terms = dictionary.decode(ids)
    if row.shape != TRIPLES:
        return Fact(str(terms[0]), tuple(terms[1:]))
    try:
        return Triple(*terms)  # type: ignore[arg-type]
    except TypeError:
        return tuple(terms)

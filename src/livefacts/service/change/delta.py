"""The delta: what a change made true and what it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial

from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES, IdDelta, Ids
from livefacts.model.facts import Fact, Term, shown
from livefacts.service.change.assertions import Assertions
from livefacts.service.change.fact_reader import FactReader, FactView
from livefacts.service.change.html_tables import folded, html_table
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rdf.patch import fact_lines, write_patch

FEW = 10
"""So many facts a notebook shows unfolded."""


@dataclass(frozen=True, slots=True)
class Violation:
    """A constraint that does not hold, and the values for which it does not.

    `facts` are those that are in conflict, in the order of the constraint; hidden ones are not
    among them.
    """

    constraint: str
    bindings: Mapping[str, Term]
    facts: tuple[Triple | Fact, ...] = field(default=(), compare=False, repr=False)

    def __str__(self) -> str:
        values = ", ".join(f"?{name} = {shown(term)}" for name, term in self.bindings.items())
        return f"{self.constraint}: {values}" if values else self.constraint


class Delta:
    """The net change of what is true; facts are decoded when they are read.

    `added` and `removed` are asserted and derived facts together, `derived` those of the
    added that were derived and not asserted, `violations` those of constraints that came with
    the change and `resolved` those that went, `rejects` the first lines of input that
    could not be read (`counts["rejected"]` has them all), `assertions` what was asserted and
    retracted, in ids; `ids` the net change itself.
    """

    def __init__(
        self,
        seq: int,
        ids: IdDelta,
        reader: FactReader,
        assertions: Assertions,
        *,
        violations: Sequence[Violation] = (),
        resolved: Sequence[Violation] = (),
        rejects: Rejects | None = None,
        hints: Sequence[str] = (),
    ) -> None:
        self.seq = seq
        self.violations = tuple(violations)
        self.resolved = tuple(resolved)
        self.rejects = tuple(rejects.kept) if rejects else ()
        self._hints = (*hints, *(rejects.hints if rejects else ()))
        self._rejected = rejects.count if rejects else 0
        self.ids = ids
        self.shown_added = reader.shown(ids.added)
        """What became true and is shown, in ids."""
        self.shown_removed = reader.shown(ids.removed) if ids.removed else {}
        self._reader = reader
        self.assertions = assertions
        self._loan = reader.dictionary.lend_later(partial(_lent, ids, assertions))

    @cached_property
    def added(self) -> FactView:
        return self._reader.view(self.shown_added, self._loan)

    @cached_property
    def removed(self) -> FactView:
        return self._reader.view(self.shown_removed, self._loan)

    @cached_property
    def derived(self) -> FactView:
        return self._reader.view(self._reader.shown(self._derived()), self._loan)

    def _derived(self) -> dict[int, Ids]:
        return {shape: ids[self.ids.derived[shape]] for shape, ids in self.ids.added.items()}

    @cached_property
    def counts(self) -> dict[str, int]:
        """What came and went, by kind.

        `added` and `removed` count what became true and what ended, `derived` and
        `derived_removed` the conclusions among them; `asserted` and `retracted` count
        assertions, also those that made nothing true or ended nothing (`told` and `untold` are
        their old names, for one more release); `rejected` counts lines.
        """
        net = self.assertions
        asserted = _count(self._reader.shown(net.asserted)) + len(net.came)
        retracted = _count(self._reader.shown(net.retracted)) + len(net.went)
        return {
            "added": len(self.added),
            "removed": len(self.removed),
            "derived": len(self.derived),
            "derived_removed": len(self.removed) - self._asserted_removed(),
            "asserted": asserted,
            "retracted": retracted,
            "told": asserted,
            "untold": retracted,
            "rejected": self._rejected,
        }

    def _asserted_removed(self) -> int:
        removed = self.shown_removed
        return sum(self.assertions.were_asserted(shape, ids) for shape, ids in removed.items())

    @cached_property
    def hints(self) -> tuple[str, ...]:
        """What may not have gone as it was meant, in words."""
        return (*self._hints, *self.assertions.hints())

    def to_patch(self, *, asserted: bool = False) -> str:
        """The change as RDF Patch: of what is true or, `asserted`, of what was asserted.

        The asserted one is for another reasoner with the same rules, which draws its own
        conclusions.
        """
        if asserted:
            net = self.assertions
            removed = self._lines(net.retracted, net.went)
            return write_patch(self.seq, removed, self._lines(net.asserted, net.came))
        removed = self._lines(self.shown_removed)
        return write_patch(self.seq, removed, self._lines(self.shown_added))

    def _lines(self, facts: Mapping[int, Ids], *quads: Ids) -> Iterator[str]:
        """Facts as they stand in the rows of a patch."""
        for shape, ids in facts.items():
            if shape == TRIPLES:
                yield self._reader.ntriples(ids)
            else:
                decoded = self._reader.decoded({shape: ids})
                yield fact_lines(fact for fact in decoded if isinstance(fact, Fact))
        yield from map(self._reader.ntriples, quads)

    def _repr_html_(self) -> str:
        parts = [
            folded(f"{sign}{len(facts):,} {word}", _html_of(facts), is_open=len(facts) <= FEW)
            for sign, word, facts in (("+", "added", self.added), ("-", "removed", self.removed))
        ]
        parts += [
            folded(f"{len(each):,} {word}", html_table([word], [[str(v)] for v in each], len(each)))
            for word, each in (("violations", self.violations), ("resolved", self.resolved))
            if each
        ]
        return f"<b>Delta {self.seq}</b>{''.join(parts)}"

    def __bool__(self) -> bool:
        return _count(self.shown_added) + _count(self.shown_removed) > 0

    def __repr__(self) -> str:
        added, removed = _count(self.shown_added), _count(self.shown_removed)
        return f"<Delta {self.seq}: +{added:,} -{removed:,}>"


def _lent(ids: IdDelta, assertions: Assertions) -> Iterator[Ids]:
    """The ids whose terms a delta may still be asked for."""
    for facts in (ids.added, ids.removed, assertions.asserted, assertions.retracted):
        yield from facts.values()
    yield from (assertions.came, assertions.went)


def _html_of(facts: FactView) -> str:
    return html_table(["fact"], ([shown_fact(fact)] for fact in facts), len(facts))


def shown_fact(fact: Triple | Fact) -> str:
    """A fact on one line, for people."""
    return str(fact) if isinstance(fact, Fact) else " ".join(map(shown, fact))


def _count(facts: Mapping[int, Ids]) -> int:
    return sum(map(len, facts.values()))

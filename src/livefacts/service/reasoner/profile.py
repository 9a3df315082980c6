"""The profile: what each rule has looked at, found and cost since the reasoner was made.

Counting never stops, so a profile of one change is the difference of two profiles.  Rules
that are followed by single triples are evaluated together and share one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.store.facts.named_graphs import NamedGraphs

HEADINGS = ("rule", "looked at", "instances", "new", "ms")
LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class RuleProfile:
    """The work for one rule, or for the rules that are followed by single triples.

    `looked_at` counts facts that were tried as a premise, `instances` ways in which the
    whole body held, found when facts came and again when they went, `new` facts that this
    rule was the first to derive, `seconds` the time, estimated from a sample.
    """

    rules: tuple[str, ...]
    looked_at: int
    instances: int
    new: int
    seconds: float

    @property
    def name(self) -> str:
        names = ", ".join(self.rules)
        return names if len(names) <= LONGEST_NAME else names[: LONGEST_NAME - 1] + "…"


class Profile:
    """What rules have cost, the most instances first."""

    def __init__(self, lines: Sequence[RuleProfile]) -> None:
        self._lines = tuple(sorted(lines, key=lambda line: (-line.instances, line.rules)))

    def __iter__(self) -> Iterator[RuleProfile]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __getitem__(self, rule: str) -> RuleProfile:
        """The line of a rule."""
        for line in self._lines:
            if rule in line.rules:
                return line
        raise KeyError(rule)

    def since(self, earlier: Profile) -> Profile:
        """What was done after an earlier profile was taken; rules that did nothing are left out."""
        before = {line.rules: line for line in earlier}
        changed = (_difference(line, before.get(line.rules)) for line in self._lines)
        return Profile([line for line in changed if line.looked_at or line.instances])

    def to_dicts(self) -> list[dict[str, object]]:
        """The lines, for a table of your own."""
        return [
            {
                "rules": list(line.rules),
                "looked_at": line.looked_at,
                "instances": line.instances,
                "new": line.new,
                "seconds": line.seconds,
            }
            for line in self._lines
        ]

    def __str__(self) -> str:
        rows = [HEADINGS, *(_shown(line) for line in self._lines)]
        widths = [max(len(row[column]) for row in rows) for column in range(len(HEADINGS))]
        return "\n".join(
            "  ".join(
                cell.ljust(width) if column == 0 else cell.rjust(width)
                for column, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        )


def profile_of(
    tallies: Mapping[str, NDArray[np.int64]], single: Sequence[str], seconds_per_tick: float
) -> Profile:
    """The profile of an engine's tallies, in which "" stands for the rules of single triples."""
    lines = []
    for rule, tally in _summed(tallies).items():
        rules = tuple(single) if rule == "" else (rule,)
        looked_at, instances, new, ticks = tally.tolist()
        if rules and (looked_at or rule):
            lines.append(RuleProfile(rules, looked_at, instances, new, ticks * seconds_per_tick))
    return Profile(lines)


def _summed(tallies: Mapping[str, NDArray[np.int64]]) -> dict[str, NDArray[np.int64]]:
    """The tallies of rules as they were written: those for single axioms taken together."""
    summed: dict[str, NDArray[np.int64]] = {}
    for rule, tally in tallies.items():
        written = rule.partition(":")[0]
        summed[written] = summed[written] + tally if written in summed else tally
    return summed


def _difference(line: RuleProfile, before: RuleProfile | None) -> RuleProfile:
    if before is None:
        return line
    return RuleProfile(
        line.rules,
        line.looked_at - before.looked_at,
        line.instances - before.instances,
        line.new - before.new,
        max(0.0, line.seconds - before.seconds),
    )


def _shown(line: RuleProfile) -> tuple[str, ...]:
    counts = (f"{n:,}" for n in (line.looked_at, line.instances, line.new))
    return (line.name, *counts, f"{line.seconds * 1e3:,.2f}")


def figures_of(engine: EmbeddedEngine, graphs: NamedGraphs) -> dict[str, Any]:
    """Terms, graphs, bytes, rule instances, and the path that rules take."""
    return {
        "terms": len(engine.dictionary),
        "named_graphs": graphs.count_graphs(),
        "fact_bytes": engine.store.nbytes(),
        "term_bytes": engine.dictionary.nbytes,
        "rule_instances": engine.derivations,
        "path": "single triples" if engine.follows_single_triples else "general",
        "specialised": engine.is_specialised,
    }

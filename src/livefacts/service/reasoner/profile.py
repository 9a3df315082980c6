"""The profile: what each rule has looked at, found and cost since the reasoner was made.

Counting never stops, so a profile of one change is the difference of two profiles.  Rules
that are followed by single triples are evaluated together and share one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from livefacts.engine.contract import RuleTally

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


def profile_of(tallies: Iterable[RuleTally]) -> Profile:
    """The profile of an engine's tallies: those of rules made for single axioms are summed up."""
    lines: dict[tuple[str, ...], RuleProfile] = {}
    for tally in tallies:
        written = tally.rules
        if len(written) == 1:
            written = (written[0].partition(":")[0],)
        known = lines.get(written, RuleProfile(written, 0, 0, 0, 0.0))
        lines[written] = _with_tally(known, tally)
    return Profile(list(lines.values()))


def _with_tally(line: RuleProfile, tally: RuleTally) -> RuleProfile:
    return RuleProfile(
        line.rules,
        line.looked_at + tally.looked_at,
        line.instances + tally.instances,
        line.new + tally.new,
        line.seconds + tally.seconds,
    )


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

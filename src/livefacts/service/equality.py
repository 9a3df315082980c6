"""Equality: how a reasoner treats owl:sameAs.

"rules" leaves it to the rules, as the standard has it: what is said of one is said of all
that are the same.  "off" leaves those rules out: owl:sameAs is concluded where it follows,
and nothing follows from it but contradictions.
"""

from __future__ import annotations

from livefacts.rules.program import Program

RULES, OFF = "rules", "off"
SAME_AS = (RULES, OFF)
OF_EQUALITY = frozenset({"eq-ref", "eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o"})
"""The rules of the standard by which owl:sameAs spreads."""


def check_same_as(same_as: str) -> None:
    """Refuse a way to treat equality that there is not."""
    if same_as not in SAME_AS:
        raise ValueError(f"same_as is one of {', '.join(SAME_AS)}, not {same_as!r}")


def with_equality(program: Program, same_as: str) -> Program:
    """The program with those of the rules of equality that are wanted."""
    if same_as != OFF:
        return program
    return program.minus([r for r in program if r.id.partition(".")[0] in OF_EQUALITY])

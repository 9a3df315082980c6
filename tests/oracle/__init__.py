"""The oracle: a naive reasoner that recomputes everything, to compare the engines with.

It reads programs as data and shares nothing else with the engines: it has its own
strata, its own loops and its own road to the values of literals.
"""

from tests.oracle.naive import (
    Row,
    closure,
    conclusion,
    instances,
    matches_in,
    model,
    premises,
    row_of,
    shown,
    violations,
    violations_in,
)

__all__ = [
    "Row",
    "closure",
    "conclusion",
    "instances",
    "matches_in",
    "model",
    "premises",
    "row_of",
    "shown",
    "violations",
    "violations_in",
]

"""Arithmetic in recursion: what is accepted comes to an end."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livefacts.errors import UnboundedArithmeticError
from livefacts.language.checks.safety import check
from livefacts.syntax.rulelang.rule_parser import parse

STEADY = settings(deadline=None, derandomize=True)


@pytest.mark.parametrize(
    "text",
    [
        "p(?m) :- p(?n), ?m = ?n + 1, ?m <= 100 .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?n < 100 .",
        "p(?m) :- p(?n), ?m = 1 + ?n, 100 > ?m .",
        "p(?m) :- p(?n), ?n - 1 = ?m, ?m >= -100 .",
        "p(?m) :- p(?n), ?m = ?n + -1, 0 <= ?n .",
        "p(?m) :- p(?n), ?k = ?n + 1, ?m = ?k + 1, ?k < 1e2 .",
        "p(?m) :- p(?n), ?m = ?n + 2 - 1, ?m < 9.5 .",
        "p(?m) :- p(?n), ?m = ?n + 0 .",
        "p(?m) :- p(?n), ?m = ?n .",
        "p(?m) :- p(?n), ?m = 5 * 2 .",
        "p(?m) :- p(?n), ?m = datatype(?n) .",
        "p(?m) :- p(?n), ?m = value(?n) .",
        "p(?m) :- p(?n), ?m = ?n * 2, p(?m) .",
        "p(?m) :- p(?n), ?m = ?n * 2, ?m = ?k, q(?k) .",
        "p(?m) :- p(?n), q(?k), ?m = ?k * 2 .",
        "p(?m) :- p(?n), ?k = sum { ?v : q(?v) }, ?m = ?k * 2 .",
        "p(?m) :- q(?n), ?m = ?n * 2 .",
        "p(?n) :- p(?n), ?m = ?n * 2, ?m > 5 .",
        "@limit 5 . p(?m) :- p(?n), ?m = ?n * 2 .",
    ],
)
def test_numbers_that_cannot_run_away_are_accepted(text: str) -> None:
    check(parse(text))


@pytest.mark.parametrize(
    "text",
    [
        "p(?m) :- p(?n), ?m = ?n + 1 .",
        "p(?m) :- p(?n), ?m = value(?n + 1) .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?m > 100 .",
        "p(?m) :- p(?n), ?m = ?n - 1, ?m < 100 .",
        "p(?m) :- p(?n), ?m = ?n - -1, ?m > 100 .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?m != 100 .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?k < 100, p(?k) .",
        "p(?m) :- p(?n), ?m = ?n + 1, q(?k), ?m < ?k .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?m < 'INF'^^xsd:double .",
        "p(?m) :- p(?n), ?m = ?n + 1, ?m < 'ten'^^xsd:integer .",
        "p(?m) :- p(?n), ?m = ?n * 2, ?m < 100 .",
        "p(?m) :- p(?n), ?m = ?n / 2, ?m > 0 .",
        "p(?m) :- p(?n), ?m = 1 - ?n, ?m < 100 .",
        "p(?m) :- p(?n), q(?k), ?m = ?n + ?k, ?m < 100 .",
        "p(?m) :- p(?n), p(?k), ?m = ?n + ?k, ?m < 100 .",
        "p(?m) :- q(?n), ?m = ?n + 1 . q(?n) :- p(?n), ?n < 100 .",
        "[?x, rdf:value, ?m] :- [?x, ?p, ?n], ?m = ?n + 1 .",
    ],
)
def test_numbers_that_could_run_away_are_refused(text: str) -> None:
    with pytest.raises(UnboundedArithmeticError, match=r"\?m is computed"):
        check(parse(text))


@dataclass(frozen=True)
class Step:
    """`to(?m) :- from(?n), ?m = ?n + by, bound`."""

    source: str
    target: str
    by: Decimal
    bound: tuple[str, str, Decimal] | None

    def written(self) -> str:
        bound = f", ?{self.bound[0]} {self.bound[1]} {self.bound[2]}" if self.bound else ""
        return f"{self.target}(?m) :- {self.source}(?n), ?m = ?n + {self.by}{bound} ."

    def allows(self, old: Decimal, new: Decimal) -> bool:
        if self.bound is None:
            return True
        value = old if self.bound[0] == "n" else new
        return {
            "<": value < self.bound[2],
            "<=": value <= self.bound[2],
            ">": value > self.bound[2],
            ">=": value >= self.bound[2],
        }[self.bound[1]]


NAMES = st.sampled_from("pq")
BYS = st.sampled_from(["1", "-1", "0.5", "-2", "0", "3"]).map(Decimal)
BOUNDS = st.tuples(
    st.sampled_from("nm"),
    st.sampled_from(["<", "<=", ">", ">="]),
    st.integers(-9, 9).map(Decimal),
)
STEPS = st.lists(st.builds(Step, NAMES, NAMES, BYS, st.none() | BOUNDS), min_size=1, max_size=4)


def closure_stays_small(steps: list[Step]) -> bool:
    facts = {(name, Decimal(n)) for name in "pq" for n in (-3, 0, 20)}
    while len(facts) < 2000:
        new = {
            (step.target, value + step.by)
            for step in steps
            for name, value in facts
            if name == step.source and step.allows(value, value + step.by)
        }
        if new <= facts:
            return True
        facts |= new
    return False


@pytest.mark.slow
@given(STEPS)
@STEADY
def test_every_accepted_program_comes_to_an_end(steps: list[Step]) -> None:
    try:
        check(parse("\n".join(step.written() for step in steps)))
    except UnboundedArithmeticError:
        return
    assert closure_stays_small(steps)

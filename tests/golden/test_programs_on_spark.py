"""The golden programs on Spark, side by side: each in a world of its own, by joins.

All facts come, half of them go, and come back; after each step every world is what the
oracle computes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.golden.test_programs import CASES, HERE, facts_of
from tests.properties.compare.spark_frames import SmallTerms, tiny
from tests.properties.compare.spark_worlds import differences
from tests.properties.generate.worlds import World, Worlds

from livefacts.engine.spark.joins.rounds import Setting
from livefacts.errors import UnstratifiedError
from livefacts.language.checks.safety import check
from livefacts.language.program import Program, Rule
from livefacts.syntax.rulelang.rule_parser import parse


def rules_of(case: str) -> list[Rule]:
    rules = parse((HERE / case / "program.rules").read_text()).rules
    return [replace(rule, id=f"{case}-{rule.id}", numbered=False) for rule in rules]


def groups() -> list[list[str]]:
    """Cases whose rules can stand in one program without a circle through negation."""
    found: list[list[str]] = []
    for case in CASES:
        fitting = next((group for group in found if _fits([*group, case])), None)
        if fitting is None:
            found.append([case])
        else:
            fitting.append(case)
    return found


def _fits(cases: Sequence[str]) -> bool:
    try:
        check(Program().plus([rule for case in cases for rule in rules_of(case)]))
    except UnstratifiedError:
        return False
    return True


def worlds_of(cases: Sequence[str], steps: int) -> Worlds:
    rules = tuple(rule for case in cases for rule in rules_of(case))
    every = frozenset(rule.id for rule in rules)
    return Worlds(" ".join(cases), rules, every, (every,) * steps, tuple(map(_world, cases)))


def _world(case: str) -> World:
    facts, on = facts_of(case), frozenset(rule.id for rule in rules_of(case))
    return World((frozenset(facts), frozenset(facts[::2]), frozenset(facts)), (on,) * 3)


@pytest.fixture
def setting(spark: Any, tmp_path: Path) -> Iterator[Setting]:
    with tiny(spark) as session:
        yield Setting.of(session, SmallTerms(session), tmp_path, worlds=True)


@pytest.mark.parametrize("steps", [1, pytest.param(3, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("cases", groups(), ids=len)
def test_the_programs_are_what_the_oracle_computes(
    setting: Setting, cases: list[str], steps: int
) -> None:
    assert next(differences(worlds_of(cases, steps), setting), None) is None

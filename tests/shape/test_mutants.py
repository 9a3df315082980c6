"""Mutants are of the sources as they are: the text that each replaces stands there once."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.mutants import CHANGES, EXPIRING, MUTANTS, REPORTS, TIMES, WATCHED, Mutant

import livefacts

SOURCES = "\0".join(
    path.read_text(encoding="utf-8") for path in Path(livefacts.__file__).parent.rglob("*.py")
)


@pytest.mark.parametrize(
    "mutant",
    [*MUTANTS, *CHANGES, *TIMES, *EXPIRING, *REPORTS, *WATCHED],
    ids=lambda mutant: mutant.bug,
)
def test_what_a_mutant_replaces_is_in_the_sources_once(mutant: Mutant) -> None:
    assert SOURCES.count(mutant.right) == 1
    assert mutant.right != mutant.wrong

"""Mutants are of the sources as they are: the text that each replaces stands there once."""

from __future__ import annotations

from tests.mutants import CHANGES, EXPIRING, MUTANTS, REPORTS, TIMES, WATCHED
from tests.shape.code import expect_none, modules

EVERY_MUTANT = (*MUTANTS, *CHANGES, *TIMES, *EXPIRING, *REPORTS, *WATCHED)


def test_what_a_mutant_replaces_is_in_the_sources_once() -> None:
    sources = "\0".join(module.text for module in modules())
    found = ((mutant, sources.count(mutant.right)) for mutant in EVERY_MUTANT)
    expect_none(
        (
            f"tests/mutants.py: {mutant.bug!r}: stands {count} times in src: {mutant.right!r}"
            for mutant, count in found
            if count != 1
        ),
        "the right text of a mutant stands once in the sources; write the mutant anew",
    )


def test_a_mutant_is_wrong() -> None:
    expect_none(
        (f"tests/mutants.py: {m.bug!r}" for m in EVERY_MUTANT if m.right == m.wrong),
        "the wrong text of a mutant is not the right one",
    )

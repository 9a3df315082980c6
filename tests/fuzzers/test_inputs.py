"""Every input that is kept ends in an answer or in a LivefactsError, without atheris."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fuzzers.targets import TARGETS, run

INPUTS = Path(__file__).resolve().parent / "inputs"


@pytest.mark.parametrize("target", TARGETS)
def test_every_input_that_is_kept_is_taken_or_refused(target: str) -> None:
    """And some are taken, so that a fuzzer begins inside the language."""
    paths = sorted((INPUTS / target).iterdir())
    taken = [path.name for path in paths if run(target, path.read_bytes())]
    assert taken


def test_every_folder_of_inputs_has_a_target() -> None:
    assert {folder.name for folder in INPUTS.iterdir()} == set(TARGETS)

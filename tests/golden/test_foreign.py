"""Golden rules of other systems: what is read of them, and what is refused, line by line.

A case is a file `NAME.ENDING` and `NAME.expected`: the program as the rule language writes it, then
a line for each statement that could not be said.  A new case is a new pair of files.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from livefacts.errors import RuleError
from livefacts.language.checks.safety import check
from livefacts.language.rule_text import write_program
from livefacts.syntax.foreign_rules.dialects import dialect_of, read_foreign
from livefacts.syntax.foreign_rules.swrl import read

HERE = Path(__file__).parent / "foreign"
CASES = sorted(path.name for path in HERE.iterdir() if path.suffix != ".expected")


def said_about(path: Path) -> str:
    if path.suffix == ".ttl":
        found = read(path)
    else:
        text = path.read_text(encoding="utf-8")
        language = dialect_of(text)
        assert language is not None
        assert language == dialect_of(text, path.suffix)
        found = read_foreign(text, language, path.name)
    try:
        check(found.program)
    except RuleError as error:
        return f"{type(error).__name__}: {error}\n"
    refused = "".join(f"# {refusal}\n" for refusal in found.refused)
    return write_program(found.program) + refused


@pytest.mark.parametrize("case", CASES)
def test_rules_of_other_systems_are_read_or_refused_as_expected(case: str) -> None:
    path = HERE / case
    assert said_about(path) == path.with_suffix(".expected").read_text(encoding="utf-8")

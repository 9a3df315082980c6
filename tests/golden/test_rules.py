"""Golden rule texts: one directory per case, with what the language says about it.

A case is `program.rules` and `expected.txt`: the error, exactly as a user sees it, or the
program as it is written back, followed by its levels.  A new case is a new directory.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from livefacts.errors import RuleError
from livefacts.language.checks.safety import check
from livefacts.language.checks.strata import stratify
from livefacts.language.program import Program
from livefacts.language.rule_text import write_program
from livefacts.syntax.rulelang.rule_parser import parse

HERE = Path(__file__).parent / "rules"
CASES = sorted(path.name for path in HERE.iterdir() if path.is_dir())


def said_about(text: str) -> str:
    try:
        program = parse(text, "program.rules")
        check(program)
    except RuleError as error:
        return f"{type(error).__name__}: {error}\n"
    return write_program(program) + levels_of(program)


def levels_of(program: Program) -> str:
    levels = stratify(program.rules).levels
    return "".join(
        f"# level {n}: {' '.join(r.id for r in rules)}\n" for n, rules in enumerate(levels)
    )


@pytest.mark.parametrize("case", CASES)
def test_a_rule_text_is_read_or_refused_as_expected(case: str) -> None:
    text = (HERE / case / "program.rules").read_text(encoding="utf-8")
    assert said_about(text) == (HERE / case / "expected.txt").read_text(encoding="utf-8")

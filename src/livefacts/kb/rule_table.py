"""The table of rules: the program as one text, in which every rule keeps its id.

A text has the names that people gave; the numbers of all other rules are those that were
never given up, in order, and the commit notes which were.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa

from livefacts.errors import LimitError
from livefacts.kb.tables import (
    OVERWRITE,
    RULES,
    SCHEMAS,
    Commit,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_program
from livefacts.syntax.rulelang.rule_parser import parse

NEXT, GONE = "next rule", "rules gone"


def rules_write(base: KnowledgeBase, seq: int, program: Program) -> Write:
    """The rules as the only row of their table; facts that came with them are asserted."""
    rows = pa.table([[seq], [rule_text(program)]], SCHEMAS[RULES])
    return Write((write_file(base.path / RULES, rows),), OVERWRITE)


def rule_text(program: Program) -> str:
    """The rules as they are in their table."""
    return write_program(replace(program, facts=()))


def check_limit(program: Program, derived: int) -> None:
    """Refuse a change that derives more facts than the rules allow."""
    if program.limit is not None and derived > program.limit:
        raise LimitError(
            f"the change derives more than {program.limit:,} facts; nothing has changed",
            hint="raise @limit in the rules, or look for a rule that makes ever new values",
        )


def rule_notes(program: Program) -> dict[str, Any]:
    """What a commit notes of rules: the next number, and those that are not used any more."""
    used = {rule.id for rule in program.rules if rule.numbered}
    gone = [number for number in range(1, program.next_number) if f"r{number}" not in used]
    return {NEXT: program.next_number, GONE: gone}


def stored_program(base: KnowledgeBase, commit: Commit) -> Program:
    """The rules at a commit."""
    texts = base.read(RULES, commit)["text"].to_pylist()
    if not texts:
        return Program()
    found = parse("\n".join(texts))
    if NEXT not in commit.notes:
        return found
    gone, upto = set(commit.notes[GONE]), int(commit.notes[NEXT])
    numbers = (number for number in range(1, upto) if number not in gone)
    rules = tuple(_numbered(found.rules, numbers))
    return replace(found, rules=rules, next_number=upto)


def _numbered(rules: tuple[Rule, ...], numbers: Iterator[int]) -> Iterator[Rule]:
    for rule in rules:
        yield replace(rule, id=f"r{next(numbers)}") if rule.numbered else rule

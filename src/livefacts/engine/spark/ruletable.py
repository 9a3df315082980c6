"""The table of rules: the program as one text, in which every rule keeps its id."""

from __future__ import annotations

import re
from dataclasses import replace

import pyarrow as pa

from livefacts.engine.spark.tables import (
    OVERWRITE,
    RULES,
    SCHEMAS,
    Commit,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.rules.program import Program
from livefacts.syntax import rulefile
from livefacts.syntax.rulewriter import write_program

NEXT = "next_rule"
"""The note in which a commit keeps the next number of a rule: none is ever used again."""
NUMBERED = re.compile(r"r[0-9]+")


def rules_write(base: KnowledgeBase, seq: int, program: Program) -> Write:
    """The rules as the only row of their table; facts that came with them are told."""
    named = tuple(replace(rule, numbered=False) for rule in program.rules)
    text = write_program(replace(program, rules=named, facts=()))
    rows = pa.table([[seq], [text]], SCHEMAS[RULES])
    return Write((write_file(base.path / RULES, rows),), OVERWRITE)


def rule_notes(program: Program) -> dict[str, int]:
    """What a commit has to note of rules."""
    return {NEXT: program.next_number}


def stored_program(base: KnowledgeBase, commit: Commit) -> Program:
    """The rules at a commit."""
    texts = base.read(RULES, commit)["text"].to_pylist()
    if not texts:
        return Program()
    found = rulefile.parse("\n".join(texts))
    rules = tuple(
        replace(rule, numbered=bool(NUMBERED.fullmatch(rule.id))) for rule in found.rules
    )
    return replace(found, rules=rules, next_number=int(commit.notes.get(NEXT, 1)))

"""The rule language: texts, files and ready rule sets to programs.

`parse` reads a text, `open_rules` also finds files and the rule sets that come with
livefacts.  Both see to the language alone; whether the rules make sense together
(safety, arities, strata) is for `livefacts.rules.safety.check`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, TypeAlias

from livefacts.errors import InputError, Place, RuleError
from livefacts.rules.program import Program, Rule
from livefacts.syntax.files import STANDARD_INPUT, name_of, open_source, without_compression
from livefacts.syntax.rulemistakes import explained, refuse_directive, refuse_word
from livefacts.syntax.rulesource import Block, MistakeError, RuleText, pieces, rule_text
from livefacts.syntax.ruleterms import BlankNodes
from livefacts.syntax.ruletree import TreeReader

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

ONTOLOGY = "dlp:"
"""Stands before the path of an ontology whose rules are meant."""
READY = Path(__file__).parent.parent / "rulesets"

RuleSource: TypeAlias = str | os.PathLike[str] | Program | Rule | Sequence["RuleSource"]
"""A ready name, a path, "dlp:" and the path of an ontology, rule text, a program, a rule, or
several of these."""


def parse(text: str, file: str = "<text>", blank_nodes: BlankNodes | None = None) -> Program:
    """The program written in this text; `file` is the name that errors give it.

    With `blank_nodes`, which makes a node of a label, facts may have blank nodes.
    """
    source = rule_text(text, file)
    reader = TreeReader(source, blank_nodes)
    for piece in pieces(source.lines):
        if isinstance(piece, Block):
            for statement in _tree(piece, source).children:
                reader.statement(statement)  # type: ignore[arg-type]
        else:
            reader.plain_fact(piece)
    return reader.program()


def _tree(block: Block, source: RuleText) -> Tree[Token]:
    from lark import UnexpectedInput

    source.before_block = block.line - 1
    try:
        return _parser().parse(block.text)
    except UnexpectedInput as error:
        raise explained(error, source) from None
    except MistakeError as mistake:
        raise source.refuse(mistake.token, mistake.message, mistake.hint) from None


def open_rules(source: RuleSource) -> Program:
    """The program that a ready name, a path, a rule text, a program or a list of them means."""
    if isinstance(source, Program):
        return source
    if isinstance(source, Rule):
        return Program((source,))
    if isinstance(source, os.PathLike):
        return read_rules(source)
    if not isinstance(source, Iterable):
        raise RuleError(
            f"{source!r} is no rules",
            hint="give rule text, the name of a rule set, a Path, or a list of these",
        )
    if not isinstance(source, str):
        program = Program()
        for each in source:
            program = program.joined(open_rules(each))
        return program
    if source.startswith(ONTOLOGY):
        from livefacts.syntax.owl import rules_of

        return rules_of(_ontology_in(source)).program
    if source in ready_names():
        return read_rules(READY / f"{source}.rules")
    return _named_or_written(source)


def _ontology_in(source: str) -> str:
    """What stands behind "dlp:"."""
    ontology = source.removeprefix(ONTOLOGY)
    if not ontology.strip():
        raise RuleError(
            f"{ONTOLOGY} needs the file of an ontology", hint=f"for example {ONTOLOGY}wine.owl"
        )
    return ontology


def ready_names() -> tuple[str, ...]:
    """The names of the rule sets that come with livefacts."""
    return tuple(sorted(path.stem for path in READY.glob("*.rules")))


def _named_or_written(source: str) -> Program:
    if not source.strip() or "\n" in source or ":-" in source:
        return parse(source)
    if source == STANDARD_INPUT or _is_rule_file(source):
        return read_rules(source)
    if source.rstrip().endswith(".") or any(mark in source for mark in "([@"):
        return parse(source)
    near = difflib.get_close_matches(source, ready_names(), n=1, cutoff=0.4)
    suggestion = f"did you mean {near[0]}? " if near else ""
    raise RuleError(
        f"there is no rule set and no file called {shorten(source, 100)}",
        hint=f"{suggestion}ready rule sets are {', '.join(ready_names())}",
    )


def read_rules(path: str | os.PathLike[str], blank_nodes: BlankNodes | None = None) -> Program:
    """The program in a file of rules and facts, .gz and .zst too; "-" is standard input."""
    name = Path(path).name if Path(path).parent == READY else name_of(path)
    with open_source(path) as stream:
        content = stream.read()
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InputError(
            "rules are UTF-8 text, and this byte is not", place=Place(name, line, column)
        ) from None
    return parse(text, name, blank_nodes)


def _is_rule_file(name: str) -> bool:
    try:
        return without_compression(Path(name)).suffix == ".rules" or Path(name).exists()
    except (OSError, ValueError):
        return False


@cache
def _parser() -> Lark:
    from lark import Lark

    # NAME comes last: lark runs a callback on a terminal that shares its words with
    # keywords only when it is the last of them.
    return Lark(
        Path(__file__).with_suffix(".lark").read_text(encoding="utf-8"),
        parser="lalr",
        maybe_placeholders=False,
        lexer_callbacks={"DIRECTIVE": refuse_directive, "NAME": refuse_word},
    )

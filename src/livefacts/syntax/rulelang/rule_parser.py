"""The rule parser: from a text of the rule language, or a file of it, to a program.

Only the language is read here; whether the rules make sense together (safety, arities,
strata) is for `livefacts.language.checks.safety.check`.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from livefacts.errors import InputError, Place
from livefacts.language.program import Program
from livefacts.model.work_bounds import look
from livefacts.syntax.input.files import File, name_of, open_source
from livefacts.syntax.rulelang.constants import BlankNodes
from livefacts.syntax.rulelang.parse_tree import TreeReader
from livefacts.syntax.rulelang.source_text import Block, MistakeError, RuleText, pieces, rule_text
from livefacts.syntax.rulelang.syntax_errors import explain_error, refuse_directive, refuse_word

if TYPE_CHECKING:
    from lark import Lark, Token, Tree

READY = Path(__file__).parents[2] / "rulesets"
"""Where the rule sets lie that come with livefacts."""


def parse(text: str, file: str = "<text>", blank_nodes: BlankNodes | None = None) -> Program:
    """The program written in this text; `file` is the name that errors give it.

    With `blank_nodes`, which makes a node of a label, facts may have blank nodes.
    """
    source = rule_text(text, file)
    reader = TreeReader(source, blank_nodes)
    for piece in pieces(source.lines):
        look()
        if isinstance(piece, Block):
            for statement in _tree(piece, source).children:
                reader.statement(statement)  # type: ignore[arg-type]
        else:
            reader.plain_fact(piece)
    return reader.program()


def read_rules(path: File, blank_nodes: BlankNodes | None = None) -> Program:
    """The program in a file of rules and facts, .gz and .zst too; "-" is standard input."""
    return parse(*text_of(path), blank_nodes)


def text_of(path: File) -> tuple[str, str]:
    """The text of a file of rules, and the name that errors give it."""
    name = name_of(path)
    if Path(name).parent == READY:
        name = Path(name).name
    with open_source(path) as stream:
        content = stream.read()
    try:
        return content.decode(), name
    except UnicodeDecodeError as error:
        before = content[: error.start]
        line, column = before.count(b"\n") + 1, error.start - before.rfind(b"\n")
        raise InputError(
            "rules are UTF-8 text, and this byte is not", place=Place(name, line, column)
        ) from None


@cache
def ready_rules(name: str) -> Program:
    """A rule set that comes with livefacts."""
    return read_rules(READY / f"{name}.rules")


def ready_names() -> tuple[str, ...]:
    """The names of the rule sets that come with livefacts."""
    return tuple(sorted(path.stem for path in READY.glob("*.rules")))


def _tree(block: Block, source: RuleText) -> Tree[Token]:
    from lark import UnexpectedInput

    source.before_block = block.line - 1
    try:
        return _parser().parse(block.text)
    except UnexpectedInput as error:
        raise explain_error(error, source) from None
    except MistakeError as mistake:
        raise source.refuse(mistake.token, mistake.message, mistake.hint) from None


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

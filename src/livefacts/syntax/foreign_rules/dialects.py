"""Dialects: which language a text of rules is in, and its reader.

A file is recognised by its ending, a text by what only one of the languages has, outside of
strings, IRIs and comments.  What could not be said is listed in a warning, line by line.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Mapping

from livefacts.errors import LivefactsWarning, RuleSyntaxError
from livefacts.language.program import Program
from livefacts.syntax.foreign_rules import datalog, jena, notation3, shacl
from livefacts.syntax.foreign_rules.formula_maker import ForeignProgram
from livefacts.syntax.foreign_rules.statements import (
    DATALOG,
    JENA,
    N3,
    SHACL,
    ForeignText,
    without_comments,
)

ENDINGS = {".srl": SHACL, ".n3": N3, ".jena": JENA, ".dlog": DATALOG}
NAMES = {SHACL: "SHACL 1.2 Rules", N3: "N3 rules", JENA: "Jena rules", DATALOG: "RDFox rules"}
READERS: Mapping[str, Callable[[ForeignText], ForeignProgram]] = {
    SHACL: shacl.read,
    N3: notation3.read,
    JENA: jena.read,
    DATALOG: datalog.read,
}
ASIDE = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*"""|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\''
    r"|<[^<>\"{}|^`\\\s]*>|#[^\n]*|(?<![:\w])//[^\n]*",
    re.DOTALL,
)
SIGNS = re.compile(r"=>|<=|->|<-|@include|\{|\b(?:NOT|FILTER|BIND|AGGREGATE|SKOLEM)\b|[\w>]\[")
"""One of these stands in every rule of another language; few texts of ours have one."""
MARKS = {
    SHACL: re.compile(
        r"(?i)(?:^|[.}\s])(?:RULE\b[^{}]*\{|IF\s*\{|DATA\s*\{)(?=[^}]*\})|\}\s*WHERE\s*(?:DATA\s*)?\{"
    ),
    N3: re.compile(r"(?:\}|\btrue|\bfalse)\s*(?:=>|<=)\s*(?:\{|true\b|false\b)"),
    JENA: re.compile(r"\)[\s,]*->|->[\s,]*(?:\(|\w+\()|\)\s*<-\s*(?:\(|\w+\()|@include"),
    DATALOG: re.compile(
        r"(?:<>|(?<![\w.?-])[\w.-]*:\w[\w.-]*)\[\s*(?:[?<:\w]|_:)|(?:[,.\]}]|:-)\s*(?:NOT\s|(?:FILTER|BIND|AGGREGATE|SKOLEM)\s*\()"
    ),
}


def dialect_of(text: str, ending: str = "") -> str | None:
    """The language of a text, None where it is the rule language.

    >>> dialect_of("{ ?x <x:p> ?y } => { ?y <x:q> ?x } .")
    'n3'
    >>> dialect_of("[?y, <x:q>, ?x] :- [?x, <x:p>, ?y] .") is None
    True
    """
    if ending in ENDINGS:
        return ENDINGS[ending]
    if SIGNS.search(text) is None:
        return None
    # An IRI leaves its brackets: RDFox writes <x:C>[?x].
    bare = ASIDE.sub(lambda found: "<>" if found[0][0] == "<" else " ", text)
    return next((name for name, mark in MARKS.items() if mark.search(bare)), None)


def read_foreign(text: str, language: str, file: str = "<text>") -> ForeignProgram:
    """The program that a text of another language means, and what of it could not be said."""
    return READERS[language](ForeignText(without_comments(text, language), file, language))


def taken(text: str, language: str, file: str = "<text>") -> Program:
    """The program, with a warning that lists what could not be said; nothing at all is an error."""
    return noted(read_foreign(text, language, file), NAMES[language])


def noted(found: ForeignProgram, name: str) -> Program:
    """The program of what was read, with the same warning or error."""
    if not found.refused:
        return found.program
    if not found.program.rules and not found.program.facts:
        raise RuleSyntaxError(
            f"nothing of these {name} could be read: {found.refused[0].reason}",
            place=found.refused[0].place,
            hint="docs/other-rules.md says what of each language is read",
        )
    lines = [
        f"of these {name}, {len(found.refused)} could not be read:",
        *map(str, found.refused),
    ]
    warnings.warn("\n".join(lines), LivefactsWarning, stacklevel=3)
    return found.program

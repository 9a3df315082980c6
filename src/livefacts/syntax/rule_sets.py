"""Rule sets: ready names, files, texts and ontologies to programs.

`parse` reads a text, `open_rules` also finds files and the rule sets that come with
livefacts.  Both see to the language alone; whether the rules make sense together
(safety, arities, strata) is for `livefacts.language.checks.safety.check`.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from textwrap import shorten
from typing import TypeAlias

from livefacts.errors import RuleError
from livefacts.language.program import Program, Rule
from livefacts.syntax.input.files import STANDARD_INPUT, without_compression
from livefacts.syntax.rulelang.constants import BlankNodes
from livefacts.syntax.rulelang.rule_parser import parse, ready_names, ready_rules, text_of

ONTOLOGY = "dlp:"
"""Stands before the path of an ontology whose rules are meant."""

ONTOLOGY_ENDINGS = frozenset({".owl", ".ttl", ".rdf", ".xml", ".nt", ".jsonld"})
"""Files of RDF, of which the SWRL rules are meant where rules are wanted."""

SHAPES = "shacl:"
"""Stands before the path of shapes of SHACL, of which the constraints are meant."""

RULE_MARKS = (":-", "{", "->", "<-")
"""One of these stands in the text of a rule, and none in a name."""

RuleSource: TypeAlias = str | os.PathLike[str] | Program | Rule | Sequence["RuleSource"]
"""A ready name, a path, "dlp:" and the path of an ontology, rule text, a program, a rule, or
several of these."""


def open_rules(source: RuleSource) -> Program:
    """The program that a ready name, a path, a rule text, a program or a list of them means."""
    if isinstance(source, Program):
        return source
    if isinstance(source, Rule):
        return Program((source,))
    if isinstance(source, os.PathLike):
        return read_rule_file(source)
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
        from livefacts.syntax.owl.ontology_files import rules_of

        return rules_of(_ontology_in(source)).program
    if source.startswith(SHAPES):
        return _shapes(source.removeprefix(SHAPES))
    if source in ready_names():
        return ready_rules(source)
    return _named_or_written(source)


def _ontology_in(source: str) -> str:
    """What stands behind "dlp:"."""
    ontology = source.removeprefix(ONTOLOGY)
    if not ontology.strip():
        raise RuleError(
            f"{ONTOLOGY} needs the file of an ontology", hint=f"for example {ONTOLOGY}wine.owl"
        )
    return ontology


def _named_or_written(source: str) -> Program:
    if not source.strip() or "\n" in source or ":-" in source:
        return read_rule_text(source)
    if source == STANDARD_INPUT or _is_rule_file(source):
        return read_rule_file(source)
    if source.rstrip().endswith(".") or any(mark in source for mark in "([@{"):
        return read_rule_text(source)
    near = difflib.get_close_matches(source.lower(), ready_names(), n=1, cutoff=0.4)
    suggestion = f"did you mean {near[0]}? " if near else ""
    raise RuleError(
        f"there is no rule set and no file called {shorten(source, 100)}",
        hint=f"{suggestion}ready rule sets are {', '.join(ready_names())}",
    )


def read_rule_text(
    text: str, file: str = "<text>", blank_nodes: BlankNodes | None = None, ending: str = ""
) -> Program:
    """The program of a text, in the rule language or in one of those of `foreign_rules`."""
    from livefacts.syntax.foreign_rules.dialects import dialect_of, taken

    language = dialect_of(text, ending)
    return parse(text, file, blank_nodes) if language is None else taken(text, language, file)


def read_rule_file(path: str | os.PathLike[str], blank_nodes: BlankNodes | None = None) -> Program:
    """The program of a file: rules and facts, rules of other systems, or the SWRL of an ontology."""
    ending = without_compression(Path(path)).suffix.lower()
    if ending in ONTOLOGY_ENDINGS:
        return _swrl(path)
    text, name = text_of(path)
    return read_rule_text(text, name, blank_nodes, ending)


def _shapes(path: str) -> Program:
    from livefacts.syntax.foreign_rules.dialects import noted
    from livefacts.syntax.foreign_rules.shapes import read

    if not path.strip():
        raise RuleError(f"{SHAPES} needs a file of shapes", hint=f"for example {SHAPES}shapes.ttl")
    return noted(read(path), "shapes")


def _swrl(path: str | os.PathLike[str]) -> Program:
    from livefacts.syntax.foreign_rules.dialects import noted
    from livefacts.syntax.foreign_rules.swrl import read

    found = read(path)
    if not found.program.rules and not found.refused:
        raise RuleError(
            f"there are no SWRL rules in {path}",
            hint=f'the axioms of an ontology are rules="{ONTOLOGY}{path}", its triples are loaded',
        )
    return noted(found, "SWRL rules")


def _is_rule_file(name: str) -> bool:
    try:
        return without_compression(Path(name)).suffix == ".rules" or Path(name).exists()
    except (OSError, ValueError):
        return False


def named_rules(program: Program, rules: str | Rule | Sequence[str | Rule]) -> list[Rule]:
    """The rules of the program that these mean; ids, and texts whatever the spacing."""
    each = [rules] if isinstance(rules, str | Rule) else rules
    if not isinstance(each, Iterable):
        raise RuleError(f"{each!r} is no rule", hint="give the ids or the texts of rules")
    if not each:
        return []
    known = {rule.key(): rule for rule in program}
    return [found for rule in each for found in _named(program, known, rule)]


def _named(program: Program, known: Mapping[Rule, Rule], rule: str | Rule) -> Iterator[Rule]:
    if isinstance(rule, Rule):
        yield _known(known, rule)
    elif not any(mark in rule for mark in RULE_MARKS) or rule in {each.id for each in program}:
        yield program.rule(rule)
    else:
        yield from (_known(known, each) for each in open_rules(rule).rules)


def _known(known: Mapping[Rule, Rule], rule: Rule) -> Rule:
    found = known.get(rule.key())
    if found is not None:
        return found
    raise RuleError(
        "there is no such rule to remove", place=rule.place, hint="Reasoner.rules lists them"
    )

"""Rules by name: which rules of a program an id, a text or a rule stands for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from livefacts.errors import RuleError
from livefacts.language.program import Program, Rule
from livefacts.syntax import rule_sets


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
    elif ":-" not in rule or rule in {each.id for each in program}:
        yield program.rule(rule)
    else:
        yield from (_known(known, each) for each in rule_sets.open_rules(rule).rules)


def _known(known: Mapping[Rule, Rule], rule: Rule) -> Rule:
    found = known.get(rule.key())
    if found is not None:
        return found
    raise RuleError(
        "there is no such rule to remove", place=rule.place, hint="Reasoner.rules lists them"
    )

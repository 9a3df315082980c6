"""Violations that say the same: all orders in which a constraint finds them, and the first of them.

Every way to exchange variables is tried, one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache
from itertools import permutations
from typing import Any

from livefacts.language.formula import Aggregate, Comparison, Negation, Timed, TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.model.facts import Term

Violation = tuple[str, frozenset[tuple[str, Term]]]
FLIPPED = dict(zip(("<", ">", "<=", ">="), (">", "<", ">=", "<="), strict=True))


def listed_once(found: Collection[Violation], rules: Iterable[Rule]) -> set[Violation]:
    """All violations but those of which an exchange of variables makes an earlier one."""
    rules = list(rules)
    symmetric = frozenset(_symmetric(rules))
    constraints = {rule.id: rule for rule in rules if rule.is_constraint}
    return {
        violation
        for violation in found
        if not any(
            _text(image, rule) < _text(violation, rule)
            for rule in [constraints[violation[0]]]
            for exchange in exchanges(rule, symmetric)
            if (image := _image(violation, exchange)) in found
        )
    }


def _symmetric(rules: Iterable[Rule]) -> Iterator[Any]:
    for rule in rules:
        match rule.head, rule.body:
            case (TripleAtom(Variable() as y, p, Variable() as x), (TripleAtom(x2, p2, y2),)):
                if (x, y, p) == (x2, y2, p2) and not isinstance(p, Variable) and rule.at is None:
                    yield p


@lru_cache(maxsize=1000)
def exchanges(rule: Rule, symmetric: frozenset[Any]) -> list[dict[str, str]]:
    """The exchanges of variables that leave a constraint what it is."""
    if any(isinstance(part, Aggregate | Timed) for part in rule.body):
        return []
    names = _names(rule)
    body = [p for p in rule.body if not (isinstance(p, Comparison) and _says_nothing(p))]
    plain = {_read(part, {}, symmetric) for part in body}
    tried = (dict(zip(names, other, strict=True)) for other in permutations(names))
    return [each for each in tried if {_read(p, each, symmetric) for p in body} == plain]


def _says_nothing(part: Comparison) -> bool:
    return part.operator == "=" and part.left == part.right and isinstance(part.left, Variable)


def _read(part: Any, renamed: dict[str, str], symmetric: frozenset[Any]) -> Any:
    """A part of a body as nested tuples, in which what may be exchanged is a set."""
    match part:
        case Variable(name):
            return "?", renamed.get(name, name)
        case Negation(atom):
            return "not", _read(atom, renamed, symmetric)
        case TripleAtom(s, p, o) if p in symmetric:
            return p, frozenset(_read(end, renamed, symmetric) for end in (s, o))
        case Comparison(left, operator, right):
            a, b = (_read(side, renamed, symmetric) for side in (left, right))
            if operator in FLIPPED:
                return frozenset({(a, operator, b), (b, FLIPPED[operator], a)})
            return operator, frozenset({a, b})
    slots = [getattr(part, name) for name in getattr(part, "__match_args__", ()) if name != "place"]
    if not slots or not hasattr(part, "__dataclass_fields__"):
        return part
    return type(part), tuple(
        tuple(_read(each, renamed, symmetric) for each in slot)
        if isinstance(slot, tuple)
        else _read(slot, renamed, symmetric)
        for slot in slots
    )


def _names(rule: Rule) -> list[str]:
    """The variables of a rule, in the order of its text."""
    found: dict[str, None] = {}

    def look(part: Any) -> None:
        if isinstance(part, Variable):
            found.setdefault(part.name)
        elif isinstance(part, tuple):
            for each in part:
                look(each)
        elif hasattr(part, "__dataclass_fields__"):
            for name in part.__dataclass_fields__:
                look(getattr(part, name))

    look(rule.body)
    return list(found)


def _image(violation: Violation, exchange: dict[str, str]) -> Violation:
    rule, bindings = violation
    values = dict(bindings)
    return rule, frozenset((name, values[exchange[name]]) for name in values)


def _text(violation: Violation, rule: Rule) -> list[str]:
    values = dict(violation[1])
    return [str(values[name]) for name in _names(rule) if name in values]

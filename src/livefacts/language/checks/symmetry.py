"""Symmetry of constraints: those that read the same when some of their variables change places.

"Two values that differ" is found twice, once in each order, and is one violation.  A symmetry
is an exchange of variables under which a constraint stays what it is; of the violations
that symmetries turn into each other, one is listed.

A predicate that a rule makes symmetric may be read either way.  A condition that a value
equals itself (NaN does not) may hold of one variable alone: then the image of a violation
is one as well if the conditions hold of it.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from itertools import permutations, product
from math import factorial, prod

from livefacts.language.formula import (
    Aggregate,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
    filled,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Term
from livefacts.model.values import compare

TURNED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""Comparisons that read otherwise from right to left."""
MOST_TRIES = 5040
"""Where there are more exchanges to try than this, violations are listed as they are found."""
Exchange = dict[Variable, Variable]


@dataclass(frozen=True, slots=True)
class Mirrors:
    """The exchanges of a constraint: where in a violation the values of its images stand."""

    orders: tuple[tuple[int, ...], ...] = ()
    equal_to_themselves: tuple[int, ...] = ()

    def is_first(self, values: Sequence[Term]) -> bool:
        """Whether no symmetric image of a violation comes before it, by the text of the values."""
        texts = [str(value) for value in values]
        return not any(
            [texts[at] for at in order] < texts and self._is_violation([values[at] for at in order])
            for order in self.orders
        )

    def _is_violation(self, values: Sequence[Term]) -> bool:
        return all(compare("=", values[at], values[at]) for at in self.equal_to_themselves)


NO_MIRRORS = Mirrors()


def symmetric_predicates(rules: Iterable[Rule]) -> frozenset[Hashable]:
    """The predicates of triples that a rule makes symmetric."""
    return frozenset(
        head.predicate
        for rule in rules
        if rule.at is None
        and isinstance(head := rule.head, TripleAtom)
        and rule.body == (TripleAtom(head.object, head.predicate, head.subject),)
        and isinstance(head.subject, Variable)
        and isinstance(head.object, Variable)
        and not isinstance(head.predicate, Variable)
    )


def mirrors_of(
    rule: Rule, variables: Sequence[Variable], symmetric: AbstractSet[Hashable]
) -> Mirrors:
    """The symmetries of a constraint whose violations have the values of these variables."""
    if any(isinstance(part, Aggregate | Timed) for part in rule.body):
        return NO_MIRRORS
    itself = [v for part in rule.body if _is_of_itself(part) for v in {*variables_of(part)}]
    body = [part for part in rule.body if not _is_of_itself(part)]
    found = [
        tuple(variables.index(exchange[variable]) for variable in variables)
        for exchange in _exchanges(body, variables, symmetric)
    ]
    at = tuple(variables.index(each) for each in itself)
    plain = tuple(range(len(variables)))
    return Mirrors(tuple(order for order in found if order != plain), at)


def _is_of_itself(part: Formula) -> bool:
    return (
        isinstance(part, Comparison)
        and part.operator == "="
        and isinstance(part.left, Variable)
        and part.left == part.right
    )


def _exchanges(
    body: Sequence[Formula], variables: Sequence[Variable], symmetric: AbstractSet[Hashable]
) -> Iterator[Exchange]:
    """The ways to exchange variables that leave the conditions what they are."""
    body = list(dict.fromkeys(_canonical(part, symmetric) for part in body))
    wanted = set(body)
    alike: dict[Hashable, list[Variable]] = {}
    for variable in variables:
        alike.setdefault(_part_of(variable, body, symmetric), []).append(variable)
    if prod(factorial(len(each)) for each in alike.values()) > MOST_TRIES:
        return
    for chosen in product(*map(permutations, alike.values())):
        pairs = zip(alike.values(), chosen, strict=True)
        exchange = {old: new for olds, news in pairs for old, new in zip(olds, news, strict=True)}
        if {_canonical(filled(part, exchange), symmetric) for part in body} == wanted:
            yield exchange


def _part_of(
    variable: Variable, body: Sequence[Formula], symmetric: AbstractSet[Hashable]
) -> Hashable:
    """What part a variable plays: the conditions it is in, with no regard to the others."""
    anyone = {other: Variable("") for part in body for other in variables_of(part)}
    marked = anyone | {variable: Variable("this")}
    found = [_canonical(filled(part, marked), symmetric) for part in body]
    return tuple(sorted(map(str, found)))


def _canonical(part: Formula, symmetric: AbstractSet[Hashable]) -> Formula:
    """One of the ways to write a condition."""
    match part:
        case TripleAtom(s, p, o) if p in symmetric and str(o) < str(s):
            return TripleAtom(o, p, s)
        case Comparison(left, operator, right):
            return min(part, Comparison(right, TURNED.get(operator, operator), left), key=str)
        case Negation(atom):
            inner = _canonical(atom, symmetric)
            assert isinstance(inner, TripleAtom | PredicateAtom), "an atom stays an atom"
            return Negation(inner)
        case _:
            return part

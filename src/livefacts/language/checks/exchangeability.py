"""Exchangeability: whether rules can tell apart things that owl:sameAs makes equal.

Under the rules of equality, what holds of one holds of all.  So two of many equal things can
stand for the others, as long as no rule tells more of them apart than two.  That is so for
a rule in which the variables that must differ form a graph that two colours are enough for:
those of a `!=` or `is not`, and of an atom that owl:sameAs may match.

Predicate facts are not replaced by the rules of equality.  Things that they speak of are not
exchangeable where a predicate could tell them apart: see `Interchange.telling_apart`.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations

from pyoxigraph import NamedNode

from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Term

SAME_AS = NamedNode("http://www.w3.org/2002/07/owl#sameAs")
Edges = set[frozenset[Variable]]


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A rule that a few of many equal things are not enough for, and why."""

    rule: Rule
    why: str

    def __str__(self) -> str:
        return f"rule {self.rule.id} {self.why}"


@dataclass(frozen=True, slots=True)
class Interchange:
    """What must stay itself: the constants of rules, and what `telling_apart` predicates speak of.

    With an `obstacle`, everything.
    """

    constants: frozenset[Term] = frozenset()
    telling_apart: frozenset[str] = frozenset()
    obstacle: Obstacle | None = None


def interchange_of(rules: Iterable[Rule], trusted: Collection[Rule] = ()) -> Interchange:
    """What must stay itself under these rules, which are in normal form.

    `trusted` are keys of rules of which it is known that two stand-ins are enough.
    """
    rules = list(rules)
    telling_apart = {name for rule in rules for name in _telling_apart(rule)}
    for rule in rules:
        if rule.key() not in trusted:
            why, names = _checked(rule)
            if why:
                return Interchange(obstacle=Obstacle(rule, why))
            telling_apart |= names
    return Interchange(
        frozenset(t for rule in rules for t in _constants(rule)), frozenset(telling_apart)
    )


def _telling_apart(rule: Rule) -> Iterator[str]:
    """Predicates that may hold of a thing and itself, but not of it and its equal."""
    head = rule.head
    if isinstance(head, PredicateAtom):
        variables = list(variables_of(head))
        if len(variables) > len(set(variables)):
            yield head.name
    for formula in rule.body:
        if isinstance(formula, Negation) and _is_wide(formula.atom):
            assert isinstance(formula.atom, PredicateAtom)
            yield formula.atom.name


def _is_wide(atom: Formula) -> bool:
    return isinstance(atom, PredicateAtom) and len(atom.arguments) > 1


def _checked(rule: Rule) -> tuple[str, set[str]]:
    """Why two are not enough, if nothing helps, and predicates whose things must stay themselves."""
    why = next(filter(None, (_obstacle(formula, rule) for formula in rule.body)), "")
    if why:
        return why, set()
    counted = {name for formula in rule.body for name in _counted(formula)}
    apart = _apart(rule)
    wide = [f for f in rule.body if isinstance(f, PredicateAtom) and _is_wide(f)]
    if _are_two_enough(apart | {edge for atom in wide for edge in _pairs(atom)}, rule):
        return "", counted
    themselves = {variable for atom in wide for variable in variables_of(atom)}
    if _are_two_enough({edge for edge in apart if not edge & themselves}, rule):
        return "", counted | {atom.name for atom in wide}
    return "tells three things apart that may be the same", set()


def _are_two_enough(apart: Edges, rule: Rule) -> bool:
    """Whether two colours are enough, and if the head is no triple, whatever colours it has."""
    if not _has_two_colours(apart):
        return False
    if not isinstance(rule.head, PredicateAtom):
        return True
    head = set(variables_of(rule.head))
    inner = {edge for edge in apart if not edge & head}
    for start in {variable for edge in apart for variable in edge} - head:
        part = _connected(start, inner)
        bound = {end for edge in apart if edge & part for end in edge & head}
        if len(bound) > 1:
            return False
    return True


def _connected(start: Variable, edges: Edges) -> set[Variable]:
    found = {start}
    while True:
        more = {end for edge in edges if edge & found for end in edge} - found
        if not more:
            return found
        found |= more


def _obstacle(formula: Formula, rule: Rule) -> str:
    """Why two are not enough for a formula; nothing, if they are."""
    match formula:
        case Negation(atom=atom) if _may_be_same_as(atom):
            return "asks what is not the same"
        case Comparison() if _equates(formula, rule):
            return "asks whether two names are one"
    return ""


def _counted(formula: Formula) -> Iterator[str]:
    """The predicates whose facts are counted: each of the things they speak of counts."""
    if isinstance(formula, Aggregate):
        for atom in formula.body:
            assert isinstance(atom, PredicateAtom), "in normal form, braces hold predicates"
            yield atom.name


def _equates(comparison: Comparison, rule: Rule) -> bool:
    """Whether two variables are compared that facts bind."""
    atoms = [f for f in rule.body if isinstance(f, TripleAtom | PredicateAtom)]
    bound = {variable for atom in atoms for variable in variables_of(atom)}
    ends = {comparison.left, comparison.right}
    return comparison.operator in ("=", "is") and len(ends) == 2 and ends <= bound


def _apart(rule: Rule) -> Edges:
    """Pairs of variables that one thing may not stand for."""
    found: Edges = set()
    for formula in rule.body:
        if isinstance(formula, TripleAtom) and _may_be_same_as(formula):
            ends = {formula.subject, formula.object}
        elif isinstance(formula, Comparison) and formula.operator in ("!=", "is not"):
            ends = {formula.left, formula.right}  # type: ignore[arg-type]
        else:
            continue
        if len(ends) == 2 and all(isinstance(end, Variable) for end in ends):
            found.add(frozenset(ends))  # type: ignore[arg-type]
    return found


def _may_be_same_as(atom: Atom) -> bool:
    return isinstance(atom, TripleAtom) and (
        atom.predicate == SAME_AS or isinstance(atom.predicate, Variable)
    )


def _pairs(atom: Atom | None) -> Edges:
    variables = dict.fromkeys(variables_of(atom)) if atom is not None else {}
    return {frozenset(pair) for pair in combinations(variables, 2)}


def _has_two_colours(edges: Edges) -> bool:
    colours: dict[Variable, bool] = {}
    for start in {variable for edge in edges for variable in edge}:
        if start in colours:
            continue
        colours[start] = True
        waiting = [start]
        while waiting:
            here = waiting.pop()
            for edge in edges:
                if here in edge:
                    (other,) = edge - {here}
                    if other not in colours:
                        colours[other] = not colours[here]
                        waiting.append(other)
                    elif colours[other] == colours[here]:
                        return False
    return True


def _constants(rule: Rule) -> Iterator[Term]:
    for part in (rule.head, *rule.body):
        if part is not None:
            yield from _terms_in(part)


def _terms_in(part: Formula | Expression) -> Iterator[Term]:
    """The constants of a formula or expression; names of predicates are none."""
    match part:
        case TripleAtom():
            yield from (slot for slot in part.slots if not isinstance(slot, Variable))
        case PredicateAtom():
            yield from (slot for slot in part.arguments if not isinstance(slot, Variable))
        case Arithmetic() | Comparison():
            yield from _terms_in(part.left)
            yield from _terms_in(part.right)
        case FunctionCall():
            yield from _terms_in(part.argument)
        case Negation() | Timed():
            yield from _terms_in(part.atom)
        case Aggregate():
            for inner in part.body:
                yield from _terms_in(inner)
        case Variable():
            return
        case _:
            yield part

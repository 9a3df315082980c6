"""Naive evaluation: all rules over all facts, again and again, until nothing is new.

A fact is a row: the name of its predicate (`TRIPLE` for triples) and its terms.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from pyoxigraph import BlankNode, NamedNode, Triple
from tests.oracle import values
from tests.oracle.mirrors import listed_once

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
    Slot,
    Timed,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Symbol, Term

Row = tuple[str, tuple[Term, ...]]
Binding = dict[Variable, Term]
TRIPLE = "[]"


def closure(program: Program, facts: Iterable[Triple | Fact]) -> set[Triple | Fact]:
    """What users see of the model: neither generalized triples nor hidden predicates."""
    return {fact for row in model(program, facts) if (fact := shown(row)) is not None}


def model(program: Program, facts: Iterable[Triple | Fact]) -> set[Row]:
    """Everything that is true: the facts, those of the program, and all conclusions."""
    known = Known(row_of(fact) for fact in (*facts, *program.facts))
    for level in levels([rule for rule in program if not rule.is_constraint]):
        while known.add([row for rule in level for row in _conclusions(rule, known)]):
            pass
    return known.rows


def violations(
    program: Program, facts: Iterable[Triple | Fact]
) -> set[tuple[str, frozenset[tuple[str, Term]]]]:
    """The constraints that match, each with the values of its variables, in one order."""
    return violations_in(model(program, facts), program)


def violations_in(
    rows: Iterable[Row], rules: Iterable[Rule]
) -> set[tuple[str, frozenset[tuple[str, Term]]]]:
    """The constraints that match in a model; what is found in several orders, once."""
    rules = list(rules)
    return listed_once(matches_in(rows, rules), rules)


def matches_in(
    rows: Iterable[Row], rules: Iterable[Rule]
) -> set[tuple[str, frozenset[tuple[str, Term]]]]:
    """The constraints that match in a model, in every order."""
    constraints = [rule for rule in rules if rule.is_constraint]
    return {
        (rule.id, frozenset((v.name, term) for v, term in binding.items()))
        for rule, binding in instances(rows, constraints)
    }


def instances(rows: Iterable[Row], rules: Iterable[Rule]) -> Iterator[tuple[Rule, Binding]]:
    """Each way in which the body of a rule is true in a model."""
    known = Known(rows)
    for rule in rules:
        for binding in _solutions(rule.body, known, outside_braces(rule)):
            yield rule, binding


def supports(rows: Iterable[Row], rules: Iterable[Rule]) -> Iterator[tuple[Rule, Row]]:
    """What instances conclude; those that only differ in what is merely asked for count once."""
    seen = set()
    for rule, binding in instances(rows, rules):
        kept = frozenset((v, term) for v, term in binding.items() if v not in asked_for(rule))
        if (rule, kept) not in seen:
            seen.add((rule, kept))
            yield rule, conclusion(rule, binding)


@lru_cache(maxsize=10_000)
def asked_for(rule: Rule) -> frozenset[Variable]:
    """The variables that nothing ties to the head, where other atoms stand beside theirs."""
    outside = outside_braces(rule)
    ties = []
    for i, part in enumerate(rule.body):
        inner = set(variables_of(part)) - outside[i] - {part.result} if i in outside else set()
        ties.append(frozenset(variables_of(part)) - inner)
    binding = (TripleAtom, PredicateAtom, Aggregate)
    starts = [tie for tie, part in zip(ties, rule.body, strict=True) if isinstance(part, binding)]
    parts = {_tied_to(tie, ties) for tie in starts if tie}
    if rule.head is None or len(parts) < 2:
        return frozenset()
    return frozenset().union(*(p for p in parts if p.isdisjoint(variables_of(rule.head))))


def _tied_to(start: frozenset[Variable], ties: list[frozenset[Variable]]) -> frozenset[Variable]:
    grown = start.union(*(tie for tie in ties if tie & start))
    return start if grown == start else _tied_to(grown, ties)


def conclusion(rule: Rule, binding: Binding) -> Row:
    """The head of an instance."""
    assert rule.head is not None
    return ground(rule.head, binding)


def premises(rule: Rule, binding: Binding) -> list[Row]:
    """The rows that the atoms of an instance match."""
    atoms = [part for part in rule.body if isinstance(part, TripleAtom | PredicateAtom)]
    return [ground(atom, binding) for atom in atoms]


def shown(row: Row) -> Triple | Fact | None:
    """The row as users see it, or None where it is hidden from them."""
    name, terms = row
    if name != TRIPLE:
        return None if name.startswith("_") else Fact(name, terms)
    s, p, o = terms
    fits = isinstance(s, NamedNode | BlankNode) and isinstance(p, NamedNode)
    return Triple(s, p, o) if fits and not isinstance(o, Symbol) else None  # type: ignore[arg-type]


class Known:
    """The rows found so far, by predicate and by any one of their terms."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self.rows: set[Row] = set()
        self._by_term: dict[tuple[str, int, Term | None], list[Row]] = defaultdict(list)
        self.add(rows)

    def add(self, rows: Iterable[Row]) -> bool:
        """Whether any of the rows is new."""
        new = set(rows) - self.rows
        for name, terms in new:
            for key in ((-1, None), *enumerate(terms)):
                self._by_term[(name, *key)].append((name, terms))
        self.rows |= new
        return bool(new)

    def candidates(self, name: str, slots: Sequence[Slot], binding: Binding) -> list[Row]:
        for position, slot in enumerate(slots):
            term = binding.get(slot) if isinstance(slot, Variable) else slot
            if term is not None:
                return self._by_term.get((name, position, term), [])
        return self._by_term.get((name, -1, None), [])


def row_of(fact: Triple | Fact) -> Row:
    if isinstance(fact, Triple):
        return TRIPLE, (fact.subject, fact.predicate, fact.object)
    return fact.name, tuple(fact.arguments)


def pattern(atom: Atom) -> tuple[str, tuple[Slot, ...]]:
    return (TRIPLE, atom.slots) if isinstance(atom, TripleAtom) else (atom.name, atom.arguments)


def levels(rules: list[Rule]) -> list[list[Rule]]:
    """The rules by level: never below what they read, and above what they negate."""
    level = [0] * len(rules)
    reads = [list(_read_by(rule, rules)) for rule in rules]
    for _ in range(len(rules) + 1):
        before = list(level)
        for i, read in enumerate(reads):
            level[i] = max([level[i], *(level[j] + negated for j, negated in read)])
        if before == level:
            return [[rules[i] for i, at in enumerate(level) if at == n] for n in sorted(set(level))]
    raise ValueError("the program negates itself in a cycle")


def _read_by(rule: Rule, rules: list[Rule]) -> Iterator[tuple[int, bool]]:
    """The places of the rules whose conclusions a rule may read, and whether it negates them."""
    for atom, negated in atoms_of(rule.body):
        for j, other in enumerate(rules):
            if other.head is not None and overlap(atom, other.head):
                yield j, negated


def atoms_of(body: Iterable[Formula], negated: bool = False) -> Iterator[tuple[Atom, bool]]:
    for formula in body:
        match formula:
            case TripleAtom() | PredicateAtom():
                yield formula, negated
            case Negation(atom):
                yield atom, True
            case Timed(atom=atom):
                yield atom, negated or formula.negated or formula.denied
            case Aggregate():
                yield from atoms_of(formula.body, True)


def overlap(left: Atom, right: Atom) -> bool:
    """Whether one fact could match both, judged place by place."""
    (name, slots), (other, others) = pattern(left), pattern(right)
    if name != other:
        return False
    pairs = zip(slots, others, strict=True)
    return all(isinstance(a, Variable) or isinstance(b, Variable) or a == b for a, b in pairs)


def _conclusions(rule: Rule, known: Known) -> Iterator[Row]:
    for binding in _solutions(rule.body, known, outside_braces(rule)):
        yield conclusion(rule, binding)


def ground(atom: Atom, binding: Binding) -> Row:
    name, slots = pattern(atom)
    return name, tuple(_value(slot, binding) for slot in slots)  # type: ignore[misc]


@lru_cache(maxsize=10_000)
def outside_braces(rule: Rule) -> dict[int, set[Variable]]:
    """For each aggregate of the body, by its place, the variables that stand outside it."""
    heads = [part for part in (rule.head, rule.at) if part is not None]
    parts = [set(variables_of(part)) for part in (*rule.body, *heads)]
    return {
        i: set().union(*parts[:i], *parts[i + 1 :])
        for i, formula in enumerate(rule.body)
        if isinstance(formula, Aggregate)
    }


def _solutions(
    body: Sequence[Formula], known: Known, outside: dict[int, set[Variable]]
) -> Iterator[Binding]:
    """Each way to make the body true; atoms and aggregates bind, the rest binds or tests."""
    bindings: list[Binding] = [{}]
    for formula in body:
        if isinstance(formula, TripleAtom | PredicateAtom):
            bindings = [more for one in bindings for more in matches(formula, known, one)]
    for i, formula in enumerate(body):
        if isinstance(formula, Aggregate):
            inner = _solutions(formula.body, known, {})
            groups = list(groups_of(formula, inner, outside[i]))
            bindings = [{**g, **one} for one in bindings for g in groups if agree(one, g, formula)]
    tests = [f for f in body if isinstance(f, Comparison)]
    for one in bindings:
        if passes(tests, one) and not any(_is_denied(f, known, one) for f in body):
            yield one


def matches(atom: Atom, known: Known, binding: Binding) -> Iterator[Binding]:
    name, slots = pattern(atom)
    for _, terms in known.candidates(name, slots, binding):
        extended = dict(binding)
        for slot, term in zip(slots, terms, strict=True):
            wanted = extended.setdefault(slot, term) if isinstance(slot, Variable) else slot
            if wanted != term:
                break
        else:
            yield extended


def groups_of(
    formula: Aggregate, solutions: Iterable[Binding], outside: set[Variable]
) -> Iterator[Binding]:
    """One binding per group that is not empty and has a value.

    `solutions` are those of the braces, `outside` the variables that stand elsewhere in the rule.
    """
    grouping = sorted(set().union(*map(variables_of, formula.body)) & outside)
    members: dict[tuple[Term, ...], set[tuple[Term, ...]]] = defaultdict(set)
    for binding in solutions:
        group = tuple(binding[v] for v in grouping)
        members[group].add(tuple(binding[v] for v in formula.listed))
    for group, tuples in members.items():
        value = values.aggregate(formula.function, tuples, formula.parameter)
        if value is not None:
            yield {**dict(zip(grouping, group, strict=True)), formula.result: value}


def agree(one: Binding, group: Binding, formula: Aggregate) -> bool:
    """Groups join as terms; a result that something else has bound compares as a value."""
    result = formula.result
    return all(one.get(v, term) == term for v, term in group.items() if v != result) and (
        result not in one or values.compare("=", one[result], group[result])
    )


def passes(tests: Iterable[Comparison], binding: Binding) -> bool:
    """Whether the comparisons hold; an `=` with one unbound variable binds it."""
    waiting = list(tests)
    while waiting:
        for test in waiting:
            holds = _try(test, binding)
            if holds is not None:
                break
        else:
            raise ValueError(f"nothing binds the variables of {waiting}")
        if not holds:
            return False
        waiting.remove(test)
    return True


def _try(test: Comparison, binding: Binding) -> bool | None:
    """True or False, or None while a variable is missing; may bind one."""
    missing = set(variables_of(test)) - binding.keys()
    for lone, other in ((test.left, test.right), (test.right, test.left)):
        if not isinstance(lone, Variable) or test.operator != "=":
            continue
        if missing == {lone} and lone not in variables_of(other):
            value = _value(other, binding)
            if value is not None:
                binding[lone] = value
            return value is not None
    if missing:
        return None
    sides = _value(test.left, binding), _value(test.right, binding)
    return values.compare(test.operator, *sides)


def _is_denied(formula: Formula, known: Known, binding: Binding) -> bool:
    if not isinstance(formula, Negation):
        return False
    return next(matches(formula.atom, known, binding), None) is not None


def _value(part: Expression, binding: Binding) -> Term | None:
    match part:
        case Variable():
            return binding[part]
        case Arithmetic(operator, left, right):
            return values.arithmetic(operator, _value(left, binding), _value(right, binding))
        case FunctionCall(function, argument):
            known = {"datatype": values.datatype, "value": values.value, "kind": values.kind}
            return known[function](_value(argument, binding))
        case _:
            return part

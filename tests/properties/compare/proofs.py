"""Checking explanations without the code that makes them: steps, heights, near misses.

Heights are computed forward, by brute force over all instances that the oracle finds, until
none falls any more.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pyoxigraph import Triple
from tests.oracle import values
from tests.oracle.naive import (
    TRIPLE,
    Binding,
    Known,
    Row,
    _solutions,
    _value,
    agree,
    groups_of,
    outside_braces,
    pattern,
)

from livefacts.language.formula import (
    Aggregate,
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Term
from livefacts.service.change.delta import Violation
from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    Attempt,
    Compared,
    Explanation,
    Premise,
    PremiseState,
    Shown,
    Step,
)

NEVER = 10**9


def row_of(fact: Shown) -> Row:
    """The oracle's row of a fact."""
    assert not isinstance(fact, Violation)
    if isinstance(fact, Triple):
        return TRIPLE, (fact.subject, fact.predicate, fact.object)
    return (TRIPLE, fact.slots) if isinstance(fact, TripleAtom) else (fact.name, fact.arguments)  # type: ignore[return-value]


def heights(rules: Sequence[Rule], asserted: set[Row], known: Known) -> dict[Row, int]:
    """The least height of every row that is true."""
    instances = [
        (_instantiated(rule.head, binding), list(_parts(rule, binding, known)))
        for rule in rules
        if rule.head is not None
        for binding in _solutions(rule.body, known, outside_braces(rule))
    ]
    found = dict.fromkeys(asserted, 0)
    progress = True
    while progress:
        progress = False
        for head, parts in instances:
            height = 1 + max((_height(part, found) for part in parts), default=0)
            if height < found.get(head, NEVER):
                found[head] = height
                progress = True
    return found


Part = Row | list[list[list[Row]]]
"""A premise: a row, or the rows of an aggregate, each with the ways in which it is one."""


def _height(part: Part, found: Mapping[Row, int]) -> int:
    if isinstance(part, tuple):
        return found.get(part, NEVER)
    return max(
        min(max((found.get(row, NEVER) for row in way), default=0) for way in ways) for ways in part
    )


def _parts(rule: Rule, binding: Binding, known: Known) -> Iterator[Part]:
    for number, formula in enumerate(rule.body):
        if isinstance(formula, TripleAtom | PredicateAtom):
            yield _instantiated(formula, binding)
        elif isinstance(formula, Aggregate):
            grouping = outside_braces(rule)[number]
            yield _ways_of_rows(formula, binding, grouping, known)


def _ways_of_rows(
    aggregate: Aggregate, binding: Binding, outside: set[Variable], known: Known
) -> list[list[list[Row]]]:
    """For each tuple of the group, the sets of rows that make it one."""
    inside = {v for part in aggregate.body for v in variables_of(part)}
    ways: dict[tuple[Term, ...], list[list[Row]]] = {}
    for solution in _solutions(aggregate.body, known, {}):
        if all(solution[v] == binding[v] for v in inside & outside):
            atoms = [f for f in aggregate.body if isinstance(f, TripleAtom | PredicateAtom)]
            listed = tuple(solution[v] for v in aggregate.listed)
            ways.setdefault(listed, []).append([_instantiated(atom, solution) for atom in atoms])
    return list(ways.values())


def _instantiated(atom: Atom, binding: Binding) -> Row:
    name, slots = pattern(atom)
    return name, tuple(_value(slot, binding) for slot in slots)  # type: ignore[misc]


# proofs


def faults_of_proof(
    explanation: Explanation, asserted: set[Row], known: Known, height: int | None
) -> Iterator[str]:
    """What is wrong with a proof; `height` is what brute force found."""
    proof = explanation.proof
    if proof is None:
        yield "it has no proof"
        return
    if height is not None and explanation.is_smallest and proof.height != height:
        yield f"height {proof.height}, but {height} by brute force"
    seen: set[int] = set()
    waiting = [proof]
    while waiting:
        step = waiting.pop()
        if id(step) in seen:
            continue
        seen.add(id(step))
        yield from _faults_of_step(step, asserted, known)
        waiting.extend(step.facts())


def _faults_of_step(step: Step, asserted: set[Row], known: Known) -> Iterator[str]:
    if step.rule is None:
        if row_of(step.fact) not in asserted:
            yield f"{step.fact} was not told"
        return
    below = max((premise.height for premise in step.facts()), default=0)
    if step.height != 1 + below:
        yield f"{step.fact} has height {step.height} over {below}"
    if isinstance(step.fact, Violation) != step.rule.is_constraint:
        yield f"{step.fact} is not what {step.rule.id} concludes"
    binding = {Variable(name): term for name, term in step.bindings.items()}
    if step.rule.head is not None and _instantiated(step.rule.head, binding) != row_of(step.fact):
        yield f"{step.fact} is not the head of {step.rule.id} under its bindings"
    if isinstance(step.fact, Violation) and step.fact.bindings != step.bindings:
        yield f"{step.fact} has other bindings than its step"
    yield from _faults_of_premises(step.rule.body, step.premises, binding, known, step.rule)


def _faults_of_premises(
    body: Sequence[Formula],
    premises: Sequence[Premise],
    binding: Binding,
    known: Known,
    rule: Rule,
) -> Iterator[str]:
    if len(body) != len(premises):
        yield f"{len(premises)} premises for a body of {len(body)}"
        return
    for number, (formula, premise) in enumerate(zip(body, premises, strict=True)):
        match formula, premise:
            case ((TripleAtom() | PredicateAtom()), Step()):
                if _instantiated(formula, binding) != row_of(premise.fact):
                    yield f"{premise.fact} is not an instance of {formula}"
            case Negation(atom), Absent():
                if _instantiated(atom, binding) in known.rows:
                    yield f"{atom} is true under {binding}"
            case Comparison(), Compared():
                if not _is_true(formula, binding):
                    yield f"{formula} is false under {binding}"
            case Aggregate(), Aggregated():
                outside = outside_braces(rule)[number]
                yield from _faults_of_aggregate(formula, premise, binding, outside, known)
            case _:
                yield f"{premise} stands for {formula}"


def _is_true(comparison: Comparison, binding: Binding) -> bool:
    """Whether the values compare; a variable that an `=` has bound may be NaN."""
    left, right = _value(comparison.left, binding), _value(comparison.right, binding)
    is_bound = comparison.operator == "=" and left == right
    return is_bound or values.compare(comparison.operator, left, right)


def _faults_of_aggregate(
    formula: Aggregate,
    premise: Aggregated,
    binding: Binding,
    outside: set[Variable],
    known: Known,
) -> Iterator[str]:
    others = {v: term for v, term in binding.items() if v != formula.result}
    groups = [
        g
        for g in groups_of(formula, _solutions(formula.body, known, {}), outside)
        if agree(others, g, formula)
    ]
    if len(groups) != 1 or groups[0][formula.result] != premise.value:
        yield f"{formula.function} is {groups}, not {premise.value}"
    wanted = set(_tuples(formula, binding, outside, known))
    if {row.values for row in premise.rows} != wanted or premise.count != len(wanted):
        yield f"the rows of {formula.function} are {wanted}"
    for row in premise.rows:
        for inner in row.premises:
            if isinstance(inner, Step) and row_of(inner.fact) not in known.rows:
                yield f"{inner.fact} is not true"


def _tuples(
    formula: Aggregate, binding: Binding, outside: set[Variable], known: Known
) -> Iterator[tuple[Term, ...]]:
    inside = {v for part in formula.body for v in variables_of(part)}
    for solution in _solutions(formula.body, known, {}):
        if all(solution[v] == binding[v] for v in inside & outside):
            yield tuple(solution[v] for v in formula.listed)


# near misses


def faults_of_attempt(attempt: Attempt, fact: Triple | Fact, known: Known) -> Iterator[str]:
    """What is wrong with what is said to be missing."""
    if not attempt.missing:
        yield f"{attempt.rule.id} lacks nothing"
    for premise in attempt.premises:
        if not _is_so(premise.formula, premise.state, known):
            yield f"{premise.formula} is said to be {premise.state}"
    yield from _faults_of_repair(attempt, fact, known)


def _is_so(formula: Formula, state: PremiseState, known: Known) -> bool:
    """Whether a premise is in the state that it is said to be in."""
    match formula:
        case TripleAtom() | PredicateAtom():
            return _fits_a_row(formula, known) == (state != PremiseState.MISSING)
        case Negation(atom) if state != PremiseState.OPEN:
            return _fits_a_row(atom, known) == (state == PremiseState.FALSE)
        case Comparison() if state == PremiseState.TRUE:
            return _is_true(formula, {})
        case _:
            return True


def _fits_a_row(atom: Atom, known: Known) -> bool:
    return next(_solutions([atom], known, {}), None) is not None


def _faults_of_repair(attempt: Attempt, fact: Triple | Fact, known: Known) -> Iterator[str]:
    """Adding what is missing makes the rule fire, where everything else is ground and true."""
    lacking = [p for p in attempt.premises if p.state != PremiseState.TRUE]
    atoms = [p.formula for p in lacking if isinstance(p.formula, TripleAtom | PredicateAtom)]
    if len(atoms) < len(lacking) or any(list(variables_of(atom)) for atom in atoms):
        return
    if any(isinstance(formula, Aggregate | Negation) for formula in attempt.rule.body):
        return
    repaired = Known(known.rows | {_instantiated(atom, {}) for atom in atoms})
    assert attempt.rule.head is not None
    heads = {
        _instantiated(attempt.rule.head, binding)
        for binding in _solutions(attempt.rule.body, repaired, outside_braces(attempt.rule))
    }
    if row_of(fact) not in heads:
        yield f"{attempt.rule.id} does not conclude {fact} with {atoms}"

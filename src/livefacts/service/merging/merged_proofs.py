"""Merged proofs: why facts about merged things hold, in terms of the members asked about.

Members of a group are exchangeable: a proof stays one when it speaks of other members than
the stand-ins, two different ones for the two.  Only what it rests on is not asserted as it
stands: the engine was given of the stand-ins what was asserted of any member.  There the proof
goes on, by the rules of equality, down to what was asserted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES, Change
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.proofs.backward_search import prove
from livefacts.errors import LivefactsError
from livefacts.language.formula import Comparison, TripleAtom, Variable, variables_of
from livefacts.language.formula import filled as with_terms
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan import compile_rules
from livefacts.plan.rules.normal_form import normalize
from livefacts.service.change.delta import Violation
from livefacts.service.explanations.proof_reader import ProofTerms, as_triple
from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    AggregateRow,
    Attempt,
    Compared,
    Explanation,
    Premise,
    Shown,
    Step,
    Wanted,
)
from livefacts.service.explanations.questions import asked_one, explain_terms, terms_of
from livefacts.service.merging.equality import HINT, SPREADING
from livefacts.service.merging.equality_support import Asserted, Pair
from livefacts.service.merging.groups import EqualGroup
from livefacts.service.merging.member_assertions import Row, image
from livefacts.service.merging.merged_engine import Merged
from livefacts.syntax.rule_sets import open_rules

REPLACING = (("eq-rep-s", 0), ("eq-rep-o", 2), ("eq-rep-p", 1))
"""Which rule puts an equal thing into which place of a triple."""
Names = dict[Term, Term]


def explain_merged(
    fact: Any, rules: Sequence[Rule], merged: Merged, prefixes: Mapping[str, str]
) -> Explanation:
    """Why a fact holds, or what is missing for it, where equal things are merged."""
    bound = merged.engine.proofs(rules)
    known = dict(DECLARED) | dict(prefixes)
    asked = asked_one(fact, rules, bound, known)
    terms = terms_of(asked, rules)
    stood_for, names = _stood_for(terms, isinstance(asked, Triple), merged)
    found = explain_terms(asked, stood_for, rules, bound, known)
    if not merged.groups.plain:
        return found
    assertion = _Assertion(merged, rules, names)
    if found.proof is None:
        return assertion.attempts(replace(found, fact=asked))
    proof = assertion.step(found.proof)
    if isinstance(asked, Triple):
        proof = assertion.turned(proof, tuple(terms))
    if _written(proof.fact) != _written(asked):
        raise LivefactsError(
            "this fact speaks of three things that are the same, and cannot be explained",
            hint=HINT,
        )
    return replace(found, fact=proof.fact, proof=proof, is_smallest=False)


def _written(fact: Shown) -> object:
    return (fact.constraint, dict(fact.bindings)) if isinstance(fact, Violation) else fact


def _stood_for(terms: Sequence[Term], is_triple: bool, merged: Merged) -> tuple[list[Term], Names]:
    """The terms with stand-ins for members, and who is meant by each stand-in."""
    members: dict[EqualGroup, list[Term]] = {}
    for term in dict.fromkeys(terms):
        number = merged.dictionary.find(term)
        group = None if number is None else merged.groups.plain.get(number)
        if group is not None:
            members.setdefault(group, []).append(term)
    ways = [list(_labelled(group, some, merged)) for group, some in members.items()]
    tried = [_joined(chosen) for chosen in product(*ways)]
    holding = (way for way in tried if _holds([way.get(t, t) for t in terms], is_triple, merged))
    labels = next(holding, tried[0])
    names: Names = {}
    for member, stand_in in labels.items():
        names.setdefault(stand_in, member)
    for group in members:
        names |= _partners(group, names, merged)
    return [labels.get(term, term) for term in terms], names


def _labelled(group: EqualGroup, members: list[Term], merged: Merged) -> Iterator[Names]:
    """The ways in which two stand-ins stand for some members: the first for the first."""
    first, second = map(merged.dictionary.decode_one, group.stand_ins)
    if len(members) <= 2:
        yield dict(zip(members, (first, second), strict=False))
        return
    for chosen in product((first, second), repeat=len(members)):
        yield dict(zip(members, chosen, strict=True))


def _partners(group: EqualGroup, names: Names, merged: Merged) -> Names:
    """For a stand-in that nobody is meant by: whoever the other one does not mean."""
    stand_ins = [merged.dictionary.decode_one(number) for number in group.stand_ins]
    meant = {names[each] for each in stand_ins if each in names}
    found: Names = {}
    for each in stand_ins:
        if each not in names:
            found[each] = next(s for s in reversed(stand_ins) if s not in meant)
            meant.add(found[each])
    return found


def _joined(parts: Iterable[Names]) -> Names:
    return {name: term for part in parts for name, term in part.items()}


def _holds(terms: Sequence[Term], is_triple: bool, merged: Merged) -> bool:
    found = [merged.dictionary.find(term) for term in terms]
    if None in found:
        return False
    shape = TRIPLES if is_triple else len(terms)
    return merged.engine.holds(shape, np.array([found], np.int32))


@dataclass
class _Assertion:
    """Rewrites a proof about stand-ins for the members who are meant."""

    merged: Merged
    rules: Sequence[Rule]
    names: Names
    _steps: dict[int, Step] = field(default_factory=dict)

    def __post_init__(self) -> None:
        known = {rule.key(): rule for rule in self.rules}
        self._spreading = {
            rule.id: (known[rule.key()], _names_in(rule), _names_in(known[rule.key()]))
            for rule in open_rules(SPREADING)
            if rule.key() in known
        }

    # proofs

    def step(self, step: Step) -> Step:
        """The step and all below it, of those who are meant, down to what was asserted."""
        if id(step) not in self._steps:
            self._steps[id(step)] = (
                self._asserted(step) if step.is_asserted else self._derived(step)
            )
        return self._steps[id(step)]

    def _derived(self, step: Step) -> Step:
        premises = tuple(self._premise(premise) for premise in step.premises)
        asserted = Step(self._fact(step.fact), step.rule, premises=premises)
        height = 1 + max((below.height for below in asserted.facts()), default=0)
        bindings = {name: self._name(term) for name, term in step.bindings.items()}
        return replace(asserted, bindings=bindings, height=height)

    def _premise(self, premise: Premise) -> Premise:
        match premise:
            case Step():
                return self.step(premise)
            case Absent(atom):
                return Absent(self._formula(atom))
            case Compared(comparison):
                return Compared(self._formula(comparison))
            case Aggregated():
                rows = tuple(map(self._row_of, premise.rows))
                return replace(premise, aggregate=self._formula(premise.aggregate), rows=rows)

    def _row_of(self, row: AggregateRow) -> AggregateRow:
        premises = tuple(self._premise(premise) for premise in row.premises)
        return AggregateRow(tuple(map(self._name, row.values)), premises)

    def _asserted(self, step: Step) -> Step:
        """What the engine was given, down to what was asserted of members."""
        if isinstance(step.fact, Fact | Violation):
            return step
        row = self._row(step.fact)
        meant = self._row(self._fact(step.fact))
        same = self.merged.same_as
        if row[1] == same and row[0] != row[2]:
            return self.equality(meant[0], meant[2])
        asserted = min(
            self._assertions(row),
            key=lambda each: sum(x != y for x, y in zip(each, meant, strict=True)),
            default=row,
        )
        start = Step(self._shown(asserted))
        return self.turned(start, tuple(self._term(number) for number in meant))

    def _assertions(self, row: Row) -> Iterator[Row]:
        """The facts about members that a fact about stand-ins was given for."""
        groups, assertions = self.merged.groups, self.merged.assertions
        if row not in assertions.counts:
            return
        group = next(groups.plain[term] for term in row if term in groups.plain)
        for asserted in assertions.of(group.plain):
            if image(asserted, groups.plain) == row:
                yield asserted

    def turned(self, step: Step, terms: tuple[Term, ...]) -> Step:
        """The step, with equal things in the places where the terms are others."""
        for rule, place in REPLACING:
            row = self._row(step.fact)
            wanted = self._number(terms[place])
            if row[place] != wanted:
                equal = self.equality(row[place], wanted)
                bindings = dict(zip("spo", row, strict=True))
                old, new = ("p", "q") if place == 1 else ("x", "y")
                bindings |= {old: row[place], new: wanted}
                step = self._applied(rule, bindings, (equal, step))
        return step

    def equality(self, start: int, end: int) -> Step:
        """That two things are the same, from what was asserted: at once, or along a path."""
        path = self.merged.groups.path(start, end)
        ends = [
            pair for pair in (_ordered(*path[:2]), _ordered(*path[-2:])) if self._is_proven(pair)
        ]
        at_once = self._proven(start, end, ends) if len(path) > 2 and len(ends) == 2 else None
        return at_once or self._along(path)

    def _is_proven(self, pair: Pair) -> bool:
        return not self.merged.groups.is_asserted(*pair)

    def _along(self, path: Sequence[int]) -> Step:
        """That both ends of a path are the same; halves first, so that the proof stays low."""
        if len(path) > 2:
            middle = len(path) // 2
            ends = {"x": path[0], "y": path[middle], "z": path[-1]}
            halves = self._along(path[: middle + 1]), self._along(path[middle:])
            return self._applied("eq-trans", ends, halves)
        x, y = path
        groups = self.merged.groups
        if (x, y) in groups.asserted:
            return Step(self._shown((x, self.merged.same_as, y)))
        if (y, x) not in groups.asserted:
            proven = self._proven(x, y, [_ordered(x, y)])
            assert proven is not None, "an equality follows from what it rests on"
            return proven
        back = Step(self._shown((y, self.merged.same_as, x)))
        return self._applied("eq-sym", {"x": y, "y": x}, (back,))

    def _proven(self, x: int, y: int, pairs: Iterable[Pair]) -> Step | None:
        """That two things are the same, if it follows from what proven equalities rest on."""
        asserted, keys = self._all_support(pairs)
        keys |= {rule.key() for rule, *_ in self._spreading.values()}
        rules = [r for r in self.rules if any(part.key() in keys for part in normalize([r]))]
        engine = EmbeddedEngine(self.merged.dictionary, compile_rules(rules))
        facts: dict[int, list[tuple[int, ...]]] = {}
        for shape, *ids in asserted:
            facts.setdefault(shape, []).append(tuple(ids))
        engine.apply(Change({s: np.array(sorted(rows), np.int32) for s, rows in facts.items()}))
        bound = engine.proofs(rules)
        proof = prove(bound, TRIPLES, (x, self.merged.same_as, y))
        return None if proof is None else ProofTerms(rules, bound).step(proof)

    def _all_support(self, pairs: Iterable[Pair]) -> tuple[set[Asserted], set[Rule]]:
        """The facts and rules that proven equalities rest on, with those of earlier ones."""
        proven = self.merged.groups.proven
        met = set(pairs)
        waiting = list(met)
        asserted: set[Asserted] = set()
        rules: set[Rule] = set()
        while waiting:
            support = proven[waiting.pop()]
            asserted |= support.asserted
            rules |= support.rules
            new = support.equalities - met
            met |= new
            waiting += new
        return asserted, rules

    def _applied(self, id: str, numbers: Mapping[str, int], steps: Sequence[Step]) -> Step:
        """A step by one of the rules of equality, as the program has it."""
        rule, written, here = self._spreading[id]
        terms = {v: self._term(numbers[w.name]) for w, v in zip(written, here, strict=True)}
        premises: list[Premise] = []
        left = iter(steps)
        for part in rule.body:
            ground = with_terms(part, terms)
            premises.append(Compared(ground) if isinstance(ground, Comparison) else next(left))
        assert isinstance(rule.head, TripleAtom), "a rule of equality concludes a triple"
        head = with_terms(rule.head, terms)
        height = 1 + max(step.height for step in steps)
        bindings = {variable.name: term for variable, term in terms.items()}
        return Step(as_triple(*head.slots), rule, bindings, tuple(premises), height)  # type: ignore[union-attr]

    # what is missing

    def attempts(self, explanation: Explanation) -> Explanation:
        """The attempts and what is near, of those who are meant."""
        attempts = tuple(
            Attempt(
                attempt.rule,
                {name: self._name(term) for name, term in attempt.bindings.items()},
                tuple(
                    Wanted(self._formula(each.formula), each.state, each.value)
                    for each in attempt.premises
                ),
            )
            for attempt in explanation.attempts
        )
        nearby = tuple(map(self._fact, explanation.nearby))
        return replace(explanation, attempts=attempts, nearby=nearby)

    # terms

    def _name(self, term: Term) -> Term:
        return self.names.get(term, term)

    def _fact(self, fact: Shown) -> Shown:
        match fact:
            case Triple():
                return as_triple(*map(self._name, (fact.subject, fact.predicate, fact.object)))
            case TripleAtom():
                return as_triple(*map(self._name, fact.slots))  # type: ignore[arg-type]
            case Fact(name, arguments):
                return Fact(name, tuple(map(self._name, arguments)))
        return Violation(
            fact.constraint, {name: self._name(term) for name, term in fact.bindings.items()}
        )

    def _formula(self, part: Any) -> Any:
        """A formula with those who are meant in the place of stand-ins."""
        if isinstance(part, tuple):
            return tuple(map(self._formula, part))
        if hasattr(part, "__dataclass_fields__") and not isinstance(part, Variable):
            names = [name for name in part.__dataclass_fields__ if name != "place"]
            return replace(part, **{name: self._formula(getattr(part, name)) for name in names})
        return self.names.get(part, part)

    def _row(self, fact: Shown) -> Row:
        assert isinstance(fact, Triple | TripleAtom), "what is asserted of stand-ins is a triple"
        s, p, o = (
            fact.slots
            if isinstance(fact, TripleAtom)
            else (fact.subject, fact.predicate, fact.object)
        )
        return self._number(s), self._number(p), self._number(o)  # type: ignore[arg-type]

    def _number(self, term: Term) -> int:
        number = self.merged.dictionary.find(term)
        assert number is not None, f"{term} is known"
        return number

    def _term(self, number: int) -> Term:
        return self.merged.dictionary.decode_one(number)

    def _shown(self, row: Row) -> Shown:
        return as_triple(*map(self._term, row))


def _ordered(x: int, y: int) -> Pair:
    return min(x, y), max(x, y)


def _names_in(rule: Rule) -> list[Variable]:
    """The variables of a rule, in their order."""
    parts = [part for part in (rule.head, *rule.body) if part is not None]
    return list(dict.fromkeys(v for part in parts for v in variables_of(part)))

"""The proof reader: proofs and near misses in ids become explanations in terms.

The hidden predicates of the normal form go away here: a constraint is explained by its own
body, an aggregate by the rows in its braces.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from pyoxigraph import BlankNode, NamedNode, Triple

from livefacts.engine.contract import TRIPLES
from livefacts.engine.embedded.proofs.backward_search import (
    BoundRules,
    GroupTotal,
    Instance,
    Node,
    Proof,
    is_inner,
)
from livefacts.engine.embedded.proofs.body_matches import BoundBody, Env
from livefacts.engine.embedded.proofs.near_misses import NearMiss
from livefacts.language.formula import (
    Aggregate,
    Atom,
    Comparison,
    Formula,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
    filled,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables
from livefacts.service.change.delta import Violation
from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    AggregateRow,
    Attempt,
    Compared,
    Premise,
    PremiseState,
    Shown,
    Step,
    Wanted,
)

UNNAMED = ":"
"""Begins the names of variables that nobody wrote."""


class ProofTerms:
    """The terms behind the ids of one search."""

    def __init__(self, rules: Sequence[Rule], bound: BoundRules) -> None:
        self._rules = {rule.id: rule for rule in rules}
        self._bound = bound

    def shown(self, relation: int, ids: Iterable[int]) -> Shown:
        """A fact as it appears in an explanation."""
        terms = [self._bound.terms.term(number) for number in ids]
        if relation == TRIPLES:
            return as_triple(*terms)
        name, *arguments = terms
        assert isinstance(name, Symbol), "a predicate fact begins with its name"
        if not name.name.startswith(VIOLATION):
            return Fact(name.name, tuple(arguments))
        rule = self._rules[name.name.removeprefix(VIOLATION)]
        names = [variable.name for variable in violation_variables(rule)]
        return Violation(rule.id, dict(zip(names, arguments, strict=True)))

    def terms(self, env: Env) -> dict[Variable, Term]:
        return {variable: self._bound.terms.term(number) for variable, number in env.items()}

    def bindings(self, rule: Rule, env: Env) -> dict[str, Term]:
        """The values of the variables outside braces, as far as they are known."""
        known = self.terms(env)
        named = (v for v in violation_variables(rule) if not v.name.startswith(UNNAMED))
        return {v.name: known[v] for v in named if v in known}

    # proofs

    def step(self, proof: Proof) -> Step:
        """The proof of a fact, from the asserted facts up."""
        return _ProofReader(self, self._bound, proof).read()

    def rule(self, id: str) -> Rule:
        return self._rules[id]

    # near misses

    def attempt(self, miss: NearMiss) -> Attempt:
        """How far the body of a rule is true."""
        rule = self._rules[miss.body.rule.id]
        states = {pattern.atom: PremiseState.TRUE for pattern in miss.matched}
        states |= {pattern.atom: PremiseState.OPEN for pattern in miss.open}
        states |= {pattern.atom: PremiseState.MISSING for pattern in miss.missing}
        premises = tuple(
            self._wanted(rule, number, formula, miss, states)
            for number, formula in enumerate(rule.body)
        )
        return Attempt(rule, self.bindings(rule, miss.env), premises)

    def _wanted(
        self,
        rule: Rule,
        number: int,
        formula: Formula,
        miss: NearMiss,
        states: dict[Atom, PremiseState],
    ) -> Wanted:
        terms = self.terms(miss.env)
        if isinstance(formula, Aggregate):
            return self._wanted_aggregate(f"{rule.id}.{number}", formula, miss, states)
        if isinstance(formula, TripleAtom | PredicateAtom):
            state = states[formula]
        else:
            assert isinstance(formula, Comparison | Negation), "rules are followed without time"
            state = _state_of(formula, miss)
        return Wanted(filled(formula, terms), state)

    def _wanted_aggregate(
        self, name: str, formula: Aggregate, miss: NearMiss, states: dict[Atom, PremiseState]
    ) -> Wanted:
        (pattern,) = (p for p in miss.body.atoms if _is_named(p.atom, f"_values:{name}"))
        groups = pattern.known(miss.env)
        rows = self._bound.lookup.matching(
            pattern.relation, tuple(g for g in groups if g[0] < len(pattern.slots) - 1)
        )
        value = None
        if len(groups) >= len(pattern.slots) - 1 and len(rows) == 1:
            value = self._bound.terms.term(self._bound.lookup.fact(pattern.relation, rows[0])[-1])
        return Wanted(filled(formula, self.terms(miss.env)), states[pattern.atom], value)


def _state_of(check: Comparison | Negation, miss: NearMiss) -> PremiseState:
    if any(check is other for other in miss.held):
        return PremiseState.TRUE
    return PremiseState.FALSE if any(check is other for other in miss.failed) else PremiseState.OPEN


def _is_named(atom: Atom, name: str) -> bool:
    return isinstance(atom, PredicateAtom) and atom.name == name


def as_triple(s: Term, p: Term, o: Term) -> Triple | TripleAtom:
    """A triple, or the pattern of one that RDF cannot write."""
    is_writable = isinstance(s, NamedNode | BlankNode) and not isinstance(o, Symbol)
    if is_writable and isinstance(p, NamedNode):
        return Triple(s, p, o)  # type: ignore[arg-type]
    return TripleAtom(s, p, o)


class _ProofReader:
    """Makes the steps of one proof, premises before conclusions."""

    def __init__(self, reading: ProofTerms, bound: BoundRules, proof: Proof) -> None:
        self._reading = reading
        self._bound = bound
        self._proof = proof
        self._steps: dict[Node, Step] = {}

    def read(self) -> Step:
        for node in sorted(self._proof.heights, key=self._proof.heights.__getitem__):
            instance = self._proof.instances.get(node)
            if instance is None or not is_inner(instance.body.rule):
                self._steps[node] = self._step(node, instance)
        return self._steps[self._proof.root]

    def _step(self, node: Node, instance: Instance | None) -> Step:
        fact = self._reading.shown(node[0], self._bound.lookup.fact(*node))
        if instance is None:
            return Step(fact)
        rule = self._reading.rule(instance.body.rule.id)
        premises = tuple(self._premises(rule.body, instance, f"{rule.id}."))
        bindings = self._reading.bindings(rule, instance.env)
        return Step(fact, rule, bindings, premises, self._proof.heights[node])

    def _premises(
        self, formulas: Sequence[Formula], instance: Instance, prefix: str
    ) -> Iterator[Premise]:
        terms = self._reading.terms(instance.env)
        for number, formula in enumerate(formulas):
            ground = filled(formula, terms)
            match formula, ground:
                case Aggregate(), _:
                    yield self._aggregated(formula, instance, f"_values:{prefix}{number}")
                case _, Negation(atom):
                    yield Absent(atom)
                case _, Comparison():
                    yield Compared(ground)
                case ((TripleAtom() | PredicateAtom()), _):
                    yield self._steps[self._node_of(formula, instance)]

    def _node_of(self, atom: Atom, instance: Instance) -> Node:
        assert isinstance(instance.body, BoundBody)
        pattern = instance.body.pattern(atom)
        return pattern.relation, self._bound.lookup.row_of(
            pattern.relation, pattern.fact(instance.env)
        )

    def _aggregated(self, aggregate: Aggregate, instance: Instance, name: str) -> Aggregated:
        assert isinstance(instance.body, BoundBody)
        (atom,) = (a.atom for a in instance.body.atoms if _is_named(a.atom, name))
        node = self._node_of(atom, instance)
        total = self._proof.instances[node]
        assert isinstance(total.body, GroupTotal)
        fact = self._bound.lookup.fact(*node)
        rows = tuple(self._row(aggregate, row) for row in total.premises)
        value = self._bound.terms.term(fact[-1])
        terms = self._reading.terms(instance.env)
        ground = filled(aggregate, terms)
        assert isinstance(ground, Aggregate)
        return Aggregated(ground, value, rows, len(total.body.rows(fact)))

    def _row(self, aggregate: Aggregate, node: Node) -> AggregateRow:
        fact = self._bound.lookup.fact(*node)
        listed = fact[len(fact) - len(aggregate.listed) :]
        values = tuple(self._bound.terms.term(number) for number in listed)
        if node in self._steps:
            return AggregateRow(values, (self._steps[node],))
        inner = self._proof.instances[node]
        return AggregateRow(values, tuple(self._premises(aggregate.body, inner, "")))

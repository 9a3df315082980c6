"""Transitivity: p(x, z) :- p(x, y), p(y, z), kept in O(pairs) instead of O(paths).

Of the two premises, one may be any fact of p, the other only an *edge*: a fact that
holds for a reason other than this rule.  The closure is the same, and a pair is found
once per last edge instead of once per point between.
"""

from __future__ import annotations

from dataclasses import replace

from livefacts.language.formula import Atom, PredicateAtom, TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.memo import by_address
from livefacts.plan.rules.operators import RulePlan, Scan


@by_address
def is_transitive(rule: Rule) -> bool:
    """Whether a rule says that one binary predicate is transitive, and nothing else.

    >>> x, y, z = map(Variable, "xyz")
    >>> p = lambda a, b: PredicateAtom("p", (a, b))
    >>> is_transitive(Rule(p(x, z), (p(x, y), p(y, z))))
    True
    >>> is_transitive(Rule(p(x, z), (p(x, y), p(z, y))))
    False
    """
    if rule.head is None or len(rule.body) != 2:
        return False
    atoms = [f for f in (rule.head, *rule.body) if isinstance(f, TripleAtom | PredicateAtom)]
    ends = [end for end in map(_ends, atoms) if end is not None]
    if len(ends) != 3:
        return False
    (name, x, z), *body = ends
    return any(
        first == (name, x, first[2]) and second == (name, first[2], z)
        for first, second in (body, body[::-1])
        if len({x, first[2], z}) == 3
    )


def _ends(atom: Atom) -> tuple[object, Variable, Variable] | None:
    """The constant predicate of a binary atom and its two ends, if these are variables."""
    if isinstance(atom, TripleAtom):
        name, ends = atom.predicate, (atom.subject, atom.object)
    elif len(atom.arguments) == 2:
        name, ends = (atom.name,), atom.arguments  # type: ignore[assignment]
    else:
        return None
    if isinstance(name, Variable) or not all(isinstance(end, Variable) for end in ends):
        return None
    return name, ends[0], ends[1]  # type: ignore[return-value]


def restrict_to_edges(plan: RulePlan) -> RulePlan:
    """The plan of a transitive rule with its second premise restricted to edges."""
    target = plan.head.slots[-1]
    pivot_is_edge = plan.pivot.slots[-1] == target
    (step,) = plan.steps
    assert isinstance(step, Scan)
    step = replace(step, edges_only=not pivot_is_edge)
    return replace(plan, steps=(step,), transitive=True, pivot_is_edge=pivot_is_edge)

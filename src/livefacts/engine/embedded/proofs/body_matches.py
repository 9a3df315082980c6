"""Body matches: every way in which a rule body holds, given what its head is, in ids.

The search is depth first through `Lookup`.  Next comes the atom with most known columns,
among those the one that fewest facts fit; comparisons and negations come as soon as their
variables are known.  Terms are decoded where a comparison needs their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from livefacts.engine.embedded.proofs.lookups import Fact, Known, Lookup, RowNumbers, TermIds
from livefacts.language.formula import (
    Arithmetic,
    Atom,
    Comparison,
    Expression,
    FunctionCall,
    Negation,
    TripleAtom,
    Variable,
    variables_of,
)
from livefacts.language.program import Rule
from livefacts.model import values
from livefacts.model.facts import Term
from livefacts.plan.rules.normal_form import positive_atoms
from livefacts.store.facts.row_store import TRIPLES

Env = dict[Variable, int]
Check = Comparison | Negation


@dataclass(frozen=True, slots=True)
class AtomPattern:
    """An atom in ids: the relation of its facts, and what stands in each column."""

    atom: Atom
    relation: int
    slots: tuple[int | Variable, ...]
    variables: tuple[Variable, ...]

    def known(self, env: Env) -> Known:
        """The columns whose ids are known."""
        found = []
        for column, slot in enumerate(self.slots):
            value = env.get(slot) if isinstance(slot, Variable) else slot
            if value is not None:
                found.append((column, value))
        return tuple(found)

    def fitted(self, fact: Fact, env: Env) -> Env | None:
        """The bindings with which the atom is this fact, or None."""
        extended = dict(env)
        for slot, value in zip(self.slots, fact, strict=True):
            wanted = extended.setdefault(slot, value) if isinstance(slot, Variable) else slot
            if wanted != value:
                return None
        return extended

    def fact(self, env: Env) -> Fact:
        """The fact that the atom is, when all of its variables are known."""
        return tuple(env[slot] if isinstance(slot, Variable) else slot for slot in self.slots)


def pattern_of(atom: Atom, lookup: Lookup, terms: TermIds) -> AtomPattern:
    """An atom of a rule over the facts of one moment."""
    shape = TRIPLES if isinstance(atom, TripleAtom) else 1 + len(atom.arguments)
    slots = (s if isinstance(s, Variable) else terms.id_of(s) for s in atom.slots)
    return AtomPattern(atom, lookup.relation(shape), tuple(slots), tuple(set(variables_of(atom))))


class BoundBody:
    """The body of one rule in normal form, over the facts of one moment."""

    def __init__(self, rule: Rule, lookup: Lookup, terms: TermIds) -> None:
        assert rule.head is not None, "a rule in normal form has a head"
        self.rule = rule
        self._lookup = lookup
        self._terms = terms
        self.head = self.pattern(rule.head)
        self.atoms = tuple(self.pattern(atom) for atom in positive_atoms(rule))
        self.checks = tuple(f for f in rule.body if isinstance(f, Comparison | Negation))
        self._by_atoms = {v for atom in positive_atoms(rule) for v in variables_of(atom)}

    def pattern(self, atom: Atom) -> AtomPattern:
        return pattern_of(atom, self._lookup, self._terms)

    def from_head(self, fact: Fact) -> tuple[Env, Env] | None:
        """What the head binds when it is this fact: variables of atoms, and computed ones."""
        env = self.head.fitted(fact, {})
        if env is None:
            return None
        wanted = {v: value for v, value in env.items() if v not in self._by_atoms}
        return {v: value for v, value in env.items() if v not in wanted}, wanted

    def solutions(self, fact: Fact) -> Iterator[Env]:
        """The bindings with which the rule concludes this fact."""
        bound = self.from_head(fact)
        if bound is None:
            return
        env, wanted = bound
        for found in self.matches(self.atoms, env, self.checks):
            if all(found[variable] == value for variable, value in wanted.items()):
                yield found

    def matches(
        self,
        atoms: Sequence[AtomPattern],
        env: Env,
        checks: Sequence[Check] = (),
        most: int | None = None,
    ) -> Iterator[Env]:
        """The bindings with which these atoms are facts and these checks hold.

        With `most`, no more than so many facts are tried for an atom.
        """
        checked = self._checked(env, checks)
        if checked is None:
            return
        env, waiting = checked
        if not atoms:
            yield env
            return
        chosen = self._ground(atoms, env)
        if chosen is not None:
            if self._lookup.row_of(chosen.relation, chosen.fact(env)):
                rest = [atom for atom in atoms if atom is not chosen]
                yield from self.matches(rest, env, waiting, most)
            return
        chosen, rows = self._narrowest(atoms, env)
        rest = [atom for atom in atoms if atom is not chosen]
        for fact in self._lookup.facts(chosen.relation, rows[:most]):
            extended = chosen.fitted(fact, env)
            if extended is not None:
                yield from self.matches(rest, extended, waiting, most)

    def _ground(self, atoms: Sequence[AtomPattern], env: Env) -> AtomPattern | None:
        """An atom all of whose variables are known."""
        for atom in atoms:
            if all(variable in env for variable in atom.variables):
                return atom
        return None

    def _narrowest(self, atoms: Sequence[AtomPattern], env: Env) -> tuple[AtomPattern, RowNumbers]:
        known = [(atom, atom.known(env)) for atom in atoms]
        most = max(len(columns) for _, columns in known)
        ways = [
            (atom, self._lookup.matching(atom.relation, columns))
            for atom, columns in known
            if len(columns) == most
        ]
        return min(ways, key=lambda way: len(way[1]))

    def has_match(self, atom: AtomPattern, env: Env) -> bool:
        """Whether some fact fits an atom."""
        rows = self._lookup.matching(atom.relation, atom.known(env))
        facts = self._lookup.facts(atom.relation, rows)
        return any(atom.fitted(fact, env) is not None for fact in facts)

    # checks

    def _checked(self, env: Env, checks: Sequence[Check]) -> tuple[Env, Sequence[Check]] | None:
        """Make the checks that can be made; the rest, or None if one fails."""
        if not checks:
            return env, ()
        env, waiting, progress = dict(env), list(checks), True
        while progress:
            progress = False
            for check in tuple(waiting):
                holds = self.holds(check, env)
                if holds is False:
                    return None
                if holds:
                    waiting = [other for other in waiting if other is not check]
                    progress = True
        return env, waiting

    def holds(self, check: Check, env: Env) -> bool | None:
        """Whether a check holds, None while a variable is missing; an `=` may bind one."""
        if isinstance(check, Comparison):
            target = self._target(check, env)
            if target is not None:
                return self._bind(*target, env)
        if any(variable not in env for variable in variables_of(check)):
            return None
        if isinstance(check, Negation):
            pattern = self.pattern(check.atom)
            return not self._lookup.row_of(pattern.relation, pattern.fact(env))
        left, right = self.value(check.left, env), self.value(check.right, env)
        return (
            left is not None and right is not None and values.compare(check.operator, left, right)
        )

    def _target(self, check: Comparison, env: Env) -> tuple[Variable, Expression] | None:
        """The variable that an `=` binds, one that no atom binds, and what it becomes."""
        if check.operator == "=":
            for one, other in ((check.left, check.right), (check.right, check.left)):
                if not isinstance(one, Variable) or one in self._by_atoms or one in env:
                    continue
                if one not in variables_of(other):
                    return one, other
        return None

    def _bind(self, target: Variable, expression: Expression, env: Env) -> bool | None:
        if any(variable not in env for variable in variables_of(expression)):
            return None
        value = self.value(expression, env)
        if value is None:
            return False
        env[target] = self._terms.id_of(value)
        return True

    def value(self, expression: Expression, env: Env) -> Term | None:
        """The term that an expression is under these bindings; None if it has none."""
        match expression:
            case Variable():
                return self._terms.term(env[expression])
            case Arithmetic(operator, left, right):
                one, other = self.value(left, env), self.value(right, env)
                if one is None or other is None:
                    return None
                return values.arithmetic(operator, one, other)
            case FunctionCall(function, argument):
                inner = self.value(argument, env)
                return None if inner is None else values.apply_function(function, inner)
            case _:
                return expression

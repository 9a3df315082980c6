"""The rewrite: what the programs that maintain another program have in common.

A rewritten program speaks of predicates only: `[?s, ex:p, ?o]` is written `t(?s, ex:p, ?o)`,
as the papers do.  A maintenance predicate is named after the predicate it serves and its
role there: p^Del of the papers is `p_del`.  Where a name is taken, another is found: `triple`
for `t`, or more underscores before the role.  The id of a rule is its name in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, count

from livefacts.errors import Place
from livefacts.language.checks.strata import body_atoms
from livefacts.language.formula import (
    NOWHERE,
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
from livefacts.plan.maintenance.split_points import SplitPart, parts_of

EXT, DEL, INS, RED, NEW = "ext", "del", "ins", "red", "new"
PLUS, MINUS, TEMP, OLD = "plus", "minus", "temp", "old"
ROLES = (EXT, DEL, INS, RED, NEW, PLUS, MINUS, TEMP, OLD)
TRIPLE_NAMES = ("t", "triple", "triples")
ROWS, GROUPS, NOW = "rows", "groups", "now"


@dataclass(frozen=True, slots=True)
class ProgramSection:
    """Rules of one purpose, with the sentence that says which.

    `published` has, by the id of a rule that differs from the paper's, what the paper has:
    a text with a brace for each of the atoms.
    """

    title: str
    rules: tuple[Rule, ...]
    published: Mapping[str, tuple[str, tuple[PredicateAtom, ...]]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Input:
    """A predicate that has to be filled before a maintenance program is evaluated."""

    atom: PredicateAtom
    meaning: str


@dataclass(frozen=True, slots=True)
class PredicateNames:
    """What predicates are called in a rewritten program.

    >>> PredicateNames("t", "_").of("isIn", "ext", "del")
    'isIn_ext_del'
    """

    triple: str
    separator: str
    parts: tuple[SplitPart, ...] = ()
    """The predicates that relations are split into."""

    def of(self, name: str, *roles: str) -> str:
        """The predicate that has this role for another."""
        return self.separator.join((name, *roles))

    def atom(self, atom: PredicateAtom, *roles: str) -> PredicateAtom:
        """The same terms under the predicate of another role."""
        return replace(atom, name=self.of(atom.name, *roles))

    def predicate(self, relation: str, slots: Sequence[object]) -> str:
        """The predicate that has the atoms of a relation with these terms."""
        parts = (part.name for part in self.parts if part.relation == relation and part.has(slots))
        return next(parts, relation)

    def is_of_triples(self, name: str) -> bool:
        return name == self.triple or any(
            part.name == name for part in self.parts if part.relation == self.triple
        )

    def flat(self, formula: Formula) -> Formula:
        """The formula with predicate atoms only."""
        match formula:
            case TripleAtom(place=place):
                name = self.predicate(self.triple, formula.slots)
                return PredicateAtom(name, formula.slots, place)
            case PredicateAtom(name, arguments):
                return replace(formula, name=self.predicate(name, arguments))
            case Negation(atom):
                return replace(formula, atom=self.flat(atom))  # type: ignore[arg-type]
            case Aggregate(body=inner):
                return replace(formula, body=tuple(map(self.flat, inner)))
            case _:
                return formula


@dataclass(frozen=True, slots=True)
class FlatRule:
    """A rule with predicate atoms only, each aggregate replaced by an atom for its groups.

    `number` distinguishes the rules of one program; `aggregates` has the aggregate behind
    the name of each such atom.
    """

    id: str
    number: int
    head: PredicateAtom
    body: tuple[Formula, ...]
    aggregates: Mapping[str, tuple[PredicateAtom, Aggregate]] = field(default_factory=dict)
    place: Place = NOWHERE

    def needed(self) -> tuple[Variable, ...]:
        """The variables of the head and of negations."""
        negations = (f for f in self.body if isinstance(f, Negation))
        parts: tuple[Formula, ...] = (self.head, *negations)
        return tuple(dict.fromkeys(v for part in parts for v in variables_of(part)))

    @property
    def computes(self) -> bool:
        """Whether an `=` alone gives the head or a negation the value of a variable."""
        atoms = [f for f in self.body if isinstance(f, PredicateAtom)]
        matched = {v for atom in atoms for v in variables_of(atom)}
        return not matched.issuperset(self.needed())


def names_for(rules: Iterable[Rule], split: bool = False) -> PredicateNames:
    """Names that are none of the predicates in these rules and do not meet each other."""
    atoms = [atom for rule in rules for atom in _atoms(rule)]
    taken = {atom.name for atom in atoms if isinstance(atom, PredicateAtom)}
    triple = next(name for name in _triple_names() if name not in taken)
    for length in count(1):
        names = PredicateNames(triple, "_" * length)
        if split:
            names = replace(names, parts=tuple(_parts(atoms, names)))
        if _are_free(names, taken):
            return names
    raise AssertionError("some number of underscores is free")


def _are_free(names: PredicateNames, taken: set[str]) -> bool:
    bases = {*taken, names.triple, *(part.name for part in names.parts)}
    asserted = {names.of(base, EXT) for base in bases}
    made = {names.of(base, role) for base in (*bases, *asserted) for role in ROLES}
    made |= {part.name for part in names.parts}
    starts = names.of(ROWS, ""), names.of(GROUPS, "")
    return taken.isdisjoint(made) and not any(name.startswith(starts) for name in taken)


def _parts(atoms: Iterable[Atom], names: PredicateNames) -> Iterator[SplitPart]:
    slots: dict[str, list[Sequence[object]]] = {}
    for atom in atoms:
        if isinstance(atom, TripleAtom):
            slots.setdefault(names.triple, []).append(atom.slots)
        else:
            slots.setdefault(atom.name, []).append(atom.arguments)
    for relation, used in slots.items():
        yield from parts_of(relation, used, names.separator)


def _triple_names() -> Iterator[str]:
    return chain(TRIPLE_NAMES, (f"{TRIPLE_NAMES[0]}{number}" for number in count(1)))


def _atoms(rule: Rule) -> Iterator[Atom]:
    if rule.head is not None:
        yield rule.head
        yield from (atom for atom, _ in body_atoms(rule.body))


def flat_rules(rules: Iterable[Rule], names: PredicateNames) -> dict[Rule, FlatRule]:
    """The rules with heads, each with its flat form; constraints conclude nothing."""
    return {
        rule: _flat_rule(rule, number, names)
        for number, rule in enumerate(rules, 1)
        if rule.head is not None
    }


def _flat_rule(rule: Rule, number: int, names: PredicateNames) -> FlatRule:
    assert rule.head is not None
    body: list[Formula] = []
    aggregates: dict[str, tuple[PredicateAtom, Aggregate]] = {}
    for formula in rule.body:
        if not isinstance(formula, Aggregate):
            body.append(names.flat(formula))
            continue
        flat = names.flat(_with_own_result(formula, rule))
        assert isinstance(flat, Aggregate)
        name = names.of(GROUPS, str(number), str(len(aggregates) + 1))
        atom = PredicateAtom(name, (*rule.groups_of(formula), flat.result), formula.place)
        aggregates[name] = atom, flat
        body.append(atom)
        if flat.result != formula.result:
            body.append(Comparison(flat.result, "=", formula.result, formula.place))
    head = names.flat(rule.head)
    assert isinstance(head, PredicateAtom)
    return FlatRule(rule.id, number, head, tuple(body), aggregates, rule.place)


def _with_own_result(aggregate: Aggregate, rule: Rule) -> Aggregate:
    """A result that something else binds as well is compared as a value, and so gets a name."""
    binding = (TripleAtom, PredicateAtom, Aggregate)
    others = [f for f in rule.body if f is not aggregate and isinstance(f, binding)]
    if all(aggregate.result not in variables_of(other) for other in others):
        return aggregate
    return replace(aggregate, result=unused(aggregate.result.name, rule))


def unused(name: str, rule: Rule) -> Variable:
    """A variable that the rule does not have, named after this."""
    parts = [*([rule.head] if rule.head else []), *rule.body]
    taken = {v.name for part in parts for v in variables_of(part)}
    names = chain([name], (f"{name}{number}" for number in count(1)))
    return Variable(next(each for each in names if each not in taken))


def general_atom(name: str, arity: int, names: PredicateNames) -> PredicateAtom:
    """The predicate with a variable in every place.

    >>> general_atom("isIn", 2, PredicateNames("t", "_")).arguments
    (Variable(name='x'), Variable(name='y'))
    """
    if names.is_of_triples(name):
        letters = ["s", "p", "o"]
    else:
        letters = ["x", "y", "z"][:arity] if arity <= 3 else [f"x{n}" for n in range(1, arity + 1)]
    return PredicateAtom(name, tuple(map(Variable, letters)))


def arities(rules: Iterable[FlatRule]) -> dict[str, int]:
    """The predicates of these rules and their numbers of arguments; groups are not among them."""
    found: dict[str, int] = {}
    for rule in rules:
        inner = [f for _, aggregate in rule.aggregates.values() for f in aggregate.body]
        for atom in (rule.head, *(atom for atom, _ in body_atoms((*rule.body, *inner)))):
            assert isinstance(atom, PredicateAtom)
            if atom.name not in rule.aggregates:
                found.setdefault(atom.name, len(atom.arguments))
    return found

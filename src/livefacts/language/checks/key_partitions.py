"""Partitioning: whether a program can be followed for each key by itself, and why not.

A *key* is an argument that all premises of a rule that come from a stream share.  If each of these
predicates has its key at one position, in every rule, and conclusions from them have it as well, then
facts of different keys never meet, and any share of the keys can have a reasoner of its own.  What
comes from the background alone is the same for all of them, and conclusions from it are, too; a rule
that concludes something with a key from the background does so everywhere, and who has the key
reports it.  So negation is no obstacle: what it denies has the key.

What looks at the facts of all keys at once decides against it: windows that are not by time, totals over keys, joins between keys, and conclusions without the key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TypeAlias

from pyoxigraph import NamedNode

from livefacts.language.checks.strata import body_atoms
from livefacts.language.formula import (
    Aggregate,
    Atom,
    Family,
    Formula,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
    family_of,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import is_by_time

Positions: TypeAlias = Mapping[Family, int]
"""Which argument of a predicate is its key, from 0; of a triple the subject is 0, the object 1."""
MOST_TRIED = 20_000
"""So many choices of positions are looked at."""
PLACES = ("first", "second", "third", "fourth", "fifth")
TRIPLE_PLACES = ("subject", "object")


@dataclass(frozen=True)
class Partitioning:
    """Where the key of each predicate stands; or the reasons why there is none."""

    positions: Positions = field(default_factory=dict)
    shared: frozenset[Family] = frozenset()
    """What comes from the background alone, or follows from that."""
    reasons: tuple[str, ...] = ()

    @property
    def is_proven(self) -> bool:
        """Whether the program can be followed for each key by itself."""
        return not self.reasons

    def __str__(self) -> str:
        if self.reasons:
            return "\n".join(["not by key:", *(f"  {reason}" for reason in self.reasons)])
        keys = [
            f"  {_called(family)}: its {_place(family, at)}"
            for family, at in self.positions.items()
        ]
        same = ", ".join(sorted(map(_called, self.shared)))
        return "\n".join(
            [
                "by key, which all premises of each rule that come from the stream share:",
                *sorted(keys),
                *([f"  the same for all keys, from the background: {same}"] if same else []),
            ]
        )


def partitioning_of(program: Program, background: Collection[Family] = ()) -> Partitioning:
    """Whether a program can be followed for each key by itself.

    `background` are the predicates that no stream brings.
    """
    rules = [rule for rule in program.rules if not rule.is_constraint]
    reasons = [*_obstacles(program)]
    if reasons:
        return Partitioning(reasons=tuple(reasons))
    keyed = _keyed(rules, frozenset(background))
    mentioned = {family_of(atom) for rule in rules for atom in _atoms(rule)}
    shared = frozenset(mentioned - keyed)
    if not keyed:
        reason = "no rule looks at what a stream brings"
        return Partitioning(shared=shared, reasons=(reason,))
    widths = {family_of(atom): len(_arguments(atom)) for rule in rules for atom in _atoms(rule)}
    found = _search(rules, keyed, widths)
    if found is not None:
        return Partitioning(found, shared)
    return Partitioning(reasons=tuple(_why_not(rules, keyed)))


def _obstacles(program: Program) -> Iterator[str]:
    """What decides against any key."""
    if program.limit is not None:
        yield "@limit is for the facts of all keys together"
    if any(rule.is_constraint for rule in program.rules):
        yield "constraints are reported for all keys together"
    for rule in program.rules:
        for atom in _atoms(rule):
            if isinstance(atom, TripleAtom) and family_of(atom) is None:
                yield f"{_named(rule)} looks at triples of any predicate"
                break
        for formula in _formulas(rule.body):
            window = formula.window if isinstance(formula, Timed) else None
            if window is not None and not is_by_time(window):
                yield f"{_named(rule)} has a window that follows the facts of all keys: [{window}]"


def _keyed(rules: Sequence[Rule], background: frozenset[Family]) -> set[Family]:
    """The predicates that a stream may bring, or that follow from one of these."""
    concluded = {family_of(rule.head) for rule in rules if rule.head is not None}
    read = {family_of(atom) for rule in rules for atom, _ in body_atoms(rule.body)}
    # What is concluded from the background alone could still come from a stream, too.
    keyed = read - concluded - background
    grows = True
    while grows:
        new = {
            family_of(rule.head)
            for rule in rules
            if rule.head is not None
            and any(family_of(atom) in keyed for atom, _ in body_atoms(rule.body))
        }
        grows = not new <= keyed
        keyed |= new
    return keyed


def _search(
    rules: Sequence[Rule], keyed: Collection[Family], widths: Mapping[Family, int]
) -> dict[Family, int] | None:
    """The first choice of positions under which every rule has its key."""
    order = [
        *dict.fromkeys(family_of(a) for r in rules for a in _atoms(r) if family_of(a) in keyed)
    ]
    if any(not widths[family] for family in order):
        return None
    last: dict[int, list[Rule]] = {}
    for rule in rules:
        places = [order.index(family_of(a)) for a in _atoms(rule) if family_of(a) in keyed]
        if places:
            last.setdefault(max(places), []).append(rule)
    choices = _choices(order, widths, last, keyed)
    return next((found for found in islice(choices, MOST_TRIED) if found is not None), None)


def _choices(
    order: Sequence[Family],
    widths: Mapping[Family, int],
    decided: Mapping[int, Sequence[Rule]],
    keyed: Collection[Family],
) -> Iterator[dict[Family, int] | None]:
    """All choices that no rule refuses; None where one was given up."""
    chosen: dict[Family, int] = {}

    def choose(number: int) -> Iterator[dict[Family, int] | None]:
        if number == len(order):
            yield dict(chosen)
            return
        for position in range(widths[order[number]]):
            chosen[order[number]] = position
            if all(_key_of(rule, chosen, keyed) is not None for rule in decided.get(number, ())):
                yield from choose(number + 1)
            else:
                yield None
        chosen.pop(order[number], None)

    return choose(0)


def _key_of(rule: Rule, positions: Positions, keyed: Collection[Family]) -> Slot | None:
    """What stands at the key of everything in a rule that has one; None if that is not one thing."""
    keys = [_arguments(a)[positions[family_of(a)]] for a in _atoms(rule) if family_of(a) in keyed]
    key = keys[0]
    if any(each != key for each in keys):
        return None
    head = rule.head
    reads_a_key = any(family_of(atom) in keyed for atom, _ in body_atoms(rule.body))
    if reads_a_key and (head is None or family_of(head) not in keyed):
        return None
    for formula in rule.body:
        if isinstance(formula, Aggregate) and isinstance(key, Variable):
            inner = {family_of(atom) for atom, _ in body_atoms(formula.body)}
            if inner & set(keyed) and key not in rule.groups_of(formula):
                return None
    return key


def _why_not(rules: Sequence[Rule], keyed: Collection[Family]) -> Iterator[str]:
    """The rules that have no key whatever is chosen; if each has one, that they do not agree."""
    alone = False
    for rule in rules:
        atoms = [atom for atom in _atoms(rule) if family_of(atom) in keyed]
        if not atoms:
            continue
        shared = set.intersection(*(set(map(str, _arguments(atom))) for atom in atoms))
        if not shared:
            alone = True
            yield _no_key(rule, keyed)
    if not alone:
        names = ", ".join(sorted(map(_called, keyed)))
        yield f"no argument is the key in all rules at once: {names}"


def _no_key(rule: Rule, keyed: Collection[Family]) -> str:
    premises = [atom for atom, _ in body_atoms(rule.body) if family_of(atom) in keyed]
    if not premises:
        return f"{_named(rule)} concludes from the background what has no key"
    common = set.intersection(*(set(map(str, _arguments(atom))) for atom in premises))
    if not common:
        return f"{_named(rule)} joins facts of different keys, or has premises without one"
    return f"{_named(rule)} concludes something without the key: {', '.join(sorted(common))}"


def _atoms(rule: Rule) -> Iterator[Atom]:
    if rule.head is not None:
        yield rule.head
    for atom, _ in body_atoms(rule.body):
        yield atom


def _formulas(body: Iterable[Formula]) -> Iterator[Formula]:
    for formula in body:
        yield formula
        if isinstance(formula, Aggregate):
            yield from _formulas(formula.body)


def _arguments(atom: Atom) -> tuple[Slot, ...]:
    """Where a key may stand."""
    return atom.arguments if isinstance(atom, PredicateAtom) else (atom.subject, atom.object)


def _named(rule: Rule) -> str:
    return f"rule {rule.id or rule.place.line}"


def _called(family: Family) -> str:
    return family.value if isinstance(family, NamedNode) else str(family)


def _place(family: Family, at: int) -> str:
    if isinstance(family, NamedNode):
        return TRIPLE_PLACES[at]
    return f"{PLACES[at] if at < len(PLACES) else f'{at + 1}th'} argument"

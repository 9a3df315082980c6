"""The chase of a symbolic triple under a closed schema: what follows from any triple of a kind.

A kind of triple is its predicate, or its predicate and object where some rule looks at
the object (rdf:type and its classes).  Its consequences are computed once, with the
subject and the object as unknowns, and hold for every triple of the kind.

Paper: DynamiTE, section 3.2; the support of a conclusion by asserted triples is sound
under cycles, unlike counting derivations (section 5.2 there).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.kernel import registers as code
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.schema_split import is_schema
from livefacts.store.terms.dictionary import Dictionary

Symbolic = tuple[int, int, int]
"""A triple of ids, in which SUBJECT and OBJECT stand for those of the triple followed."""
Pattern = tuple[int, int, int]
"""Ids, and ~n for variable number n: variables are numbered in the order they are bound in."""
Values = tuple[int, ...]
"""What the variables bound so far stand for, by number."""
Key = TypeVar("Key", int, tuple[int, int])
Lookup = tuple[int | None, int, int | None]
Follows = tuple[tuple[Symbolic, ...], frozenset[Lookup]]
"""What follows from a triple, and where that was looked up."""


class NeedsObjectError(Exception):
    """The consequences depend on the object: the kind must name it."""


class NotSingleError(Exception):
    """The consequences depend on the subject: the rules cannot follow single triples."""


class ClosedSchema:
    """The closed schema's triples, looked up by predicate with subject or object.

    >>> schema = ClosedSchema([(1, 7, 2), (2, 7, 3)])
    >>> sorted(schema.match(1, 7, None))
    [(1, 7, 2)]
    """

    def __init__(self, triples: Iterable[Symbolic] = ()) -> None:
        self._by_subject: dict[tuple[int, int], set[Symbolic]] = {}
        self._by_object: dict[tuple[int, int], set[Symbolic]] = {}
        self._by_predicate: dict[int, set[Symbolic]] = {}
        self.looked_up: set[Lookup] = set()
        """Where `match` has looked since this was last emptied."""
        self.changes = 0
        """How often triples have come or gone."""
        self.add(triples)

    def add(self, triples: Iterable[Symbolic]) -> None:
        self.changes += 1
        for triple in triples:
            s, p, o = triple
            self._by_subject.setdefault((p, s), set()).add(triple)
            self._by_object.setdefault((p, o), set()).add(triple)
            self._by_predicate.setdefault(p, set()).add(triple)

    def remove(self, triples: Iterable[Symbolic]) -> None:
        self.changes += 1
        for triple in triples:
            s, p, o = triple
            _discard(self._by_subject, (p, s), triple)
            _discard(self._by_object, (p, o), triple)
            _discard(self._by_predicate, p, triple)

    def match(self, s: int | None, p: int, o: int | None) -> Collection[Symbolic]:
        self.looked_up.add((s, p, o))
        if s is None:
            return self._by_predicate.get(p, ()) if o is None else self._by_object.get((p, o), ())
        found = self._by_subject.get((p, s), ())
        if o is None:
            return found
        return ((s, p, o),) if (s, p, o) in found else ()


@dataclass(frozen=True, slots=True)
class SchemaStep:
    """A schema premise: what is known of it when its turn comes, and what it binds."""

    subject: int | None
    predicate: int
    object: int | None
    binds: tuple[int, ...]
    """The columns whose variables it is the first to bind."""
    is_loop: bool
    """Whether subject and object are one new variable."""

    def extend(self, found: list[Values], schema: ClosedSchema) -> list[Values]:
        """The ways to go on from these values."""
        longer = []
        for values in found:
            s, o = _value(self.subject, values), _value(self.object, values)
            for triple in schema.match(s, self.predicate, o):
                if not self.is_loop or triple[0] == triple[2]:
                    longer.append((*values, *[triple[column] for column in self.binds]))
        return longer


@dataclass(frozen=True, slots=True)
class SingleRule:
    """A rule of the split, in ids: its instance premise, its schema premises, its head.

    `looks_at` says for each column of the premise whether the schema joins with it.
    """

    premise: Pattern
    looks_at: tuple[bool, bool, bool]
    steps: tuple[SchemaStep, ...]
    head: Pattern

    def one_step(self, triple: Symbolic, schema: ClosedSchema) -> Iterator[Symbolic]:
        """What follows from a triple by this rule."""
        start = self._fitted(triple)
        found = [] if start is None else [start]
        for step in self.steps:
            if not found:
                break
            found = step.extend(found, schema)
        s, p, o = self.head
        for values in found:
            predicate = values[~p] if p < 0 else p
            if predicate < 0:
                raise _unknown(predicate)
            yield values[~s] if s < 0 else s, predicate, values[~o] if o < 0 else o

    def _fitted(self, triple: Symbolic) -> Values | None:
        """What the premise's variables stand for, or None if the triple does not fit."""
        values: list[int] = []
        for wanted, value, is_looked_at in zip(self.premise, triple, self.looks_at, strict=True):
            if wanted < 0 and value < 0 and is_looked_at:
                raise _unknown(value)
            if ~wanted == len(values):
                values.append(value)
                continue
            known = values[~wanted] if wanted < 0 else wanted
            if known != value:
                if wanted < 0 and (value < 0 or known < 0):
                    raise NotSingleError
                if value < 0:
                    raise _unknown(value)
                return None
        return tuple(values)


class Chase:
    """Rules of the split under one schema; single steps are remembered while it stays."""

    def __init__(self, rules: Sequence[SingleRule], schema: ClosedSchema) -> None:
        self._schema = schema
        self._rules = rules
        self._of: dict[int, list[SingleRule]] = {}
        self._known: dict[Symbolic, Follows] = {}
        self._changes = schema.changes

    def consequences(self, kind: Symbolic) -> Follows:
        """Everything that follows, in one step or more, from a triple of this kind."""
        if self._changes != self._schema.changes:
            self._known.clear()
            self._changes = self._schema.changes
        found: dict[Symbolic, None] = {}
        lookups: set[Lookup] = set()
        waiting = [kind]
        while waiting:
            heads, looked_up = self._one_step(waiting.pop())
            lookups |= looked_up
            for head in heads:
                if head not in found:
                    found[head] = None
                    waiting.append(head)
        return tuple(found), frozenset(lookups)

    def forget(self) -> None:
        """Remember nothing of single steps: ids may come to mean other terms."""
        self._known.clear()
        self._of.clear()

    def _one_step(self, triple: Symbolic) -> Follows:
        known = self._known.get(triple)
        if known is None:
            self._schema.looked_up.clear()
            heads: dict[Symbolic, None] = {}
            for rule in self._rules_for(triple[1]):
                heads |= dict.fromkeys(rule.one_step(triple, self._schema))
            known = self._known[triple] = tuple(heads), frozenset(self._schema.looked_up)
        return known

    def _rules_for(self, predicate: int) -> list[SingleRule]:
        """The rules whose premise a triple with this predicate may be."""
        if predicate not in self._of:
            self._of[predicate] = [
                rule for rule in self._rules if rule.premise[1] < 0 or rule.premise[1] == predicate
            ]
        return self._of[predicate]


def _discard(sets: dict[Key, set[Symbolic]], key: Key, triple: Symbolic) -> None:
    """Take a triple out of one of these sets, and the set with its last one."""
    found = sets.get(key, set())
    found.discard(triple)
    if not found:
        sets.pop(key, None)


def single_rules(rules: Sequence[Rule], dictionary: Dictionary) -> tuple[SingleRule, ...]:
    """The rules of the split that have an instance premise."""
    found = []
    for rule in rules:
        atoms = [atom for atom in rule.body if isinstance(atom, TripleAtom)]
        assert isinstance(rule.head, TripleAtom)
        instance = [atom for atom in atoms if not is_schema(atom)]
        if instance:
            (premise,) = instance
            schema = [atom for atom in atoms if is_schema(atom)]
            found.append(_single_rule(premise, schema, rule.head, dictionary))
    return tuple(found)


def _single_rule(
    premise: TripleAtom, schema: list[TripleAtom], head: TripleAtom, dictionary: Dictionary
) -> SingleRule:
    numbers: dict[Variable, int] = {}
    first = _pattern(premise, numbers, dictionary)
    joined = {slot for atom in schema for slot in atom.slots if isinstance(slot, Variable)}
    s, p, o = (slot in joined for slot in premise.slots)
    steps = []
    while schema:
        best = max(schema, key=lambda atom: _known(atom, numbers))
        schema.remove(best)
        steps.append(_schema_step(best, numbers, dictionary))
    return SingleRule(first, (s, p, o), tuple(steps), _pattern(head, numbers, dictionary))


def _known(atom: TripleAtom, numbers: Mapping[Variable, int]) -> int:
    return sum(not isinstance(slot, Variable) or slot in numbers for slot in atom.slots)


def _schema_step(
    atom: TripleAtom, numbers: dict[Variable, int], dictionary: Dictionary
) -> SchemaStep:
    bound = len(numbers)
    s, p, o = _pattern(atom, numbers, dictionary)
    assert p >= 0, "a schema atom has a constant predicate"
    is_new = [slot < 0 and ~slot >= bound for slot in (s, o)]
    is_loop = all(is_new) and s == o
    binds = [column for column, new in zip((0, 2), is_new, strict=True) if new]
    return SchemaStep(
        None if is_new[0] else s,
        p,
        None if is_new[1] else o,
        tuple(binds[:1] if is_loop else binds),
        is_loop,
    )


def _pattern(atom: TripleAtom, numbers: dict[Variable, int], dictionary: Dictionary) -> Pattern:
    """An atom in ids; variables that are met for the first time are numbered."""
    s, p, o = (
        ~numbers.setdefault(slot, len(numbers))
        if isinstance(slot, Variable)
        else int(dictionary.encode_one(slot))
        for slot in atom.slots
    )
    return s, p, o


def _value(slot: int | None, values: Values) -> int | None:
    return values[~slot] if slot is not None and slot < 0 else slot


def _unknown(value: int) -> Exception:
    return NeedsObjectError() if value == code.OBJECT else NotSingleError()


def lookups_of(triple: Symbolic) -> tuple[Lookup, ...]:
    """All lookups that find a triple."""
    s, p, o = triple
    return (s, p, o), (s, p, None), (None, p, o), (None, p, None)


def as_triples(ids: Ids) -> list[Symbolic]:
    """Rows of ids as tuples."""
    return [(s, p, o) for s, p, o in ids.tolist()]

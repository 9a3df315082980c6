"""What follows from one triple: the chase of a symbolic triple under a closed schema.

A kind of triple is its predicate, or its predicate and object where some rule looks at
the object (rdf:type and its classes).  Its consequences are computed once, with the
subject and the object as unknowns, and hold for every triple of the kind.

Paper: DynamiTE, section 3.2; the support of a conclusion by asserted triples is sound
under cycles, unlike counting derivations (section 5.2 there).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from livefacts.engine.contract import Ids
from livefacts.plan.split import is_schema
from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.program import Rule
from livefacts.store.dictionary import Dictionary

SUBJECT = -1
OBJECT = -2
Symbolic = tuple[int, int, int]
"""A triple of ids, in which SUBJECT and OBJECT stand for those of the triple followed."""
Pattern = tuple[int | Variable, int | Variable, int | Variable]
Bindings = dict[Variable, int]
Lookup = tuple[int | None, int, int | None]


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
        self.add(triples)

    def add(self, triples: Iterable[Symbolic]) -> None:
        for triple in triples:
            s, p, o = triple
            self._by_subject.setdefault((p, s), set()).add(triple)
            self._by_object.setdefault((p, o), set()).add(triple)
            self._by_predicate.setdefault(p, set()).add(triple)

    def remove(self, triples: Iterable[Symbolic]) -> None:
        for triple in triples:
            s, p, o = triple
            self._by_subject.get((p, s), set()).discard(triple)
            self._by_object.get((p, o), set()).discard(triple)
            self._by_predicate.get(p, set()).discard(triple)

    def match(self, s: int | None, p: int, o: int | None) -> Iterator[Symbolic]:
        self.looked_up.add((s, p, o))
        if s is not None:
            found = self._by_subject.get((p, s), ())
            yield from (t for t in found if o is None or t[2] == o)
        elif o is not None:
            yield from self._by_object.get((p, o), ())
        else:
            yield from self._by_predicate.get(p, ())


@dataclass(frozen=True, slots=True)
class SingleRule:
    """A rule of the split, in ids: its instance premise, its schema premises, its head.

    `looks_at` are the variables that join the instance premise with the schema.
    """

    premise: Pattern
    schema: tuple[Pattern, ...]
    head: Pattern
    looks_at: frozenset[Variable]


def single_rules(rules: Sequence[Rule], dictionary: Dictionary) -> tuple[SingleRule, ...]:
    """The rules of the split that have an instance premise."""
    found = []
    for rule in rules:
        atoms = [atom for atom in rule.body if isinstance(atom, TripleAtom)]
        assert isinstance(rule.head, TripleAtom)
        instance = [atom for atom in atoms if not is_schema(atom)]
        if instance:
            schema = tuple(_pattern(atom, dictionary) for atom in atoms if is_schema(atom))
            (premise,) = instance
            looks_at = frozenset(v for atom in schema for v in atom if isinstance(v, Variable))
            head = _pattern(rule.head, dictionary)
            found.append(SingleRule(_pattern(premise, dictionary), schema, head, looks_at))
    return tuple(found)


def _pattern(atom: TripleAtom, dictionary: Dictionary) -> Pattern:
    s, p, o = (
        slot if isinstance(slot, Variable) else int(dictionary.encode_one(slot))
        for slot in atom.slots
    )
    return s, p, o


def consequences(
    kind: Symbolic, rules: Sequence[SingleRule], schema: ClosedSchema
) -> tuple[Symbolic, ...]:
    """Everything that follows, in one step or more, from a triple of this kind."""
    found: dict[Symbolic, None] = {}
    waiting = [kind]
    while waiting:
        triple = waiting.pop()
        for rule in rules:
            if rule.premise[1] != triple[1] and not isinstance(rule.premise[1], Variable):
                continue
            for head in _one_step(triple, rule, schema):
                if head not in found:
                    found[head] = None
                    waiting.append(head)
    return tuple(found)


def _one_step(triple: Symbolic, rule: SingleRule, schema: ClosedSchema) -> Iterator[Symbolic]:
    start: Bindings = {}
    for wanted, value in zip(rule.premise, triple, strict=True):
        if isinstance(wanted, Variable):
            if value < 0 and wanted in rule.looks_at:
                raise NeedsObjectError if value == OBJECT else NotSingleError
            if start.setdefault(wanted, value) != value:
                if value < 0 or start[wanted] < 0:
                    raise NotSingleError
                return
        elif wanted != value:
            if value < 0:
                raise NeedsObjectError if value == OBJECT else NotSingleError
            return
    for bindings in _joined(rule.schema, start, schema):
        s, p, o = (bindings[x] if isinstance(x, Variable) else x for x in rule.head)
        if p < 0:
            raise NeedsObjectError if p == OBJECT else NotSingleError
        yield s, p, o


def _joined(
    atoms: Sequence[Pattern], bindings: Bindings, schema: ClosedSchema
) -> Iterator[Bindings]:
    """The ways in which the schema premises hold; the best bound one first."""
    if not atoms:
        yield bindings
        return
    known = [sum(x in bindings or not isinstance(x, Variable) for x in atom) for atom in atoms]
    best = known.index(max(known))
    s, p, o = (bindings.get(x) if isinstance(x, Variable) else x for x in atoms[best])
    assert p is not None, "a schema atom has a constant predicate"
    rest = [*atoms[:best], *atoms[best + 1 :]]
    for triple in schema.match(s, p, o):
        extended = dict(bindings)
        pairs = zip(atoms[best], triple, strict=True)
        if all(extended.setdefault(x, v) == v for x, v in pairs if isinstance(x, Variable)):
            yield from _joined(rest, extended, schema)


def lookups_of(triple: Symbolic) -> tuple[Lookup, ...]:
    """All lookups that find a triple."""
    s, p, o = triple
    return (s, p, o), (s, p, None), (None, p, o), (None, p, None)


def as_triples(ids: Ids) -> list[Symbolic]:
    """Rows of ids as tuples."""
    return [(s, p, o) for s, p, o in ids.tolist()]

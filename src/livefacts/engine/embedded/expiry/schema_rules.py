"""Schema rules: rules that read a schema, replaced by their instances for the schema at hand.

A rule that reads the schema (`[?x, a, ?d] :- [?c, rdfs:subClassOf, ?d], [?x, a, ?c]`) is
replaced by its instances for the schema of the background (partial evaluation), so that of
all rules only those are left that can matter to what is asked, and a fact is not looked at by
rules that have nothing to say about it.

That is exact as long as facts that come add nothing to the schema from which something new
follows.  Facts that belong to the schema themselves are not admitted.  A rule may conclude
something about the schema from any fact, by its predicate (every predicate is a property, and
a subproperty of itself): predicates are learned one by one, and admitted if the instances
stay the same, those left out that conclude what they start from.  Where facts are not
admitted, the rules are followed as they were written.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import Ids
from livefacts.engine.embedded.expiry.timed_engine import FOREVER, ExpiringEngine
from livefacts.engine.embedded.schema.chase import ClosedSchema, as_triples
from livefacts.language.formula import Atom, PredicateAtom, TripleAtom, Variable, filled
from livefacts.language.program import Rule
from livefacts.model.facts import Term
from livefacts.plan.rules.schema_split import TYPE, is_schema
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary

MOST_INSTANCES = 4096
MOST_PREDICATES = 1024
NO_TRIPLES = np.zeros((0, 3), np.int32)
Pattern = list[int | Variable]


class SchemaRules:
    """Positive rules, as they are to be followed with the schema that is asserted."""

    def __init__(self, rules: Sequence[Rule], asserted: Ids, dictionary: Dictionary) -> None:
        """`asserted` are all triples of the background."""
        self._dictionary = dictionary
        self._templates = [rule for rule in rules if _is_template(rule)]
        self._fixed = [rule for rule in rules if not _is_template(rule)]
        read = [atom for rule in rules for atom in _atoms(rule) if is_schema(atom)]
        self._read = _Kinds(read, dictionary)
        self._seen: set[int] = set()
        self._by_predicate: list[Rule] = []
        self.rules: tuple[Rule, ...] = ()
        """The rules to follow while `is_exact`."""
        self.is_exact = bool(self._templates) and self._settles(asserted)

    def admits(self, triples: Ids) -> bool:
        """Whether the rules stay right when these triples come; from then on, if not, never."""
        if self.is_exact and self._read.are_among(triples).any():
            self.is_exact = False
        predicates = np.unique(triples[:, 1]).tolist() if self.is_exact else []
        new = [predicate for predicate in predicates if predicate not in self._seen]
        if new:
            self.is_exact = self._learns(new)
        return self.is_exact

    def held_ids(self) -> Iterator[Ids]:
        """The ids of what is known of the schema."""
        yield np.array(sorted(self._seen), np.int32)
        if self.is_exact:
            yield from self._closing.held_ids()

    # the beginning

    def _settles(self, asserted: Ids) -> bool:
        """Make the instances for a schema; whether they can take the place of the rules."""
        schema = asserted[self._read.are_among(asserted)]
        closing = [rule for rule in self._fixed if self._closes(rule)]
        while True:
            self._closing = ExpiringEngine(self._dictionary, closing)
            self._closing.give({TRIPLES: schema}, FOREVER)
            instances = self._instances()
            if instances is None:
                return False
            more = [rule for rule in instances if self._closes(rule) and rule not in closing]
            if not more:
                break
            closing += more
        self.rules = (*self._fixed, *instances)
        return self._keeps_apart() and self._learns(self._predicates(asserted))

    def _closes(self, rule: Rule) -> bool:
        """Whether a rule concludes schema from schema."""
        return all(map(is_schema, _atoms(rule))) and self._may_add(rule)

    def _may_add(self, rule: Rule) -> bool:
        return isinstance(rule.head, TripleAtom) and self._read.can_have(rule.head)

    def _keeps_apart(self) -> bool:
        """Whether schema follows from other facts by their predicates alone."""
        adding = [rule for rule in self.rules if self._may_add(rule) and not self._closes(rule)]
        self._by_predicate = [rule for rule in adding if _looks_at_predicate(rule)]
        return len(self._by_predicate) == len(adding)

    def _predicates(self, asserted: Ids) -> list[int]:
        """The ids of all predicates that are asserted or concluded."""
        heads = [rule.head.predicate for rule in self.rules if isinstance(rule.head, TripleAtom)]
        named = [self._dictionary.encode_one(p) for p in heads if isinstance(p, NamedNode)]
        return sorted({*np.unique(asserted[:, 1]).tolist(), *map(int, named)})

    # instances

    def _instances(self) -> list[Rule] | None:
        """The rules for the schema as it is closed; None if they are none, or too many."""
        known = self._closing.rows(TRIPLES)[0]
        schema = ClosedSchema(as_triples(known[self._read.are_among(known)]))
        found: dict[Rule, None] = {}
        for template in self._templates:
            patterns = [self._in_ids(atom) for atom in _atoms(template) if is_schema(atom)]
            for terms in self._bindings(patterns, schema):
                instance = _instance(template, terms)
                if instance.head not in instance.body:
                    found[instance] = None
                if len(found) > MOST_INSTANCES:
                    return None
        return list(found) if all(map(_is_writable, found)) else None

    def _bindings(
        self, patterns: Sequence[Pattern], schema: ClosedSchema
    ) -> Iterator[Mapping[Variable, Term]]:
        for bindings in _joined(patterns, {}, schema):
            terms = self._dictionary.decode(list(bindings.values()))
            yield dict(zip(bindings, terms, strict=True))

    def _in_ids(self, atom: Atom) -> Pattern:
        """A triple atom whose constants are ids."""
        encode = self._dictionary.encode_one
        return [slot if isinstance(slot, Variable) else int(encode(slot)) for slot in atom.slots]

    def _learns(self, predicates: Sequence[int]) -> bool:
        """Take note of predicates; whether the instances are still the right ones."""
        self._seen.update(predicates)
        if len(self._seen) > MOST_PREDICATES:
            return False
        new = [head for rule in self._by_predicate for head in self._heads(rule, predicates)]
        if not new:
            return True
        delta = self._closing.give({TRIPLES: np.array(new, np.int32)}, FOREVER)
        if not len(delta.came().get(TRIPLES, NO_TRIPLES)):
            return True
        now = self._instances()
        return now is not None and set(now) <= set(self.rules)

    def _heads(self, rule: Rule, predicates: Iterable[int]) -> Iterator[Sequence[int]]:
        """What a rule that looks at predicates concludes from these."""
        assert rule.head is not None
        slots = self._in_ids(rule.head)
        for predicate in predicates:
            yield [predicate if isinstance(slot, Variable) else slot for slot in slots]


class _Kinds:
    """Triples of some predicates, or of rdf:type with some classes."""

    def __init__(self, atoms: Iterable[Atom], dictionary: Dictionary) -> None:
        triples = [atom for atom in atoms if isinstance(atom, TripleAtom)]
        self._properties = {atom.predicate for atom in triples if atom.predicate != TYPE}
        self._classes = {atom.object for atom in triples if atom.predicate == TYPE}
        encode = dictionary.encode_one
        self._type = int(encode(TYPE))
        self._property_ids = np.array([encode(p) for p in self._properties], np.int32)  # type: ignore[arg-type]
        self._class_ids = np.array([encode(c) for c in self._classes], np.int32)  # type: ignore[arg-type]

    def are_among(self, triples: Ids) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        """Which triples are of these kinds."""
        are_types = triples[:, 1] == self._type
        found = np.isin(triples[:, 1], self._property_ids)
        if len(self._class_ids) and are_types.any():
            found |= are_types & np.isin(triples[:, 2], self._class_ids)
        return found

    def can_have(self, head: TripleAtom) -> bool:
        """Whether a conclusion may be of these kinds."""
        if isinstance(head.predicate, Variable):
            return True
        if head.predicate != TYPE:
            return head.predicate in self._properties
        return isinstance(head.object, Variable) or head.object in self._classes


def _atoms(rule: Rule) -> list[Atom]:
    return [part for part in rule.body if isinstance(part, TripleAtom | PredicateAtom)]


def _joined(
    atoms: Sequence[Pattern], bindings: Mapping[Variable, int], schema: ClosedSchema
) -> Iterator[Mapping[Variable, int]]:
    """The ways in which schema atoms hold; the best bound one first."""
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


def _is_template(rule: Rule) -> bool:
    """Whether a rule reads the schema and something else."""
    reads = [is_schema(atom) for atom in _atoms(rule)]
    return any(reads) and not all(reads)


def _instance(template: Rule, terms: Mapping[Variable, Term]) -> Rule:
    assert template.head is not None
    head = filled(template.head, terms)
    assert isinstance(head, TripleAtom | PredicateAtom), "an atom stays an atom"
    parts = (p for p in template.body if not isinstance(p, TripleAtom) or not is_schema(p))
    return replace(template, head=head, body=tuple(filled(part, terms) for part in parts))


def _is_writable(rule: Rule) -> bool:
    """Whether predicates are variables or IRIs."""
    atoms = [atom for atom in (rule.head, *_atoms(rule)) if isinstance(atom, TripleAtom)]
    return all(isinstance(atom.predicate, Variable | NamedNode) for atom in atoms)


def _looks_at_predicate(rule: Rule) -> bool:
    """Whether a rule is about the predicate of any triple, and nothing else of it."""
    if len(rule.body) != 1 or not isinstance(rule.body[0], TripleAtom):
        return False
    slots = rule.body[0].slots
    if len(set(slots)) != 3 or not all(isinstance(slot, Variable) for slot in slots):
        return False
    assert isinstance(rule.head, TripleAtom)
    variables = {slot for slot in rule.head.slots if isinstance(slot, Variable)}
    return variables == {slots[1]}

"""The closure of the schema, in the driver: from schema triples to the consequences of every kind.

The schema's triples are few; the embedded engine closes them in memory under all rules,
and what follows from every kind of triple is chased under the closed schema.  Kinds from
whose triples schema triples follow join the schema, until none is left.  The embedded engine
runs here because the schema fits in one process, and tasks only look up what was found.  Whole
programs that fit are closed here as well.

Ids are hashes in the tables and small numbers in the embedded engine; rules speak of no term
but their constants, so each hash stands for itself there under a number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import Change, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.kernel import registers
from livefacts.engine.embedded.schema import chase
from livefacts.kb.consequences import CONSTANT, OBJECT, SUBJECT, Head, Kind, Place
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.model.facts import Term
from livefacts.plan import compile_rules
from livefacts.plan.rules.normal_form import is_positive
from livefacts.plan.rules.schema_split import TYPE, is_schema
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.hash_ids import HashIds

MOST_KINDS = 100_000
STAND_IN = "x-livefacts-id:"
PLACES = {registers.SUBJECT: (SUBJECT, 0), registers.OBJECT: (OBJECT, 0)}

Fetch = Callable[[frozenset[Kind]], HashIds]
"""The asserted triples of some kinds."""
CountKinds = Callable[[frozenset[int]], Mapping[Kind, int]]
"""How many asserted triples each kind has; those of some predicates are by object."""


class SchemaNotSingleError(Exception):
    """The data do not let the rules follow single triples; the text says why."""


@dataclass(frozen=True, slots=True)
class SchemaConsequences:
    """What follows from the schema, and from each kind of other triples.

    `kinds` are those that belong to the schema, `told` its asserted triples, `derived` what
    follows from them; `by_object` are predicates whose kinds name the object.
    """

    kinds: frozenset[Kind]
    told: frozenset[tuple[int, int, int]]
    derived: frozenset[tuple[int, int, int]]
    heads: Mapping[Kind, tuple[Head, ...]]
    by_object: frozenset[int]
    rounds: int = field(default=1, compare=False)


def is_followed_singly(rule: Rule) -> bool:
    """Whether all premises of a rule but one at most speak of the schema."""
    if not isinstance(rule.head, TripleAtom) or not is_positive(rule):
        return False
    atoms = [atom for atom in rule.body if isinstance(atom, TripleAtom)]
    return len(atoms) == len(rule.body) and sum(not is_schema(atom) for atom in atoms) <= 1


class Numbers:
    """Small numbers for hash ids, and back."""

    def __init__(self, id_of: Callable[[object], int]) -> None:
        self.dictionary = Dictionary()
        self._id_of = id_of
        self._ids: dict[int, int] = {}
        self._numbers: dict[int, int] = {}

    def know(self, rules: Iterable[Rule]) -> None:
        """Give the constants of rules the ids that they have in the tables."""
        for rule in rules:
            for atom in (rule.head, *rule.body):
                assert isinstance(atom, TripleAtom)
                for slot in atom.slots:
                    if not isinstance(slot, Variable):
                        self._pair(int(self.dictionary.encode_one(slot)), self._id_of(slot))

    def _pair(self, number: int, hashed: int) -> None:
        self._ids[number] = hashed
        self._numbers[hashed] = number

    def number(self, hashed: int) -> int:
        known = self._numbers.get(hashed)
        if known is None:
            known = int(self.dictionary.encode_one(NamedNode(f"{STAND_IN}{hashed}")))
            self._pair(known, hashed)
        return known

    def numbers(self, triples: HashIds) -> Ids:
        distinct, places = np.unique(triples, return_inverse=True)
        known = np.array([self.number(each) for each in distinct.tolist()], np.int32)
        return known[places].reshape(-1, 3)

    def hashed(self, number: int) -> int:
        return self._ids[number]

    def place(self, number: int) -> Place:
        return PLACES.get(number) or (CONSTANT, self._ids[number])

    def kind(self, kind: Kind) -> Kind:
        return self.number(kind[0]), None if kind[1] is None else self.number(kind[1])


class SchemaCloser:
    """Closes the schema of one program over asserted triples that it asks for by kind."""

    def __init__(
        self,
        rules: Sequence[Rule],
        id_of: Callable[[object], int],
        fetch: Fetch,
        count_kinds: CountKinds,
    ) -> None:
        self._numbers = Numbers(id_of)
        self._numbers.know(rules)
        self._fetch = fetch
        self._count_kinds = count_kinds
        self._plan = compile_rules(rules).general()
        self._single = chase.single_rules(rules, self._numbers.dictionary)
        self._schema_kinds = {
            (id_of(atom.predicate), _class_id(atom, id_of))
            for rule in rules
            for atom in rule.body
            if isinstance(atom, TripleAtom) and is_schema(atom)
        }
        self._by_object = {p for p, o in self._schema_kinds if o is not None}
        if any(_looks_at_classes(rule) for rule in rules):
            self._by_object.add(id_of(TYPE))

    @property
    def by_object(self) -> frozenset[int]:
        """The predicates whose kinds name the object, as far as is known."""
        return frozenset(self._by_object)

    def close(self) -> SchemaConsequences:
        """Close the schema, and chase every kind that there are triples of."""
        extra: set[tuple[int, int, int]] = set()
        rounds = 0
        while True:
            rounds += 1
            kinds = frozenset(self._schema_kinds)
            told = self._fetch(kinds)
            closed = self._closure(told, extra)
            found = self._chase_all(closed)
            if found is None:
                continue
            joining, new = self._widening(found, extra)
            if not joining and not new:
                break
            self._schema_kinds |= joining
            extra |= new
        roots = frozenset(map(tuple, told.tolist()))
        heads = {kind: tuple(map(self._head, each)) for kind, each in found.items() if each}
        derived = frozenset(self._hashed(closed)) - roots
        return SchemaConsequences(
            frozenset(self._schema_kinds), roots, derived, heads, frozenset(self._by_object), rounds
        )

    def _closure(self, told: HashIds, extra: set[tuple[int, int, int]]) -> Ids:
        engine = EmbeddedEngine(self._numbers.dictionary, self._plan, single_path=False)
        given = np.concatenate([told, np.array(sorted(extra), np.int64).reshape(-1, 3)])
        engine.apply(Change({TRIPLES: self._numbers.numbers(given)}))
        return engine.facts()[TRIPLES]

    def _chase_all(self, closed: Ids) -> dict[Kind, tuple[chase.Symbolic, ...]] | None:
        """The consequences of every kind, or None where a predicate must name its objects."""
        counts = self._count_kinds(frozenset(self._by_object))
        kinds = [kind for kind in counts if not self._is_schema(kind)]
        if len(kinds) > MOST_KINDS:
            raise SchemaNotSingleError(f"there are more than {MOST_KINDS:,} kinds of triples")
        schema = chase.Chase(self._single, chase.ClosedSchema(chase.as_triples(closed)))
        found = {}
        for kind in kinds:
            predicate, obj = self._numbers.kind(kind)
            symbolic = (registers.SUBJECT, predicate, registers.OBJECT if obj is None else obj)
            try:
                heads, _ = schema.consequences(symbolic)
            except chase.NeedsObjectError:
                self._by_object.add(kind[0])
                return None
            except chase.NotSingleError as error:
                raise SchemaNotSingleError(
                    "a rule looks at the subject of its one premise"
                ) from error
            found[kind] = tuple(head for head in heads if head != symbolic)
        return found

    def _widening(
        self, found: Mapping[Kind, tuple[chase.Symbolic, ...]], known: set[tuple[int, int, int]]
    ) -> tuple[set[Kind], set[tuple[int, int, int]]]:
        """Kinds from which schema triples follow, and schema triples that follow as they are."""
        joining: set[Kind] = set()
        told: set[tuple[int, int, int]] = set()
        for kind, heads in found.items():
            for s, p, o in heads:
                predicate = self._numbers.hashed(p)
                if o < 0:
                    if predicate in self._by_object:
                        raise SchemaNotSingleError("a rule makes classes of what it finds")
                    fits = (predicate, None) in self._schema_kinds
                else:
                    fits = self._is_schema((predicate, self._numbers.hashed(o)))
                if fits and (s < 0 or o < 0):
                    joining.add(kind)
                elif fits:
                    hashed = self._numbers.hashed
                    told.add((hashed(s), predicate, hashed(o)))
        return joining, told - known

    def _is_schema(self, kind: Kind) -> bool:
        return kind in self._schema_kinds or (kind[0], None) in self._schema_kinds

    def _head(self, head: chase.Symbolic) -> Head:
        s, p, o = map(self._numbers.place, head)
        return s, p, o

    def _hashed(self, triples: Ids) -> list[tuple[int, int, int]]:
        hashed = self._numbers.hashed
        return [(hashed(s), hashed(p), hashed(o)) for s, p, o in triples.tolist()]


def closed_in_memory(
    dictionary: Dictionary, rules: Sequence[Rule], told: Mapping[int, Ids], limit: int
) -> dict[int, Ids]:
    """What follows from asserted facts, by shape; more conclusions than the limit are an error."""
    engine = EmbeddedEngine(dictionary, compile_rules(rules))
    engine.limit = limit
    engine.apply(Change(dict(told)))
    return dict(engine.derived())


def _looks_at_classes(rule: Rule) -> bool:
    """Whether an instance premise is rdf:type: then the class will matter."""
    atoms = [atom for atom in rule.body if isinstance(atom, TripleAtom)]
    return any(atom.predicate == TYPE and not is_schema(atom) for atom in atoms)


def _class_id(atom: TripleAtom, id_of: Callable[[object], int]) -> int | None:
    if atom.predicate == TYPE and not isinstance(atom.object, Variable):
        return id_of(atom.object)
    return None


def constants_of(rules: Sequence[Rule]) -> list[Term]:
    """The terms that rules of triples speak of, each once."""
    return list(
        {
            slot: None
            for rule in rules
            for atom in (rule.head, *rule.body)
            if isinstance(atom, TripleAtom)
            for slot in atom.slots
            if not isinstance(slot, Variable)
        }
    )

"""The single-triple path: a schema closed apart, and what follows from every other triple.

The schema's triples are closed under all rules of the split in an engine of their own,
which is small, and what follows from them is handed over.  Every other triple that is
told, or derived by another rule, then yields its consequences directly.  When the schema
grows, the kinds of triples whose consequences grow are visited again.

The schema begins as the triples that the rules' schema premises speak of.  It widens by
itself: a kind of triple from which schema triples follow (a subproperty of
rdfs:subClassOf, a subclass of rdfs:Class) belongs to the schema too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.engine.embedded import machine as code
from livefacts.engine.embedded.chase import (
    OBJECT,
    SUBJECT,
    ClosedSchema,
    NeedsObjectError,
    NotSingleError,
    Symbolic,
    as_triples,
    consequences,
    single_rules,
)
from livefacts.engine.embedded.interpreter import Interpreter
from livefacts.plan.split import TYPE, is_schema
from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.program import Rule
from livefacts.store.dictionary import Dictionary
from livefacts.store.layout import (
    COLUMN,
    EDGE,
    FLAGS,
    KNOWN_SCHEMA,
    LIVE,
    NEW_ROOT,
    OUT_ROWS,
    ROOT,
    VISIBLE,
)
from livefacts.store.rows import TRIPLES

Kind = tuple[int, int | None]
"""A predicate, or a predicate and an object."""
MOST_KINDS = 100_000
MOST_HEADS = OUT_ROWS // 2


class SinglePath:
    """The consequences of single triples, for one interpreter."""

    def __init__(
        self,
        rules: Sequence[Rule],
        interpreter: Interpreter,
        dictionary: Dictionary,
        close: Callable[[Ids], IdDelta],
    ) -> None:
        self._interpreter = interpreter
        self._store = interpreter.store
        self._rules = single_rules(rules, dictionary)
        self._close = close
        self._is_restoring = False
        self._schema = ClosedSchema()
        self._schema_kinds = _premise_kinds(rules, dictionary)
        self._heads: dict[Kind, tuple[Symbolic, ...]] = {}
        self._by_object: set[int] = {p for p, o in self._schema_kinds if o is not None}
        self._table = _KindTable()
        for kind in self._schema_kinds:
            self._table.put(kind, (), code.KEY_SCHEMA)
        for predicate in self._by_object:
            self._table.put((predicate, None), (), code.KEY_BY_OBJECT)

    # what the interpreter asks

    def consequences(self) -> code.Consequences:
        return self._table.arrays

    def on_key(self, _: int, predicate: int, obj: int) -> None:
        """A kind of triple that was never seen: find its consequences."""
        kind: Kind = (predicate, obj if predicate in self._by_object else None)
        self._learn(kind)

    def on_schema(self, s: int, p: int, o: int) -> None:
        """A rule has derived a triple of the schema."""
        self.take_in(np.array([[s, p, o]], np.int32))

    # the schema

    def take_in_new(self, triples: Ids) -> None:
        """Take in, all at once, those of these triples that belong to the schema."""
        if len(triples):
            mine = self._is_schema(triples)
            if mine.any():
                self.take_in(triples[mine])

    def restore(self) -> None:
        """Learn again, for a new path over facts that were followed before.

        What this gives to facts is the caller's to roll back.
        """
        self._is_restoring = True
        roots = self._store.columns(TRIPLES, self._store.with_flags(TRIPLES, LIVE | ROOT))
        self.take_in_new(roots)
        for predicate in np.unique(roots[:, 1]).tolist():
            if predicate not in self._by_object and (predicate, None) not in self._schema_kinds:
                self._learn((predicate, None))
            if predicate in self._by_object:
                for obj in np.unique(roots[roots[:, 1] == predicate, 2]).tolist():
                    if (predicate, obj) not in self._schema_kinds:
                        self._learn((predicate, obj))
        self._is_restoring = False

    def _is_schema(self, triples: Ids) -> Flags:
        mine = np.zeros(len(triples), np.bool_)
        for predicate, obj in self._schema_kinds:
            fits = triples[:, 1] == predicate
            mine |= fits if obj is None else fits & (triples[:, 2] == obj)
        return mine

    def take_in(self, triples: Ids) -> None:
        """Add triples to the schema, close it, and follow what that changes."""
        rows = self._store.find(TRIPLES, triples)
        self._store.cells(TRIPLES)[rows[rows > 0], FLAGS] |= KNOWN_SCHEMA
        delta = self._close(triples)
        derived = delta.newly_derived.get(TRIPLES)
        if derived is not None:
            self._interpreter.support(TRIPLES, derived, EDGE | code.COUNT_PLAIN)
        added = delta.added.get(TRIPLES)
        if added is not None:
            mine = added[self._is_schema(added)]
            if len(mine):
                self._schema.add(as_triples(mine))
                self._refresh()

    def _refresh(self) -> None:
        for kind in list(self._heads):
            if kind in self._heads:
                self._learn(kind)

    def _learn(self, kind: Kind) -> None:
        """Compute the consequences of a kind, and give them to its triples so far."""
        if len(self._heads) > MOST_KINDS:
            raise NotSingleError
        predicate, obj = kind
        symbolic = (SUBJECT, predicate, OBJECT if obj is None else obj)
        try:
            heads = consequences(symbolic, self._rules, self._schema)
        except NeedsObjectError:
            self._split_by_object(predicate)
            return
        if len(heads) > MOST_HEADS:
            raise NotSingleError
        old = self._heads.get(kind, ())
        self._heads[kind] = heads
        self._table.put(kind, heads, 0)
        new = set(heads).difference(old)
        if old or new:
            self._give(kind, [head for head in heads if head in new])
        self._widen(kind, heads)

    def _split_by_object(self, predicate: int) -> None:
        """From now on the kinds of this predicate name the object."""
        old = self._heads.pop((predicate, None), ())
        self._by_object.add(predicate)
        self._table.put((predicate, None), (), code.KEY_BY_OBJECT)
        taken = self._taken((predicate, None))
        for obj in np.unique(taken[:, 2]).tolist() if len(taken) else []:
            kind = (predicate, obj)
            self._heads[kind] = tuple({_with_object(head, obj): None for head in old})
            self._learn(kind)

    def _widen(self, kind: Kind, heads: Iterable[Symbolic]) -> None:
        """Schema triples among the consequences: told to the schema, or the kind joins it."""
        known, joins = [], False
        for head in heads:
            if head[2] < 0 and head[1] in self._by_object:
                raise NotSingleError
            fits = (head[1], None) in self._schema_kinds or (head[1], head[2]) in self._schema_kinds
            if fits and (head[0] < 0 or head[2] < 0):
                joins = True
            elif fits:
                known.append(head)
        if joins:
            self._join_schema(kind)
        elif known:
            self._tell(known)

    def _join_schema(self, kind: Kind) -> None:
        self._schema_kinds.add(kind)
        del self._heads[kind]
        self._table.put(kind, (), code.KEY_SCHEMA)
        fits = _fits(self._store.cells(TRIPLES), kind)
        triples = self._store.columns(TRIPLES, np.flatnonzero(fits))
        if len(triples):
            self.take_in(triples)

    def _tell(self, triples: Sequence[Symbolic]) -> None:
        """Schema triples that hold because some triple of a kind is there."""
        new = [t for t in triples if t not in set(self._schema.match(t[0], t[1], t[2]))]
        if new:
            ids = np.array(new, np.int32)
            self._interpreter.support(TRIPLES, ids, EDGE | code.COUNT_PLAIN)
            self.take_in(ids)

    # triples that were followed already

    def _taken(self, kind: Kind) -> Ids:
        """The triples of a kind whose consequences have been given before."""
        cells = self._store.cells(TRIPLES)
        flags = cells[:, FLAGS]
        taken = (flags & (VISIBLE | ROOT | NEW_ROOT)) == (VISIBLE | ROOT)
        return self._store.columns(TRIPLES, np.flatnonzero(taken & _fits(cells, kind)))

    def _give(self, kind: Kind, heads: Sequence[Symbolic]) -> None:
        """Give new consequences to the triples of a kind that were followed before."""
        if not heads or self._is_restoring:
            return
        taken = self._taken(kind)
        for head in heads if len(taken) else ():
            columns = [
                taken[:, 0]
                if x == SUBJECT
                else taken[:, 2]
                if x == OBJECT
                else np.full(len(taken), x)
                for x in head
            ]
            facts = np.stack(columns, axis=1).astype(np.int32)
            self._interpreter.support(TRIPLES, facts, EDGE | code.COUNT_PLAIN)


def _premise_kinds(rules: Sequence[Rule], dictionary: Dictionary) -> set[Kind]:
    """The kinds of triples that the schema premises of the rules speak of."""
    kinds: set[Kind] = set()
    for rule in rules:
        for atom in rule.body:
            assert isinstance(atom, TripleAtom)
            if is_schema(atom):
                assert not isinstance(atom.predicate, Variable)
                obj = None
                if atom.predicate == TYPE and not isinstance(atom.object, Variable):
                    obj = int(dictionary.encode_one(atom.object))
                kinds.add((int(dictionary.encode_one(atom.predicate)), obj))
    return kinds


def _fits(cells: Ids, kind: Kind) -> Flags:
    predicate, obj = kind
    fits: Flags = (cells[:, COLUMN + 1] == predicate) & (cells[:, FLAGS] != 0)
    return fits if obj is None else fits & (cells[:, COLUMN + 2] == obj)


def _with_object(head: Symbolic, obj: int) -> Symbolic:
    s, p, o = (obj if x == OBJECT else x for x in head)
    return s, p, o


class _KindTable:
    """The kernel's table of kinds and their consequences."""

    def __init__(self) -> None:
        self._keys = np.zeros((16, 5), np.int64)
        self._heads = np.zeros((16, 3), np.int32)
        self._used = 0
        self._kinds = 0
        self.arrays = code.Consequences(self._keys, self._heads, True)

    def put(self, kind: Kind, heads: Sequence[Symbolic], mode: int) -> None:
        predicate, obj = kind
        if 2 * self._kinds >= len(self._keys):
            self._grow_keys()
        first, second = predicate + 1, 0 if obj is None else obj + 1
        at = code.place_entry(self._keys, first, second)
        self._kinds += int(self._keys[at, 0] == 0)
        self._keys[at] = first, second, self._put_heads(heads), len(heads), mode
        self.arrays = code.Consequences(self._keys, self._heads, True)

    def _put_heads(self, heads: Sequence[Symbolic]) -> int:
        at = self._used
        if at + len(heads) > len(self._heads):
            grown = np.zeros((2 * (at + len(heads)), 3), np.int32)
            grown[:at] = self._heads[:at]
            self._heads = grown
        if heads:
            self._heads[at : at + len(heads)] = heads
        self._used += len(heads)
        return at

    def _grow_keys(self) -> None:
        old = self._keys[self._keys[:, 0] != 0]
        self._keys = np.zeros((2 * len(self._keys), 5), np.int64)
        for line in old:
            self._keys[code.place_entry(self._keys, line[0], line[1])] = line

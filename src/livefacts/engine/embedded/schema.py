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
    ENDED,
    FLAGS,
    KNOWN_SCHEMA,
    LIVE,
    LOST_ROOT,
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
NO_TRIPLES = np.zeros((0, 3), np.int32)
REMOVED = -1


class SinglePath:
    """The consequences of single triples, for one interpreter.

    `close` changes the engine that closes the schema: triples that come, triples that go.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        interpreter: Interpreter,
        dictionary: Dictionary,
        close: Callable[[Ids, Ids], IdDelta],
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
        self._roots: set[Symbolic] = set()
        self._tellers: dict[Symbolic, set[Kind]] = {}
        self._told: dict[Kind, set[Symbolic]] = {}
        self._table = _KindTable()
        for kind in self._schema_kinds:
            self._table.put(kind, (), code.KEY_SCHEMA)
        for predicate in self._by_object:
            self._table.put((predicate, None), (), code.KEY_BY_OBJECT)

    # what the interpreter asks

    def consequences(self) -> code.Consequences:
        return self._table.arrays

    def answer(self, status: int, first: int, second: int, third: int) -> None:
        """Answer a question of the kernel."""
        if status == code.ASK_KEY:
            self._learn((second, third if second in self._by_object else None))
        elif status == code.ASK_SCHEMA:
            self._take_in(np.array([[first, second, third]], np.int32))
        else:
            self._take_out(self._lost_schema())

    # the schema

    def take_in_new(self, triples: Ids) -> None:
        """Take in, all at once, those of these triples that belong to the schema."""
        if len(triples):
            mine = self._is_schema(triples)
            if mine.any():
                self._take_in(np.unique(triples[mine], axis=0))

    def forget_empty_kinds(self) -> bool:
        """Unlearn kinds of which no triple is left; whether the schema has lost by that."""
        has_lost = False
        for kind in [kind for kind in self._heads if self._table.triples(kind) == 0]:
            if kind in self._heads:
                del self._heads[kind]
                self._table.remove(kind)
                has_lost |= self._stop_telling(kind, self._told.pop(kind, set()))
        return has_lost

    def restore(self) -> None:
        """Learn again, for a new path over facts that were followed before.

        What this gives to facts is the caller's to roll back.
        """
        self._is_restoring = True
        roots = self._store.columns(TRIPLES, self._store.with_flags(TRIPLES, LIVE | ROOT))
        self.take_in_new(roots)
        for predicate in np.unique(roots[:, 1]).tolist():
            self._restore_kinds(predicate, roots[roots[:, 1] == predicate])
        self._is_restoring = False

    def _restore_kinds(self, predicate: int, triples: Ids) -> None:
        if predicate not in self._by_object and (predicate, None) not in self._schema_kinds:
            self._learn((predicate, None))
        if predicate in self._by_object:
            for obj, count in zip(*np.unique(triples[:, 2], return_counts=True), strict=True):
                kind = (predicate, int(obj))
                if kind not in self._schema_kinds:
                    self._learn(kind)
                    self._table.set_triples(kind, int(count))
        else:
            self._table.set_triples((predicate, None), len(triples))

    def _is_schema(self, triples: Ids) -> Flags:
        mine = np.zeros(len(triples), np.bool_)
        for predicate, obj in self._schema_kinds:
            fits = triples[:, 1] == predicate
            mine |= fits if obj is None else fits & (triples[:, 2] == obj)
        return mine

    def _take_in(self, triples: Ids) -> None:
        """Add triples to the schema, close it, and follow what that changes."""
        rows = self._store.find(TRIPLES, triples)
        self._store.cells(TRIPLES)[rows[rows > 0], FLAGS] |= KNOWN_SCHEMA
        self._roots.update(as_triples(triples))
        self._follow(self._close(triples, NO_TRIPLES))

    def _lost_schema(self) -> Ids:
        """All schema triples that are about to be followed as losses."""
        entries = self._interpreter.entries(gained=False)
        rows = np.unique(entries[entries >> 32 == TRIPLES] & 0xFFFFFFFF)
        flags = self._store.flags(TRIPLES)[rows]
        ended = (flags & ENDED != 0) & (flags & VISIBLE != 0)
        lost = (flags & KNOWN_SCHEMA != 0) & (ended | (flags & LOST_ROOT != 0))
        self._store.cells(TRIPLES)[rows[lost], FLAGS] &= ~KNOWN_SCHEMA
        return self._store.columns(TRIPLES, rows[lost])

    def _take_out(self, triples: Ids) -> None:
        """Take triples from the schema, unless a kind tells them, and follow what changes."""
        gone = as_triples(triples)
        self._roots.difference_update(gone)
        untold = [triple for triple in gone if triple not in self._tellers]
        if untold:
            self._follow(self._close(NO_TRIPLES, np.array(untold, np.int32)))

    def _follow(self, delta: IdDelta) -> None:
        """Hand over what the closed schema has gained and lost."""
        lost = delta.newly_underived.get(TRIPLES)
        if lost is not None:
            self._interpreter.take(TRIPLES, lost, code.COUNT_SINGLE)
        gained = delta.newly_derived.get(TRIPLES)
        if gained is not None:
            self._interpreter.give(TRIPLES, gained, EDGE | code.COUNT_SINGLE)
        added = delta.added.get(TRIPLES, NO_TRIPLES)
        removed = delta.removed.get(TRIPLES, NO_TRIPLES)
        mine, not_mine = added[self._is_schema(added)], removed[self._is_schema(removed)]
        self._schema.add(as_triples(mine))
        self._schema.remove(as_triples(not_mine))
        if len(mine) or len(not_mine):
            for kind in list(self._heads):
                if kind in self._heads:
                    self._learn(kind)

    # kinds of triples

    def _learn(self, kind: Kind) -> None:
        """Compute the consequences of a kind, and let its triples so far follow the change."""
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
        old, now = self._heads.get(kind), set(heads)
        self._heads[kind] = heads
        if old != heads or not self._table.has(kind):
            self._table.put(kind, heads, 0)
        if old is not None and now != set(old):
            self._take_back(kind, [head for head in old if head not in now])
            self._give(kind, [head for head in heads if head not in set(old)])
        self._widen(kind, heads)

    def _split_by_object(self, predicate: int) -> None:
        """From now on the kinds of this predicate name the object."""
        old = self._heads.pop((predicate, None), ())
        self._by_object.add(predicate)
        self._table.put((predicate, None), (), code.KEY_BY_OBJECT)
        taken = self._taken((predicate, None))
        for obj, count in zip(*np.unique(taken[:, 2], return_counts=True), strict=True):
            kind = (predicate, int(obj))
            self._heads[kind] = tuple({_with_object(head, int(obj)): None for head in old})
            self._learn(kind)
            self._table.set_triples(kind, int(count))

    def _widen(self, kind: Kind, heads: Iterable[Symbolic]) -> None:
        """Schema triples among the consequences: told to the schema, or the kind joins it."""
        told, joins = [], False
        for head in heads:
            if head[2] < 0 and head[1] in self._by_object:
                raise NotSingleError
            fits = (head[1], None) in self._schema_kinds or (head[1], head[2]) in self._schema_kinds
            if fits and (head[0] < 0 or head[2] < 0):
                joins = True
            elif fits:
                told.append(head)
        if joins:
            self._join_schema(kind)
        else:
            self._tell(kind, told)

    def _join_schema(self, kind: Kind) -> None:
        """Close the triples of this kind with the schema, instead of following each alone."""
        heads = self._heads.pop(kind)
        self._stop_telling(kind, self._told.pop(kind, set()))
        taken = self._taken(kind)
        self._schema_kinds.add(kind)
        self._table.put(kind, (), code.KEY_SCHEMA)
        fits = _fits(self._store.cells(TRIPLES), kind)
        fits &= self._store.flags(TRIPLES) & (ROOT | ENDED) == ROOT
        triples = self._store.columns(TRIPLES, np.flatnonzero(fits))
        if len(triples):
            self._take_in(triples)
        self._change_heads(taken, heads, self._interpreter.take, code.COUNT_SINGLE | code.QUIET)

    def _tell(self, kind: Kind, triples: Sequence[Symbolic]) -> None:
        """Schema triples that hold because some triple of a kind is there."""
        new = [triple for triple in triples if triple not in self._tellers]
        self._stop_telling(kind, self._told.get(kind, set()).difference(triples))
        self._told[kind] = set(triples)
        for triple in triples:
            self._tellers.setdefault(triple, set()).add(kind)
        if new:
            ids = np.array(new, np.int32)
            self._interpreter.give(TRIPLES, ids, EDGE | code.COUNT_SINGLE)
            self._follow(self._close(ids, NO_TRIPLES))

    def _stop_telling(self, kind: Kind, triples: Iterable[Symbolic]) -> bool:
        """Take back what a kind told; whether nothing else tells some of it."""
        untold = []
        for triple in triples:
            self._tellers[triple].discard(kind)
            if not self._tellers[triple]:
                del self._tellers[triple]
                untold.append(triple)
        if untold:
            self._untell(untold)
        return bool(untold)

    def _untell(self, triples: Sequence[Symbolic]) -> None:
        self._interpreter.take(TRIPLES, np.array(triples, np.int32), code.COUNT_SINGLE)
        gone = [triple for triple in triples if triple not in self._roots]
        if gone:
            self._follow(self._close(NO_TRIPLES, np.array(gone, np.int32)))

    # triples that were followed already

    def _taken(self, kind: Kind) -> Ids:
        """The triples of a kind whose consequences have been given before."""
        cells = self._store.cells(TRIPLES)
        flags = cells[:, FLAGS]
        taken = (flags & (VISIBLE | ROOT | NEW_ROOT)) == (VISIBLE | ROOT)
        return self._store.columns(TRIPLES, np.flatnonzero(taken & _fits(cells, kind)))

    def _give(self, kind: Kind, heads: Sequence[Symbolic]) -> None:
        """Give new consequences to the triples of a kind that were followed before."""
        if heads and not self._is_restoring:
            taken = self._taken(kind)
            self._change_heads(taken, heads, self._interpreter.give, EDGE | code.COUNT_SINGLE)

    def _take_back(self, kind: Kind, heads: Sequence[Symbolic]) -> None:
        """Take lost consequences back from the triples of a kind that were followed before."""
        if heads and not self._is_restoring:
            taken = self._taken(kind)
            self._change_heads(taken, heads, self._interpreter.take, code.COUNT_SINGLE)

    def _change_heads(
        self,
        triples: Ids,
        heads: Sequence[Symbolic],
        change: Callable[[int, Ids, int], None],
        support: int,
    ) -> None:
        for head in heads if len(triples) else ():
            columns = [
                triples[:, 0]
                if x == SUBJECT
                else triples[:, 2]
                if x == OBJECT
                else np.full(len(triples), x)
                for x in head
            ]
            change(TRIPLES, np.stack(columns, axis=1).astype(np.int32), support)


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
    """The kernel's table of kinds, their consequences, and how many triples they have."""

    def __init__(self) -> None:
        self._keys = np.zeros((16, 6), np.int64)
        self._heads = np.zeros((16, 3), np.int32)
        self._used = 0
        self._kinds = 0
        self.arrays = code.Consequences(self._keys, self._heads, True)

    def put(self, kind: Kind, heads: Sequence[Symbolic], mode: int) -> None:
        if 2 * self._kinds >= len(self._keys):
            self._rebuild(2 * len(self._keys))
        first, second = _key(kind)
        at = code.place_entry(self._keys, first, second)
        triples = int(self._keys[at, 5])
        self._kinds += int(self._keys[at, 0] == 0)
        self._keys[at] = first, second, self._put_heads(heads), len(heads), mode, triples
        self.arrays = code.Consequences(self._keys, self._heads, True)

    def has(self, kind: Kind) -> bool:
        return bool(code.lookup_entry(self._keys, *_key(kind)) >= 0)

    def remove(self, kind: Kind) -> None:
        self._keys[code.lookup_entry(self._keys, *_key(kind)), 4] = REMOVED
        self._rebuild(len(self._keys))
        self.arrays = code.Consequences(self._keys, self._heads, True)

    def triples(self, kind: Kind) -> int:
        return int(self._keys[code.lookup_entry(self._keys, *_key(kind)), 5])

    def set_triples(self, kind: Kind, count: int) -> None:
        at = code.lookup_entry(self._keys, *_key(kind))
        if at >= 0:
            self._keys[at, 5] = count

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

    def _rebuild(self, size: int) -> None:
        kept = self._keys[(self._keys[:, 0] != 0) & (self._keys[:, 4] != REMOVED)]
        self._keys = np.zeros((size, 6), np.int64)
        self._kinds = len(kept)
        for line in kept:
            self._keys[code.place_entry(self._keys, line[0], line[1])] = line


def _key(kind: Kind) -> tuple[int, int]:
    predicate, obj = kind
    return predicate + 1, 0 if obj is None else obj + 1

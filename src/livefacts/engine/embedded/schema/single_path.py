"""The single-triple path: a schema closed apart, and what follows from every other triple.

The schema's triples are closed under all rules of the split in an engine of their own,
which is small, and what follows from them is handed over.  Every other triple that is
asserted, or derived by another rule, then yields its consequences directly.  When the schema
grows, the kinds of triples whose consequences grow are visited again.

The schema begins as the triples that the rules' schema premises speak of.  It widens by
itself: a kind of triple from which schema triples follow (a subproperty of
rdfs:subClassOf, a subclass of rdfs:Class) belongs to the schema too.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from livefacts.engine.contract import Flags, IdDelta, Ids
from livefacts.engine.embedded.kernel import registers as code
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.kernel.foundation import NO_WAYS
from livefacts.engine.embedded.schema.chase import (
    Chase,
    ClosedSchema,
    Lookup,
    NeedsObjectError,
    NotSingleError,
    Symbolic,
    as_triples,
    lookups_of,
    single_rules,
)
from livefacts.engine.embedded.schema.cycles import Leaning
from livefacts.engine.embedded.schema.kind_table import Kind, KindTable, has_schema
from livefacts.engine.embedded.schema.ways_back import ways_back
from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.plan.rules.schema_split import TYPE, is_schema
from livefacts.store.facts import bits, layout
from livefacts.store.facts.row_sets import distinct_ids
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary

MOST_KINDS = 100_000
MANY_KINDS = MOST_KINDS // 4
"""Of so many kinds, and again of twice as many as are left, those without triples are unlearned."""
MOST_HEADS = layout.OUT_ROWS // 2
MOST_SCANS = 16
"""After so many scans for the triples of a kind, an index pays."""
NO_TRIPLES = np.zeros((0, 3), np.int32)
MakeSchema = Callable[[], Callable[[Ids, Ids], IdDelta]]
"""Makes an engine that closes the schema, and gives its method to change it."""


class SinglePath:
    """The consequences of single triples, for one interpreter.

    `make_schema` makes an engine that closes the schema, and gives its method to change it:
    triples that come, triples that go.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        interpreter: Interpreter,
        dictionary: Dictionary,
        make_schema: MakeSchema,
    ) -> None:
        self._interpreter = interpreter
        self._store = interpreter.store
        self._rules = single_rules(rules, dictionary)
        self._make_schema = make_schema
        self._close = make_schema()
        self._schema = ClosedSchema()
        self._chase = Chase(self._rules, self._schema)
        self._is_torn = False
        """Whether the engine of the schema may differ from what is known of it here."""
        self._readers: dict[Lookup, dict[Kind, None]] = {}
        self._schema_kinds = _premise_kinds(rules, dictionary)
        self._heads: dict[Kind, tuple[Symbolic, ...]] = {}
        self._by_object: set[int] = {p for p, o in self._schema_kinds if o is not None}
        self._roots: set[Symbolic] = set()
        self._asserters: dict[Symbolic, int] = {}
        self._asserted: dict[Kind, frozenset[Symbolic]] = {}
        self._asked: Kind | None = None
        self._scans = 0
        self._many = MANY_KINDS
        self._has_ways = False
        self._dictionary = dictionary
        self._beside: frozenset[Rule] = frozenset()
        self._leaning: Leaning | None = None
        self._table = KindTable()
        self._before: _Knowledge | None = None
        dictionary.tell_before_sweeps(self)
        for kind in self._schema_kinds:
            self._table.put(kind, (), code.KEY_SCHEMA)
        for predicate in self._by_object:
            self._table.put((predicate, None), (), code.KEY_BY_OBJECT)

    @property
    def kinds_apart(self) -> tuple[frozenset[Kind], frozenset[int]]:
        """The kinds that belong to the schema, and the predicates whose kinds name the object."""
        return frozenset(self._schema_kinds), frozenset(self._by_object)

    def follow_beside(self, rules: Iterable[Rule], *, alone: bool = False) -> None:
        """Know of other rules of the level; `alone` if those known before have gone."""
        self._beside = frozenset(rules) | (frozenset() if alone else self._beside)
        self._leaning = None

    # one change

    def settle(self) -> None:
        """The change is made."""
        self._before = None
        if len(self._heads) > self._many:
            self.let_go()
            self._many = max(MANY_KINDS, 2 * len(self._heads))

    def undo(self, epoch: int) -> None:
        """The change of this number was undone: know what was known before it.

        Where that fails half way, doing it again does it, and the schema is closed anew when
        it is next needed.
        """
        before = self._before
        self._forget_ways()
        if before is not None:
            try:
                self._take_schema_back(before)
            finally:
                self._schema_kinds, self._by_object = before.kinds, before.by_object
                self._heads, self._table = before.heads, before.table
                self._roots, self._asserters = before.roots, before.asserters
                self._asserted, self._before = before.asserted, None
        self._table.undo(epoch)

    def _take_schema_back(self, before: _Knowledge) -> None:
        known = self._closed_over()
        wanted = before.roots | before.asserters.keys()
        if known != wanted and not self._is_torn:
            with suppress(MemoryError):
                self._reclose(_ids(wanted - known), _ids(known - wanted))

    def ready_for_losses(self) -> None:
        """Let the kernel know from which asserted triples consequences follow."""
        if not self._has_ways and self._interpreter.dooms_singles:
            self._has_ways = True
            self._interpreter.know_ways(ways_back(self._heads, self._store))

    def _forget_ways(self) -> None:
        if self._has_ways:
            self._has_ways = False
            self._interpreter.know_ways(NO_WAYS)

    def _keep_before(self) -> None:
        """Before the first change of what is known: keep it for an undo."""
        self._forget_ways()
        if self._before is None:
            if self._is_torn:
                self._close_anew()
            self._before = _Knowledge(
                set(self._schema_kinds),
                dict(self._heads),
                set(self._by_object),
                set(self._roots),
                dict(self._asserters),
                dict(self._asserted),
                self._table.copied(),
            )

    def _closed_over(self) -> set[Symbolic]:
        """The triples that are asserted in the engine of the schema."""
        return self._roots | self._asserters.keys()

    def _reclose(self, asserted: Ids, retracted: Ids) -> tuple[IdDelta, list[Symbolic]]:
        """Change the closed schema: what that changed, and of the schema's own triples."""
        self._is_torn = True
        delta = self._close(asserted, retracted)
        changed = self._change_schema(delta)
        self._is_torn = False
        return delta, changed

    def _close_anew(self) -> None:
        """Close the schema with an engine that knows nothing yet."""
        self._close, self._schema = self._make_schema(), ClosedSchema()
        self._chase = Chase(self._rules, self._schema)
        self._reclose(_ids(self._closed_over()), NO_TRIPLES)

    # what the interpreter asks

    def consequences(self) -> code.Consequences:
        return self._table.arrays

    def answer(self, status: int, first: int, second: int, third: int) -> None:
        """Answer a question of the kernel."""
        self._keep_before()
        if status == code.ASK_KEY:
            self._asked = second, third if second in self._by_object else None
            self._learn(self._asked)
            self._asked = None
        elif status == code.ASK_SCHEMA:
            asked = np.array([[first, second, third]], np.int32)
            self._take_in(np.unique(np.concatenate([asked, self._waiting_schema()]), axis=0))
        else:
            self._take_out(self._lost_schema())

    # the schema

    def take_in_new(self, triples: Ids) -> None:
        """Take in, all at once, those of these triples that belong to the schema."""
        if has_schema(self._table.arrays.keys, triples):
            self._keep_before()
            self._take_in(np.unique(triples[self._is_schema(triples)], axis=0))

    def forget_empty_kinds(self) -> None:
        """Unlearn kinds that gave the schema triples, and of which no triple is left."""
        for kind in self._table.emptied(self._interpreter.epoch):
            if self._asserted.get(kind):
                self._keep_before()
                self._forget(kind)

    def _forget(self, kind: Kind) -> None:
        del self._heads[kind]
        self._table.remove(kind)
        self._stop_assertion(kind, self._asserted.pop(kind, frozenset()))

    def let_go(self) -> None:
        """Unlearn all kinds of which no triple is left: their terms may be given back."""
        if self._before is not None:
            return
        empty = [kind for kind in self._heads if not self._is_needed(kind)]
        if empty:
            self._forget_ways()
            for kind in empty:
                del self._heads[kind]
                self._asserted.pop(kind, None)
                self._table.remove(kind)
            self._table.shrink()
            self._chase.forget()
            self._readers = _kept_readers(self._readers, self._heads)

    def _is_needed(self, kind: Kind) -> bool:
        return self._table.triples(kind) > 0 or bool(self._asserted.get(kind))

    def _is_schema(self, triples: Ids) -> Flags:
        mine = np.zeros(len(triples), np.bool_)
        for predicate, obj in self._schema_kinds:
            fits = triples[:, 1] == predicate
            mine |= fits if obj is None else fits & (triples[:, 2] == obj)
        return mine

    def _take_in(self, triples: Ids) -> None:
        """Add triples to the schema, close it, and follow what that changes."""
        rows = self._store.find(TRIPLES, triples)
        self._store.cells(TRIPLES)[rows[rows > 0], layout.FLAGS] |= bits.KNOWN_SCHEMA
        self._roots.update(as_triples(triples))
        self._follow(triples, NO_TRIPLES)

    def _waiting_schema(self) -> Ids:
        """All schema triples that are about to be followed as gains."""
        entries = self._interpreter.waiting_gains()
        rows = entries[entries >> 32 == TRIPLES] & 0xFFFFFFFF
        flags = self._store.flags(TRIPLES)[rows]
        is_root = flags & np.where(flags & bits.VISIBLE != 0, bits.NEW_ROOT, bits.ROOT) != 0
        triples = self._store.columns(
            TRIPLES, rows[is_root & (flags & (bits.KNOWN_SCHEMA | bits.ENDED) == 0)]
        )
        return triples[self._is_schema(triples)]

    def _lost_schema(self) -> Ids:
        """All schema triples that are about to be followed as losses."""
        entries = self._interpreter.entries(gained=False)
        rows = distinct_ids(entries[entries >> 32 == TRIPLES] & 0xFFFFFFFF)
        flags = self._store.flags(TRIPLES)[rows]
        ended = (flags & bits.ENDED != 0) & (flags & bits.VISIBLE != 0)
        lost = (flags & bits.KNOWN_SCHEMA != 0) & (ended | (flags & bits.LOST_ROOT != 0))
        self._store.cells(TRIPLES)[rows[lost], layout.FLAGS] &= ~bits.KNOWN_SCHEMA
        return self._store.columns(TRIPLES, rows[lost])

    def _take_out(self, triples: Ids) -> None:
        """Take triples from the schema, unless a kind gives them, and follow what changes."""
        gone = as_triples(triples)
        self._roots.difference_update(gone)
        retracted = [triple for triple in gone if triple not in self._asserters]
        if retracted:
            self._follow(NO_TRIPLES, np.array(retracted, np.int32))

    def _follow(self, asserted: Ids, retracted: Ids) -> None:
        """Change the schema, and hand over what it has gained and lost."""
        if len(retracted) and self._is_circular():
            self._doubt_conclusions()
        delta, changed = self._reclose(asserted, retracted)
        lost = delta.newly_underived.get(TRIPLES)
        if lost is not None:
            self._interpreter.take(TRIPLES, lost, code.COUNT_SINGLE)
        gained = delta.newly_derived.get(TRIPLES)
        if gained is not None:
            self._interpreter.give(TRIPLES, gained, bits.EDGE | code.COUNT_SINGLE)
        for kind in self._readers_of(changed):
            if kind not in self._heads:
                continue
            if self._table.triples(kind) == 0 and kind != self._asked:
                self._forget(kind)
            else:
                self._learn(kind)

    def _is_circular(self) -> bool:
        """Whether triples of the schema may be concluded from what follows from them."""
        if self._leaning is None:
            self._leaning = Leaning(self._beside, self._dictionary)
        heads = (head for heads in self._heads.values() for head in heads)
        return self._leaning.is_circular(self._schema_kinds, heads)

    def _doubt_conclusions(self) -> None:
        """Doom the schema triples that are only concluded; those with a reason come back."""
        roots = _ids(self._roots)
        rows = self._store.find(TRIPLES, roots)
        is_doubtful = (
            self._store.flags(TRIPLES)[rows] & (bits.LIVE | bits.ASSERTED | bits.ENDED) == bits.LIVE
        )
        self._interpreter.take(TRIPLES, roots[(rows > 0) & is_doubtful], 0)

    def _change_schema(self, delta: IdDelta) -> list[Symbolic]:
        """The schema's own triples that have come and gone, after taking note of them."""
        added = delta.added.get(TRIPLES, NO_TRIPLES)
        removed = delta.removed.get(TRIPLES, NO_TRIPLES)
        came = as_triples(added[self._is_schema(added)])
        gone = as_triples(removed[self._is_schema(removed)])
        self._schema.add(came)
        self._schema.remove(gone)
        return came + gone

    def _readers_of(self, triples: Iterable[Symbolic]) -> dict[Kind, None]:
        """The kinds whose consequences may depend on these schema triples."""
        found: dict[Kind, None] = {}
        for triple in triples:
            for lookup in lookups_of(triple):
                found |= self._readers.get(lookup, {})
        return found

    # kinds of triples

    def _learn(self, kind: Kind) -> None:
        """Compute the consequences of a kind, and let its triples so far follow the change."""
        if len(self._heads) > MOST_KINDS:
            raise NotSingleError
        predicate, obj = kind
        symbolic = (code.SUBJECT, predicate, code.OBJECT if obj is None else obj)
        try:
            follows, lookups = self._chase.consequences(symbolic)
        except NeedsObjectError:
            self._split_by_object(predicate)
            return
        for lookup in lookups:
            self._readers.setdefault(lookup, {})[kind] = None
        # A triple that is there is its own reason: that it follows from itself adds nothing.
        heads = tuple(head for head in follows if head != symbolic)
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
        """Schema triples among the consequences: given to the schema, or the kind joins it."""
        asserted, joins = [], False
        for head in heads:
            if head[2] < 0 and head[1] in self._by_object:
                raise NotSingleError
            fits = (head[1], None) in self._schema_kinds or (head[1], head[2]) in self._schema_kinds
            if fits and (head[0] < 0 or head[2] < 0):
                joins = True
            elif fits:
                asserted.append(head)
        if joins:
            self._join_schema(kind)
        else:
            self._assert(kind, asserted)

    def _join_schema(self, kind: Kind) -> None:
        """Close the triples of this kind with the schema, instead of following each alone."""
        heads = self._heads.pop(kind)
        self._stop_assertion(kind, self._asserted.pop(kind, frozenset()))
        taken = self._taken(kind)
        self._schema_kinds.add(kind)
        self._table.put(kind, (), code.KEY_SCHEMA)
        rows = self._rows_of(kind)
        rows = rows[self._store.flags(TRIPLES)[rows] & (bits.ROOT | bits.ENDED) == bits.ROOT]
        triples = self._store.columns(TRIPLES, rows)
        if len(triples):
            self._take_in(triples)
        self._change_heads(taken, heads, self._interpreter.take, code.COUNT_SINGLE | code.QUIET)

    def _assert(self, kind: Kind, triples: Sequence[Symbolic]) -> None:
        """Schema triples that hold because some triple of a kind is there."""
        had, asserted = self._asserted.get(kind, frozenset()), frozenset(triples)
        new = [t for t in dict.fromkeys(triples) if t not in had and t not in self._asserters]
        self._asserted[kind] = asserted
        for triple in asserted - had:
            self._asserters[triple] = self._asserters.get(triple, 0) + 1
        self._stop_assertion(kind, had - asserted)
        if new:
            ids = np.array(new, np.int32)
            self._interpreter.give(TRIPLES, ids, bits.EDGE | code.COUNT_SINGLE)
            self._follow(ids, NO_TRIPLES)

    def _stop_assertion(self, kind: Kind, triples: Iterable[Symbolic]) -> None:
        """Take back what a kind gave the schema, where no other gives it."""
        retracted = []
        for triple in sorted(triples):
            self._asserters[triple] -= 1
            if not self._asserters[triple]:
                del self._asserters[triple]
                retracted.append(triple)
        if retracted:
            self._retract(retracted)

    def _retract(self, triples: Sequence[Symbolic]) -> None:
        self._interpreter.take(TRIPLES, np.array(triples, np.int32), code.COUNT_SINGLE)
        gone = [triple for triple in triples if triple not in self._roots]
        if gone:
            self._follow(NO_TRIPLES, np.array(gone, np.int32))

    # triples that were followed already

    def _taken(self, kind: Kind) -> Ids:
        """The triples of a kind whose consequences have been given before."""
        rows = self._rows_of(kind)
        flags = self._store.flags(TRIPLES)[rows]
        # One that ceased to be a root in a level below has lost the flag, and its consequences
        # are still to be taken back.
        taken = (flags & (bits.VISIBLE | bits.NEW_ROOT) == bits.VISIBLE) & (
            flags & (bits.ROOT | bits.LOST_ROOT) != 0
        )
        return self._store.columns(TRIPLES, rows[taken])

    def _rows_of(self, kind: Kind) -> NDArray[np.int64]:
        """The rows of a kind: by a scan, until scans have cost as much as an index."""
        predicate, obj = kind
        columns, key = ((1,), (predicate,)) if obj is None else ((1, 2), (predicate, obj))
        if not self._store.has_index(TRIPLES, columns):
            self._scans += 1
            if self._scans <= MOST_SCANS:
                return np.flatnonzero(_fits(self._store.cells(TRIPLES), kind))
        return self._store.chain(TRIPLES, self._store.index(TRIPLES, columns), key)

    def _give(self, kind: Kind, heads: Sequence[Symbolic]) -> None:
        """Give new consequences to the triples of a kind that were followed before."""
        if heads:
            taken = self._taken(kind)
            self._change_heads(taken, heads, self._interpreter.give, bits.EDGE | code.COUNT_SINGLE)

    def _take_back(self, kind: Kind, heads: Sequence[Symbolic]) -> None:
        """Take lost consequences back from the triples of a kind that were followed before."""
        if heads:
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
                if x == code.SUBJECT
                else triples[:, 2]
                if x == code.OBJECT
                else np.full(len(triples), x)
                for x in head
            ]
            change(TRIPLES, np.stack(columns, axis=1).astype(np.int32), support)


def _kept_readers(
    readers: Mapping[Lookup, Iterable[Kind]], known: Collection[Kind]
) -> dict[Lookup, dict[Kind, None]]:
    """Who depends on what was looked up, of the kinds that are known."""
    found = {
        lookup: dict.fromkeys(k for k in kinds if k in known) for lookup, kinds in readers.items()
    }
    return {lookup: kinds for lookup, kinds in found.items() if kinds}


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
    fits: Flags = (cells[:, layout.COLUMN + 1] == predicate) & (cells[:, layout.FLAGS] != 0)
    return fits if obj is None else fits & (cells[:, layout.COLUMN + 2] == obj)


def _with_object(head: Symbolic, obj: int) -> Symbolic:
    s, p, o = (obj if x == code.OBJECT else x for x in head)
    return s, p, o


def _ids(triples: Iterable[Symbolic]) -> Ids:
    return np.array(sorted(triples), np.int32).reshape(-1, 3)


@dataclass(frozen=True, slots=True)
class _Knowledge:
    """What a path knows, but for the closed schema: kept while a change may be undone."""

    kinds: set[Kind]
    heads: dict[Kind, tuple[Symbolic, ...]]
    by_object: set[int]
    roots: set[Symbolic]
    asserters: dict[Symbolic, int]
    asserted: dict[Kind, frozenset[Symbolic]]
    table: KindTable

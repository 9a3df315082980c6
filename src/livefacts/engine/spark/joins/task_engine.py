"""The engine in a task: facts that fit into one process, closed there by the embedded engine.

In: rows of ids with their counters, those that come and go, and texts where rules look at values.
Out: rows with the counters that the rules give them, and by how much they differ.

Counters say how many instances of rules derive a fact, so they follow from what is asserted
and from the rules alone: the task draws all conclusions from what is asserted after the change,
and compares.  The embedded engine has small numbers for terms.  Where no rule looks at values,
only the constants of rules are terms to it, and all other ids are numbers and nothing else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from livefacts.engine.contract import ASSERTED, Change, Flags, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.spark.joins.fact_frame import COUNTERS, Form, width_of
from livefacts.engine.spark.joins.term_frames import text_of
from livefacts.errors import LimitError
from livefacts.kb.id_map import number_terms
from livefacts.model.facts import Term
from livefacts.plan.rules.operators import Plan
from livefacts.store.facts import layout
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.hash_ids import HashIds

STANDS, COMES, GOES, TERM, STOPPED, PASSED = range(6)
"""What a row is: a fact that is there, that is asserted, that is retracted; a term; the sign
that there were more facts than a task may hold, or that a limit was passed."""
UNNAMED = 1 << 29
"""From here on numbers stand for ids whose terms nobody looks at."""
NUMBERS = (*COUNTERS, *(f"{name}_by" for name in COUNTERS), "sign")
"""The counters after the change, by how much they differ, and whether a fact came or went."""


@dataclass(frozen=True, slots=True)
class ClosingTask:
    """What closes rows in a task; a value that Spark sends there."""

    plan: Plan
    form: Form
    constants: frozenset[Term]
    id_of: Callable[[str], int]
    most: int
    """More facts than these are too many."""
    limit: int | None = None
    """More conclusions than these are an error."""

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        listed = [pa.Table.from_batches([batch]).cast(self.given) for batch in batches]
        rows = pa.concat_tables([self.given.empty_table(), *listed]).combine_chunks()
        yield from _Closing(self, rows).results()

    @property
    def given(self) -> pa.Schema:
        """The columns that come in."""
        names = ("kind", *self.form.keys, *COUNTERS)
        return pa.schema([*((name, pa.int64()) for name in names), ("text", pa.string())])

    @property
    def schema(self) -> str:
        """The columns that go out."""
        return f"kind bigint, {self.form.schema}, {', '.join(f'{n} bigint' for n in NUMBERS)}, text string"


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of one shape in one world: facts in the engine's numbers, what they are, their counters."""

    facts: Ids
    kinds: NDArray[np.int64]
    counters: NDArray[np.int64]


class _Names:
    """Ids of terms under small numbers."""

    def __init__(self, task: ClosingTask, ids: HashIds, texts: pa.Table) -> None:
        self.dictionary = Dictionary()
        self._id_of = task.id_of
        constants = list(task.constants)
        named = dict(
            zip(
                (task.id_of(text_of(term)) for term in constants),
                self.dictionary.encode(constants).tolist(),
                strict=True,
            )
        )
        known = number_terms(self.dictionary, texts)
        named |= dict(zip(texts["id"].to_pylist(), known.tolist(), strict=True))
        self._ids = np.unique(np.concatenate([ids, np.array(list(named), np.int64)]))
        self._numbers = (UNNAMED + np.arange(len(self._ids))).astype(np.int32)
        places = np.searchsorted(self._ids, np.array(list(named), np.int64))
        self._numbers[places] = np.array(list(named.values()), np.int32)
        self._order = np.argsort(self._numbers)
        self.made: dict[int, str] = {}

    def numbers(self, ids: HashIds) -> Ids:
        found: Ids = self._numbers[np.searchsorted(self._ids, ids)]
        return found

    def ids(self, numbers: Ids) -> HashIds:
        """The ids of numbers; those of terms that rules have computed follow from their texts."""
        distinct, places = np.unique(numbers, return_inverse=True)
        in_order = self._numbers[self._order]
        at = np.minimum(np.searchsorted(in_order, distinct), len(in_order) - 1)
        found = self._ids[self._order[at]]
        for place in np.flatnonzero(in_order[at] != distinct).tolist():
            text = _text(self.dictionary, int(distinct[place]))
            found[place] = self._id_of(text)
            self.made[int(found[place])] = text
        ids: HashIds = found[places].reshape(numbers.shape)
        return ids


def _text(dictionary: Dictionary, number: int) -> str:
    packed, _ = dictionary.packed_texts(np.array([number], np.int32))
    return packed.tobytes().decode()


class _Closing:
    """One task: all worlds of its rows, one after the other."""

    def __init__(self, task: ClosingTask, rows: pa.Table) -> None:
        self._task = task
        kinds = rows["kind"].to_numpy()
        texts = rows.filter(pa.array(kinds == TERM)).select(["c0", "text"])
        self._kinds = kinds[kinds != TERM]
        facts = rows.filter(pa.array(kinds != TERM))
        self._columns = {name: facts[name].to_numpy() for name in facts.column_names[:-1]}
        cells = [self._columns[cell] for cell in task.form.cells]
        self._cells = np.stack(cells, axis=1) if len(facts) else np.zeros((0, len(cells)), np.int64)
        self._names = _Names(task, self._cells.ravel(), texts.rename_columns(["id", "text"]))
        self._held = self._derived = 0

    def results(self) -> Iterator[pa.RecordBatch]:
        worlds = self._columns["k"] if self._task.form.worlds else np.zeros_like(self._kinds)
        try:
            found = [batch for world in np.unique(worlds) for batch in self._world(worlds, world)]
        except LimitError:
            room, allowed = self._bounds()
            kind = PASSED if allowed < room else STOPPED
            yield self._batch(kind, 0, 0, np.zeros((1, 1), np.int64), _no_counts(1))
            return
        yield from found
        for number, text in self._names.made.items():
            yield self._batch(TERM, 0, 0, np.array([[number]]), _no_counts(1), text)

    def _world(self, worlds: NDArray[np.int64], world: int) -> Iterator[pa.RecordBatch]:
        """All shapes of a world, with what the rules conclude there."""
        shapes = np.unique(self._columns["f"][worlds == world]).tolist()
        before = {shape: self._rows(worlds == world, shape) for shape in shapes}
        engine = EmbeddedEngine(self._names.dictionary, self._task.plan, single_path=False)
        told = {shape: asserted_after(rows) for shape, rows in before.items()}
        self._held += sum(map(len, told.values()))
        engine.limit = min(self._bounds())
        engine.apply(Change(told))
        derived = sum(map(len, engine.derived().values()))
        self._held, self._derived = self._held + derived, self._derived + derived
        for shape in {*before, *engine.shapes()}:
            rows = before.get(shape) or self._rows(np.zeros_like(worlds, np.bool_), shape)
            facts, numbers = compared(engine, shape, rows)
            yield self._batch(STANDS, int(world), shape, self._names.ids(facts), numbers)

    def _bounds(self) -> tuple[int, int]:
        """How many conclusions there is room for, and how many more the limit allows."""
        room, limit = max(0, self._task.most - self._held), self._task.limit
        return room, room if limit is None else max(0, limit - self._derived)

    def _rows(self, among: Flags, shape: int) -> _Rows:
        chosen = among & (self._columns["f"] == shape)
        facts = self._names.numbers(self._cells[chosen][:, : width_of(shape)])
        counters = np.stack([self._columns[name][chosen] for name in COUNTERS], axis=1)
        return _Rows(facts, self._kinds[chosen], counters)

    def _batch(
        self, kind: int, world: int, shape: int, ids: HashIds, numbers: HashIds, text: str = ""
    ) -> pa.RecordBatch:
        form, count = self._task.form, len(ids)
        columns: dict[str, pa.Array] = {"kind": pa.array(np.full(count, kind, np.int64))}
        if form.worlds:
            columns["k"] = pa.array(np.full(count, world, np.int32))
        columns["f"] = pa.array(np.full(count, shape, np.int32))
        for number, cell in enumerate(form.cells):
            here = number < ids.shape[1]
            columns[cell] = pa.array(ids[:, number] if here else np.zeros(count, np.int64))
        columns |= {name: pa.array(numbers[:, at]) for at, name in enumerate(NUMBERS)}
        columns["text"] = pa.array([text or None] * count, pa.string())
        return pa.RecordBatch.from_pydict(columns)


def asserted_after(rows: _Rows) -> Ids:
    """What is asserted once facts have come and gone; what does both is there afterwards."""
    stands = (rows.kinds == STANDS) & (rows.counters[:, 0] > 0)
    stays = rows.facts[stands]
    if (rows.kinds == GOES).any():
        stays = stays[~np.isin(_whole(stays), _whole(rows.facts[rows.kinds == GOES]))]
    both: Ids = np.concatenate([stays, rows.facts[rows.kinds == COMES]])
    return both


def _whole(facts: Ids) -> NDArray[np.void]:
    """Each row as one value."""
    packed = np.ascontiguousarray(facts)
    whole: NDArray[np.void] = packed.view([("", np.int32)] * packed.shape[1]).ravel()
    return whole


def compared(engine: EmbeddedEngine, shape: int, before: _Rows) -> tuple[Ids, HashIds]:
    """The facts that there were or are, with the columns `NUMBERS`."""
    store = engine.store
    relation = store.relation(shape)
    cells, here = store.cells(relation), store.with_flags(relation)
    stands = before.kinds == STANDS
    known, counts = before.facts[stands], before.counters[stands]
    rows = store.find(relation, known)
    then, was = np.zeros((len(cells), len(COUNTERS)), np.int64), np.zeros(len(cells), np.int64)
    then[rows], was[rows] = counts, 1
    gone = rows == 0
    lost, nothing = counts[gone], np.zeros_like(counts[gone])
    now = _numbers(then[here], _counters(cells[here]), 1 - was[here])
    past = _numbers(lost, nothing, np.full(len(lost), -1, np.int64))
    return np.concatenate([store.columns(relation, here), known[gone]]), np.concatenate([now, past])


def _counters(cells: Ids) -> NDArray[np.int64]:
    told = cells[:, layout.FLAGS] & ASSERTED != 0
    counts = cells[:, [layout.PLAIN, layout.RECURSIVE]].astype(np.int64)
    return np.column_stack([told.astype(np.int64), counts])


def _numbers(
    before: NDArray[np.int64], after: NDArray[np.int64], sign: NDArray[np.int64]
) -> NDArray[np.int64]:
    return np.column_stack([after, after - before, sign])


def _no_counts(rows: int) -> NDArray[np.int64]:
    return np.zeros((rows, len(NUMBERS)), np.int64)

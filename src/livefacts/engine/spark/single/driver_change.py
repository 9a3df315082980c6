"""A change in the driver: asserted facts come and go, and exactly what changes is written down.

Removals come before additions.  An asserted triple that goes takes its consequences' support
along, one that comes gives it; a fact ends when it is neither asserted nor supported.
Where the change touches the schema, the rules, or the first or last triple of a kind, the
schema is closed anew, and the asserted triples of kinds whose consequences differ are visited.

All of it happens in one process, on the buckets that the change looks into; the change is
one file of signed rows and one commit.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.read.asked_facts import AskedFacts, settle
from livefacts.engine.spark.read.graph_change import NotedGraphs
from livefacts.engine.spark.read.predicate_change import ToldPredicates
from livefacts.engine.spark.single.bucket_change import signs_of
from livefacts.kb.bucket_stages import is_of_kinds
from livefacts.kb.change_rows import signed_write
from livefacts.kb.consequences import (
    ConsequenceTable,
    Kind,
    fact_table,
    make_table,
    triples_of,
)
from livefacts.kb.graph_rows import GraphChange
from livefacts.kb.live_buckets import Live, Told, ToldAfter, TriplesHere, contains, netted
from livefacts.kb.schema_closure import SchemaCloser, SchemaConsequences
from livefacts.kb.tables import (
    CHANGES,
    PREDICATE_CHANGES,
    KnowledgeBase,
    Write,
)
from livefacts.kb.term_encoding import NO_TRIPLES, Encoding
from livefacts.kb.term_rows import term_writes
from livefacts.language.program import Rule
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.id_reader import text_of


@dataclass(frozen=True, slots=True)
class RuleState:
    """What a change starts from and ends in, beside the facts: rules and what they say."""

    rules: tuple[Rule, ...]
    schema: SchemaConsequences
    table: ConsequenceTable
    kinds: Counter[Kind]


@dataclass(frozen=True, slots=True)
class UpdateEffect:
    """What an update changes: signed rows, their signs, new terms, and how ids are made."""

    rows: pa.Table
    signs: HashIds
    predicates: pa.Table
    graphs: GraphChange
    terms: dict[int, str]
    encoding: Encoding
    figures: dict[str, int]
    state: RuleState


def closed_state(rules: tuple[Rule, ...], told: Told, encoding: Encoding) -> RuleState:
    """What rules say about asserted triples."""

    def id_of(term: object) -> int:
        return encoding.id_of(text_of(term))  # type: ignore[arg-type]

    schema = SchemaCloser(rules, id_of, told.of_kinds, told.count_kinds).close()
    kinds = Counter(told.count_kinds(schema.by_object))
    return RuleState(rules, schema, make_table(schema.heads), kinds)


def state_after(
    state: RuleState,
    told: Told,
    came: Told,
    gone: Told,
    rules: Sequence[Rule] | None,
    encoding: Encoding,
) -> RuleState:
    """Rules, schema, consequences and kinds after a change."""
    kinds = state.kinds.copy()
    kinds.update(came.count_kinds(state.schema.by_object))
    kinds.subtract(gone.count_kinds(state.schema.by_object))
    kinds = +kinds
    touches = any(len(each.of_kinds(state.schema.kinds)) for each in (came, gone))
    if rules is None and not touches and kinds.keys() == state.kinds.keys():
        return RuleState(state.rules, state.schema, state.table, kinds)
    new_rules = state.rules if rules is None else tuple(rules)
    return closed_state(new_rules, ToldAfter(_KnownTold(state, told), came, gone), encoding)


@dataclass(frozen=True, slots=True)
class _KnownTold:
    """Asserted triples, of which those of the schema and the number of each kind are known."""

    state: RuleState
    told: Told

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        schema = self.state.schema
        if not kinds <= schema.kinds:
            return self.told.of_kinds(kinds)
        known = _rows(schema.told)
        return known[is_of_kinds(known, kinds)]

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        known = by_object == self.state.schema.by_object
        return self.state.kinds if known else self.told.count_kinds(by_object)


class Updater:
    """Makes changes to a closed knowledge base, one after the other."""

    def __init__(
        self,
        rules: Sequence[Rule],
        live: Live,
        encoding: Encoding,
        predicates: ToldPredicates | None = None,
        graphs: NotedGraphs | None = None,
    ) -> None:
        self._live = live
        self._predicates = predicates or ToldPredicates()
        self._graphs = graphs or NotedGraphs()
        self.encoding = encoding
        self._state = closed_state(tuple(rules), live, encoding)

    # one change

    def change(self, asked: AskedFacts, rules: Sequence[Rule] | None = None) -> UpdateEffect:
        """What an update would change, and other rules if they are given; `keep` makes it so."""
        found, graphs = self._graphs.change(
            settle(asked, self.encoding, self._live.texts), self._live.is_told
        )
        came = found.added.get(TRIPLES, NO_TRIPLES)
        gone = found.removed.get(TRIPLES, NO_TRIPLES)
        gone = gone[~contains(came, gone)]
        came = came[~self._live.is_told(came)]
        gone = gone[self._live.is_told(gone)]
        told = TriplesHere(came), TriplesHere(gone)
        after = state_after(self._state, self._live, *told, rules, found.encoding)
        rows = netted([*self._signed(came, gone, after)])
        before = self._live.counts(triples_of(rows)).sum(axis=1)
        signs = signs_of(rows, before)
        predicates = self._predicates.change(found.added, found.removed)
        figures = {
            "asserted": len(came) + predicates.came,
            "retracted": len(gone) + predicates.gone,
            "added": int((signs > 0).sum()) + predicates.came,
            "removed": int((signs < 0).sum()) + predicates.gone,
        }
        return UpdateEffect(
            rows, signs, predicates.rows, graphs, found.terms, found.encoding, figures, after
        )

    def _signed(self, came: HashIds, gone: HashIds, after: RuleState) -> Iterable[pa.Table]:
        """What the change does to supports and tellings, in parts."""
        state = self._state
        yield fact_table(came, 0, 1)
        yield fact_table(gone, 0, -1)
        yield fact_table(state.table.follow(gone)[0], -1, 0)
        yield fact_table(after.table.follow(came)[0], 1, 0)
        if after.schema is not state.schema:
            yield schema_changes(state.schema, after.schema)
            visited = self._live.of_kinds(differing(state.schema, after.schema))
            visited = visited[~contains(gone, visited)]
            yield fact_table(state.table.follow(visited)[0], -1, 0)
            yield fact_table(after.table.follow(visited)[0], 1, 0)

    def go_on(self, live: Live) -> None:
        """The same state was written anew: look at it there."""
        self._live = live

    def keep(self, change: UpdateEffect) -> None:
        """The change was committed: go on from it."""
        self._state = change.state
        self._live.take(change.rows)
        self._live.take_terms(change.terms)
        self._predicates.take(change.predicates)
        self._graphs.take(change.graphs)
        self.encoding = change.encoding


def schema_changes(old: SchemaConsequences, new: SchemaConsequences) -> pa.Table:
    """What follows from one schema and not from the other."""
    gained, lost = _rows(new.derived - old.derived), _rows(old.derived - new.derived)
    return pa.concat_tables([fact_table(gained, 1, 0), fact_table(lost, -1, 0)])


def _rows(triples: Iterable[tuple[int, int, int]]) -> HashIds:
    return np.array(sorted(triples), np.int64).reshape(-1, 3)


def differing(old: SchemaConsequences, new: SchemaConsequences) -> frozenset[Kind]:
    """The kinds whose consequences are not the same under both schemas."""
    kinds = old.heads.keys() | new.heads.keys()
    return frozenset(
        kind for kind in kinds if set(old.heads.get(kind, ())) != set(new.heads.get(kind, ()))
    )


def change_writes(base: KnowledgeBase, seq: int, change: UpdateEffect) -> dict[str, Write]:
    """What a change writes: signed rows, new terms, new exceptions."""
    writes = {}
    if len(change.rows):
        rows = change.rows.append_column("sign", pa.array(change.signs.astype(np.int32)))
        writes[CHANGES] = signed_write(base, CHANGES, seq, rows)
    if len(change.predicates):
        writes[PREDICATE_CHANGES] = signed_write(base, PREDICATE_CHANGES, seq, change.predicates)
    writes |= change.graphs.writes(base, seq)
    return writes | term_writes(base, change.terms, change.encoding)

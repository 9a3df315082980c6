"""The pipeline: a knowledge base in a folder, filled and kept true by Spark.

Every method that changes something makes one commit, or none: a change that fails, or is
cut off, leaves the last version readable and the next change right.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from livefacts.engine.spark.jobs import frames
from livefacts.engine.spark.jobs.stage_report import JobReport, Stage, Stages
from livefacts.engine.spark.jobs.tasks import cores_of
from livefacts.engine.spark.jobs.work import Work, Written
from livefacts.engine.spark.joins.level_pass import Way
from livefacts.engine.spark.local.change_in_memory import is_handed_over
from livefacts.engine.spark.local.handover import TooLargeError, bytes_of, close_in_driver, room_for
from livefacts.engine.spark.optimizer import optimize
from livefacts.engine.spark.read.asked_facts import AskedFacts, Facts, read_asked, settle
from livefacts.engine.spark.read.frame_columns import GRAPH
from livefacts.engine.spark.read.frame_source import (
    FrameSource,
    check_frame,
    has_more,
    is_frame,
    size_of,
    table_of_frame,
)
from livefacts.engine.spark.read.ingestion import ingest
from livefacts.engine.spark.read.splits import BYTES_PER_SPLIT, find_files, make_splits
from livefacts.engine.spark.road_choice import JOINS, SMALL, Changer, Roads
from livefacts.engine.spark.session import require_extra
from livefacts.engine.spark.single.closure import materialize_single
from livefacts.engine.spark.store_settings import store_options
from livefacts.engine.spark.streaming.batch_figures import OnBatch, batches_frame
from livefacts.engine.spark.streaming.delta_output import DeltaOutput
from livefacts.engine.spark.streaming.maintained_stream import (
    CHECKPOINTS,
    PAUSE,
    STREAM,
    BatchTaker,
    StreamOptions,
    check_checkpoint,
    start_stream,
)
from livefacts.engine.spark.streaming.message_rows import message_frame
from livefacts.engine.spark.streaming.operations import MessageFormat
from livefacts.errors import InputError, LivefactsError
from livefacts.kb.consequences import compile_kernels
from livefacts.kb.rule_table import stored_program
from livefacts.kb.schema_closure import SchemaNotSingleError, is_followed_singly
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.tables import GENERAL, SINGLE, Commit, KnowledgeBase
from livefacts.kb.term_encoding import Encoding
from livefacts.language.checks.safety import check
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_rule
from livefacts.store.machine_code import announce_compilation
from livefacts.syntax import rule_sets
from livefacts.syntax.rule_sets import RuleSource

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.streaming.query import StreamingQuery

    from livefacts.engine.spark.table_verification import TablesReport

LOCAL, BY_NAME = "local", "by-name"
BYTES_PER_BUCKET = 96 << 20
MOST_BUCKETS = 1 << 16
MEMORY = "1g"
UNPACKED = 12
"""A packed file of triples is about this many times as large when it is unpacked."""

SAMPLE = "<urn:a> <urn:b> <urn:c> ."
DEFAULT_STREAM = "default"

Sources = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]


class Pipeline:
    """A knowledge base in a folder that all executors see, or on a remote store, and the Spark session to work on it.

    `buckets` is how many parts the facts are kept in, which is chosen by size at the first
    ingest and stays.  Where general rules and what is asserted fit into `memory` ("2g"), they are
    handed to the embedded engine, in the driver; with None they never are.  `on_stage` hears
    of each stage when it begins and when it is done, `on_batch` of each micro-batch of a
    stream.  The folder may be on a remote store, of which
    the environment, Spark's settings or `storage_options` (names as in deltalake) say the keys.

    For comparison, with the same results: changes of fewer than `small` facts are made in the driver;
    `road` chooses one for all changes ("driver", "tasks" or "joins"), and `maintenance` how
    changes are followed by joins ("counting-dred", "dred" or "recompute").
    """

    def __init__(
        self,
        session: SparkSession,
        path: str | os.PathLike[str],
        *,
        buckets: int | None = None,
        bytes_per_split: int = BYTES_PER_SPLIT,
        memory: str | int | None = MEMORY,
        small: int = SMALL,
        road: str | None = None,
        maintenance: str = Way.COUNTING_DRED.value,
        on_stage: Callable[[Stage, bool], None] | None = None,
        on_batch: OnBatch | None = None,
        storage_options: Mapping[str, str] | None = None,
    ) -> None:
        require_extra()
        self.session = session
        self.base = KnowledgeBase(path, store_options(session, path, storage_options or {}))
        self._buckets = buckets
        self._bytes_per_split = bytes_per_split
        self._memory = bytes_of(memory)
        self._on_stage = on_stage
        self.on_batch = on_batch
        self._changer = Changer(Roads.of(small, road, maintenance, self._memory))

    # changes

    def ingest(
        self,
        sources: Sources | DataFrame,
        *,
        format: str | None = None,
        bnodes: str = LOCAL,
        batch: str = "",
    ) -> JobReport:
        """Read files of triples in any RDF format; paths and globs, .gz and .zst too.

        Or a DataFrame with the columns s, p, o and, for named graphs, g, of N-Triples text.
        What cannot be read is listed in `rejects()`; a file that cannot be read to its end
        is left out.  A `batch` that was ingested before is not ingested again.
        """
        if bnodes not in (LOCAL, BY_NAME):
            raise InputError(f"unknown bnodes={bnodes!r}", hint=f'use "{LOCAL}" or "{BY_NAME}"')
        if is_frame(sources):
            return self._ingest_frame(sources, format, bnodes, batch)
        files = find_files(sources, self.base.options)
        _compile_all()
        splits = make_splits(
            files,
            f"s{self.base.last().seq + 1}",
            format=format,
            by_name=bnodes == BY_NAME,
            bytes_per_split=self._bytes_per_split,
        )
        with self.base.writing(new=True) as start:
            replayed = self._replayed(batch)
            if replayed is not None:
                return replayed
            size = sum(s.size() * (1 if not s.is_whole else _unpacked(s.path)) for s in splits)
            self.base.create({"buckets": self._buckets or self._chosen_buckets(size)})
            return ingest(self._work(start), splits, batch)

    def _ingest_frame(
        self, frame: DataFrame, format: str | None, bnodes: str, batch: str
    ) -> JobReport:
        if format is not None:
            raise InputError(
                "a DataFrame has no format", hint=f'spark.read.format("rdf") takes "{format}"'
            )
        check_frame(frame, self.session)
        _compile_all()
        # Labels have a scope of their own if they are local, and stay as they are otherwise.
        scope = f"s{self.base.last().seq + 1}f0" if bnodes == LOCAL else ""
        with self.base.writing(new=True) as start:
            replayed = self._replayed(batch)
            if replayed is not None:
                return replayed
            self.base.create({"buckets": self._buckets or self._chosen_buckets(size_of(frame))})
            source = FrameSource(frame, scope.encode(), batch)
            return ingest(self._work(start), source, batch)

    def materialize(self, rules: RuleSource | None = None, *, batch: str = "") -> JobReport:
        """Draw every conclusion from what was asserted, under these rules or those it had."""
        with self.base.writing() as start:
            replayed = self._replayed(batch)
            if replayed is not None:
                return replayed
            self._require_facts(start)
            program = self.program if rules is None else rule_sets.open_rules(rules)
            check(program)
            return self._close(self._work(start), program, batch)

    def _close(self, work: Work, program: Program, batch: str = "") -> JobReport:
        """Draw every conclusion, by the road that the program and its size ask for."""
        if not program.facts and not self._changer.roads.takes_joins(program):
            with suppress(SchemaNotSingleError):
                return materialize_single(work, program, batch)
        from livefacts.engine.spark.joins.general_rules import close_general

        room = room_for(work.base, work.start, self._memory)
        if room.fits and self._changer.roads.road != JOINS:
            with suppress(TooLargeError):
                return close_in_driver(work, program, room, batch)
        return close_general(work, program, batch=batch)

    def verify(self) -> TablesReport:
        """Compute everything anew by tasks, from what is asserted, and compare it with the tables.

        Nothing is changed, and nobody else changes anything meanwhile.
        """
        from livefacts.engine.spark.table_verification import verify_tables

        with self.base.writing() as start:
            self._require_closed(start)
            return verify_tables(self._work(start), self._close)

    def update(
        self, *, add: Facts | DataFrame = (), remove: Facts | DataFrame = (), batch: str = ""
    ) -> JobReport:
        """Assert and retract facts in one change; removals come first.

        `add` and `remove` are text, a Path to a file, facts, or a DataFrame as `ingest` takes it.
        `delta` of the report's `seq` is exactly what has come and gone.
        """
        with self.base.writing() as start:
            replayed = self._replayed(batch)
            if replayed is not None:
                return replayed
            self._require_closed(start)
            work = self._work(start)
            if self._stays_with_tasks(work, (add, remove)):
                come, go = (facts if is_frame(facts) else None for facts in (add, remove))
                with suppress(SchemaNotSingleError):
                    return self._changer.update_frames(work, come, go, batch)
            coming, going = (self._asked(facts) for facts in (add, remove))
            return self._changer.update(work, coming, going, batch)

    def _stays_with_tasks(self, work: Work, sides: Sequence[Facts | DataFrame]) -> bool:
        """Whether a change is of DataFrames that are too large for the driver."""
        given = [facts for facts in sides if is_frame(facts)]
        for frame in given:
            check_frame(frame, self.session)
        return (
            bool(given)
            and all(is_frame(facts) or facts == () for facts in sides)
            and not any(GRAPH in frame.columns for frame in given)
            and self._changer.takes_frames(work)
            and any(has_more(frame, self._changer.roads.small) for frame in given)
        )

    def _asked(self, facts: Facts | DataFrame) -> Facts:
        return table_of_frame(facts, self.session) if is_frame(facts) else facts

    def stream(
        self,
        df: DataFrame,
        *,
        deltas: str | os.PathLike[str] | None = None,
        trigger: Mapping[str, Any] | None = None,
        name: str = DEFAULT_STREAM,
        checkpoint: str | os.PathLike[str] | None = None,
        format: MessageFormat = None,
        pause: int | None = PAUSE,
    ) -> StreamingQuery:
        """Follow a stream of messages: each micro-batch is one change and one commit.

        `df` has the messages in a column `value`, or terms in s, p, o and g.  They are facts, RDF
        Patch or JSON lines, as each shows by itself or as `format` says, or any JSON by a map of
        `livefacts.sources.read_map`.  The same call goes on where a stream of this `name` stopped.
        What comes and goes is written to a Delta table, `deltas`.  After `pause` messages in a row
        that cannot be read, it stops.
        """
        options = StreamOptions(name, format, pause)
        self._require_closed(self.base.last())
        message_frame(df)
        folder = os.fspath(checkpoint or str(self.base.path / CHECKPOINTS / name))
        check_checkpoint(self.base.last(), name, store_path(folder, self.base.options))
        written = None if deltas is None else self._delta_output(deltas)
        taking = BatchTaker(self.base, self._taken, options, written, self.on_batch)
        return start_stream(df, taking, name, folder, trigger)

    def _delta_output(self, deltas: str | os.PathLike[str]) -> DeltaOutput:
        def whole(seq: int) -> pa.Table:
            return self.delta(seq, decoded=True).toArrow()

        found = DeltaOutput(self.base, store_path(deltas, self.base.options), whole)
        found.catch_up()
        return found

    def stream_batches(self) -> DataFrame:
        """What the batches of streams were: rows, facts, what came and went, times, and delays."""
        return batches_frame(self.session, self.base.path / CHECKPOINTS)

    def _taken(self, start: Commit, asked: AskedFacts, beside: Written, batch: str) -> JobReport:
        self._require_closed(start)
        work = replace(self._work(start), beside=beside)
        return self._changer.change(work, asked, STREAM, batch)

    def change_rules(
        self,
        add: RuleSource = (),
        remove: str | Rule | Sequence[str | Rule] = (),
        *,
        batch: str = "",
    ) -> JobReport:
        """Add rules, with the facts that come with them, and remove some by id or by text.

        Everything that follows now, and everything that no longer does, is in `delta` of the
        report's `seq`.
        """
        with self.base.writing() as start:
            replayed = self._replayed(batch)
            if replayed is not None:
                return replayed
            self._require_closed(start)
            return self._changer.change_rules(self._work(start), add, remove, batch)

    def optimize(self, *, keep: int | None = None) -> JobReport:
        """Fold what has changed into the facts, put small files together, and make room.

        Of versions, the last `keep` stay readable; all of them if it is not given.
        """
        with self.base.writing() as start:
            self._require_facts(start)
            return optimize(self._work(start), keep)

    def _require_closed(self, start: Commit) -> None:
        self._require_facts(start)
        if not start.notes.get("closed"):
            raise LivefactsError(
                "conclusions are not drawn from everything asserted yet", hint="materialize() first"
            )

    def _work(self, start: Commit) -> Work:
        buckets = int(self.base.settings["buckets"])
        return Work(self.session, self.base, start, buckets, Stages(self._on_stage))

    def _chosen_buckets(self, size: int) -> int:
        return min(MOST_BUCKETS, max(2 * cores_of(self.session), size // BYTES_PER_BUCKET + 1))

    def _replayed(self, batch: str) -> JobReport | None:
        made = self.base.of_batch(batch) if batch else None
        return None if made is None else JobReport(made.seq, made.kind, is_replay=True)

    def _require_facts(self, start: Commit) -> None:
        if not start.seq:
            raise LivefactsError(
                f"there is nothing in {self.base.path} yet", hint="ingest files first"
            )

    # what there is

    @property
    def seq(self) -> int:
        """The number of the last change."""
        return self.base.last().seq

    def history(self) -> list[Commit]:
        """All changes, oldest first: number, time, kind, batch, and rows written by table."""
        return list(self.base.commits())

    @property
    def program(self) -> Program:
        """The rules under which conclusions were last drawn."""
        return stored_program(self.base, self.base.last())

    def facts(
        self, *, derived: bool | None = None, decoded: bool = False, version: int | None = None
    ) -> DataFrame:
        """What holds, at a version or now: s, p, o and `told` (asserted or not); ids, or texts."""
        commit = self._commit(version)
        facts = frames.shown(frames.facts_frame(self.session, self.base, commit))
        told = facts["told"] > 0
        if derived is not None:
            facts = facts.where(~told if derived else told)
        facts = facts.select("s", "p", "o", told.alias("told"))
        return frames.decoded(facts, self.terms(version=version)) if decoded else facts

    def predicate_facts(self, *, decoded: bool = False, version: int | None = None) -> DataFrame:
        """The predicate facts that hold: name, arguments and `told` (asserted or not)."""
        terms = self.terms(version=version)
        facts = frames.predicates_frame(self.session, self.base, self._commit(version), terms)
        return frames.decoded_arguments(facts, terms) if decoded else facts

    def delta(self, seq: int, *, decoded: bool = False) -> DataFrame:
        """What change `seq` added (sign 1) and removed (sign -1).

        A triple has s, p and o, any other fact a name and arguments; what a fact does not have
        is null.
        """
        commit, terms = self.base.commit(seq), self.terms(version=seq)
        triples = frames.shown(frames.delta_frame(self.session, self.base, commit))
        others = frames.predicate_delta_frame(self.session, self.base, commit, terms)
        if decoded:
            triples = frames.decoded(triples, terms)
            others = frames.decoded_arguments(others, terms)
        return frames.whole_delta(triples, others)

    def graphs(self, *, decoded: bool = False, version: int | None = None) -> DataFrame:
        """The triples that named graphs assert, once for each graph: s, p, o and g.

        Where the default graph asserts such a triple too, g is 0, or null if decoded; triples
        that it asserts alone are not listed.
        """
        found = frames.graphs_frame(self.session, self.base, self._commit(version))
        return frames.decoded_graphs(found, self.terms(version=version)) if decoded else found

    def query(
        self, text: str, *, prefixes: Mapping[str, str] | None = None, version: int | None = None
    ) -> DataFrame:
        """The answers of a SPARQL query, a column for each variable; terms are N-Triples text.

        Unbound is null.  ASK gives one row with `answer`, CONSTRUCT gives `s`, `p` and `o`.
        """
        from livefacts.engine.spark.sparql.query_frame import query_frame

        return query_frame(self.session, self.base, self._commit(version), text, prefixes)

    def create_views(self, database: str = "kg", *, version: int | None = None) -> list[str]:
        """Views of a version, for Spark's SQL: `kg.triples`, `kg.vertices`, `kg.edges`, …; their names.

        They show that version until they are made again.
        """
        from livefacts.engine.spark.sql_views import SqlViews

        return SqlViews(self.session, self.base, self._commit(version), database).create()

    def terms(self, *, version: int | None = None) -> DataFrame:
        """All terms: id and text."""
        return frames.terms_frame(self.session, self.base, self._commit(version))

    def rejects(self) -> DataFrame:
        """What could not be read: seq, file, line, column, reason, text."""
        return frames.rejects_frame(self.session, self.base, self.base.last())

    def _commit(self, version: int | None) -> Commit:
        return self.base.last() if version is None else self.base.commit(version)

    def _general_road(self, *, are_closed: bool) -> str:
        """How general rules are followed, and why so; what joins have closed, joins go on with."""
        last = self.base.last()
        if not self._memory or self._changer.roads.road == JOINS:
            return "rounds of DataFrame joins"
        if are_closed and last.notes.get("path") == GENERAL and not is_handed_over(last):
            return (
                "rounds of DataFrame joins (as all conclusions were drawn; materialize() chooses)"
            )
        room = room_for(self.base, last, self._memory)
        if room.fits:
            return f"handed to the embedded engine in the driver ({room})"
        return f"rounds of DataFrame joins (too much for the driver: {room})"

    def plan(self, rules: RuleSource | None = None) -> str:
        """How rules are followed, in words: these, or those of the knowledge base."""
        program = self.program if rules is None else rule_sets.open_rules(rules)
        parts = _parts(program, self._general_road(are_closed=rules is None))
        state = self.base.last()
        if state.seq and not state.notes.get("closed"):
            parts.append("conclusions are not drawn from everything asserted yet: materialize()")
        return "\n".join(part for part in parts if part)


def _parts(program: Program, general_road: str) -> list[str]:
    """Where the rules of a program are followed."""
    single = [rule for rule in program.rules if is_followed_singly(rule)]
    general = [rule for rule in program.rules if not is_followed_singly(rule)]
    if general:
        with_them = f"{SINGLE}: in the same way, since general rules may conclude what they need"
        return [_part(f"general: {general_road}", general), _part(with_them, single)]
    schema_only = [rule for rule in single if _is_schema_only(rule)]
    inside = [rule for rule in single if not _is_schema_only(rule)]
    return [
        _part("schema only: closed in the driver by the embedded engine", schema_only),
        _part(f"{SINGLE}: inside tasks, under the closed schema", inside),
    ]


def _is_schema_only(rule: Rule) -> bool:
    from livefacts.plan.rules.schema_split import is_schema

    return all(is_schema(atom) for atom in rule.body)  # type: ignore[arg-type]


def _part(title: str, rules: Iterable[Rule]) -> str:
    lines = [f"  {rule.id}: {write_rule(rule)}" for rule in rules]
    return "\n".join([title, *lines]) if lines else ""


def _compile_all() -> None:
    """Compile kernels here, once, and not in every worker at the same time."""
    announce_compilation()
    settle(read_asked(SAMPLE), Encoding(), lambda ids: {})
    compile_kernels()


def _unpacked(path: str) -> int:
    return UNPACKED if path.endswith((".gz", ".zst")) else 1

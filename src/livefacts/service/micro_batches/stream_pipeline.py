"""The stream pipeline: a knowledge base on Spark, with queries and programs over streams beside it.

`register` follows a C-SPARQL or RSP-QL query, `run` a program with time.  One reasoner in the driver
follows each, over the facts and the rules of the knowledge base; what it knows is in a folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from livefacts.engine.spark.jobs.tasks import cores_of
from livefacts.engine.spark.pipeline import Pipeline
from livefacts.errors import InputError, LivefactsError, OptionError
from livefacts.kb.stores.address import is_remote
from livefacts.language.checks.key_partitions import Partitioning, partitioning_of
from livefacts.language.formula import Timed
from livefacts.language.program import NO_PROGRAM, Program, Rule
from livefacts.service.micro_batches.answer_files import (
    DELTA,
    PATCH,
    AnswerFiles,
    answer_files,
)
from livefacts.service.micro_batches.answer_rows import Conclusions
from livefacts.service.micro_batches.batch_events import (
    ARRIVAL,
    CLOCK,
    IN_VALUE,
    RowReading,
    rows_of,
)
from livefacts.service.micro_batches.keyed_answers import KeyedAnswers, event_time_of, kept_query
from livefacts.service.micro_batches.keyed_groups import KeyedProgram
from livefacts.service.micro_batches.keyed_stream import KeyedQuery, answers_by_key
from livefacts.service.micro_batches.knowledge_background import KnowledgeBackground
from livefacts.service.micro_batches.stream_reasoner import (
    PROGRAM,
    REGISTERED,
    StreamQuery,
    StreamReasoner,
    stream_id,
)
from livefacts.syntax.json_map.fact_lines import JsonMap
from livefacts.syntax.rule_sets import RuleSource, open_rules
from livefacts.syntax.sparql.csparql import parse_registration

if TYPE_CHECKING:
    from typing import Unpack

    from livefacts.engine.spark.watch.answer_frames import Messages as DataFrame

STREAMS, SPARK = "_streams", "spark"


class FollowOptions(TypedDict, total=False):
    """How a stream is followed; `StreamPipeline.register` says what each means."""

    format: str
    trigger: Mapping[str, Any] | None
    checkpoint: str | Path | None
    json_map: str | JsonMap | None
    when: str
    lateness: int | str | Mapping[str, int | str]
    late: str
    idle: int | str | None
    max_ahead: int | str | None
    tick: str | None
    version: int | None
    upgrade: bool


class StreamPipeline(Pipeline):
    """A pipeline that can follow queries and programs over streams, too."""

    def register(
        self,
        text: str,
        *,
        source: DataFrame,
        to: str,
        name: str | None = None,
        **options: Unpack[FollowOptions],
    ) -> RunningStream:
        """Follow a C-SPARQL or RSP-QL query over a stream; its answers go to a table or to files.

        `source` is a streaming DataFrame with a column `value`: timed facts, or JSON that `json_map`
        makes facts of.  They happen at the times that they say; at the timestamps of rows with
        `when="row"`; when they arrive with `when="arrival"`, and then time goes on in silence, too.
        `to` is a Delta table, or, by `format`, a folder of "parquet", "jsonl" or "patch" files.
        `lateness`, `late`, `idle` and `max_ahead` are those of `Reasoner.event_time`.

        The background are the facts and rules of the knowledge base, which are followed, or those
        of one `version`.  What is known stays in `checkpoint`, `_streams/<name>` of the knowledge
        base, so that the same call goes on where it stopped; another text is refused there, unless
        it is an `upgrade`.  `trigger` is Spark's: {"availableNow": True}.
        """
        found = parse_registration(text)
        if options.get("format") == PATCH and found.form != "CONSTRUCT":
            raise InputError(
                f"a patch is made of triples, and {found.form} makes none",
                hint='use CONSTRUCT, or format="jsonl", "parquet" or "delta"',
            )
        return self._follow(REGISTERED, text, NO_PROGRAM, name or found.name, source, to, options)

    def run(
        self,
        rules: RuleSource,
        *,
        source: DataFrame,
        to: str,
        name: str = "program",
        keys: bool | int = False,
        **options: Unpack[FollowOptions],
    ) -> RunningStream:
        """Follow a program with time over a stream: what its rules conclude comes (+) and goes (-).

        A row of its answers has the batch, the time point, `op` and the fact.  The options are
        those of `register`.  With `keys`, so many groups of keys (True: two for each core) have a
        reasoner each, in tasks; that is refused, with the reason, where facts of different keys can
        meet: `partitioning(rules)` says so before.  The background stays as it was at the beginning.
        """
        from livefacts.language.checks.safety import check
        from livefacts.language.rule_text import write_program

        program = open_rules(rules)
        check(program)
        text = write_program(program)
        if keys:
            return self._follow_by_key(text, program, name, source, to, int(keys), options)
        return self._follow(PROGRAM, text, program, name, source, to, options)

    def partitioning(self, rules: RuleSource, *, version: int | None = None) -> Partitioning:
        """Whether a program can be followed for each key by itself, and why not: `print` shows it."""
        background = KnowledgeBackground(self, version)
        return partitioning_of(self._whole(open_rules(rules), background), background.families())

    def plan(self, rules: RuleSource | None = None) -> str:
        """How rules are followed, in words: these, or those of the knowledge base."""
        if rules is not None and any(map(_looks_at_time, open_rules(rules).rules)):
            found = self.partitioning(rules)
            way = "by run(), in one reasoner in the driver"
            return f"{way}{'; with keys=True' if found.is_proven else ''}\n{found}"
        return super().plan(rules)

    def _whole(self, program: Program, background: KnowledgeBackground) -> Program:
        """The rules of a program with those of the knowledge base."""
        return background.program().joined(program)

    def _follow_by_key(
        self,
        text: str,
        program: Program,
        name: str,
        source: DataFrame,
        to: str,
        keys: int,
        options: FollowOptions,
    ) -> RunningStream:
        folder = self._stream_folder(name, options.get("checkpoint"))
        groups = keys if keys > 1 else 2 * cores_of(self.session)
        asked = self._query_of(PROGRAM, text, options)
        known = kept_query(folder, asked, self._version(options), groups)
        background = KnowledgeBackground(self, known.version)
        whole = self._whole(program, background)
        found = partitioning_of(whole, background.families())
        if not found.is_proven:
            raise LivefactsError(
                f"this program cannot be followed by key: {'; '.join(found.reasons)}",
                hint="leave keys out: one reasoner in the driver follows any program",
            )
        tick = options.get("tick")
        reading = self._reading(options, program, background)
        keyed = KeyedProgram(
            whole,
            found,
            known.groups,
            background.statements(),
            tick,
            Conclusions.of(program).families,
        )
        query = KeyedQuery(keyed, reading, tuple(event_time_of(asked, reading.tick).items()))
        answers = self._answers(to, folder, name, options)
        rows = answers_by_key(self._rows(source, reading), query)
        stream = KeyedAnswers(folder, answers, str(found))
        return RunningStream.start(stream, rows, options.get("trigger"))

    def _version(self, options: FollowOptions) -> int:
        return KnowledgeBackground(self, options.get("version")).version

    def _query_of(self, kind: str, text: str, options: FollowOptions) -> StreamQuery:
        return StreamQuery(
            kind,
            text,
            options.get("lateness", 0),
            options.get("late", "wait"),
            options.get("idle"),
            options.get("max_ahead", "1 h"),
            options.get("tick"),
        )

    def _reading(
        self, options: FollowOptions, program: Program, background: KnowledgeBackground
    ) -> RowReading:
        tick = _tick_of(options.get("tick"), program, background)
        return RowReading.of(options.get("json_map"), options.get("when", IN_VALUE), tick)

    def _rows(self, source: DataFrame, reading: RowReading) -> DataFrame:
        rows = rows_of(source)
        return rows.union(self._clock()) if reading.when == ARRIVAL else rows

    def _follow(
        self,
        kind: str,
        text: str,
        program: Program,
        name: str,
        source: DataFrame,
        to: str,
        options: FollowOptions,
    ) -> RunningStream:
        folder = self._stream_folder(name, options.get("checkpoint"))
        asked = self._query_of(kind, text, options)
        background = KnowledgeBackground(self, options.get("version"))
        reading = self._reading(options, program, background)
        answers = self._answers(to, folder, name, options)
        rows = self._rows(source, reading)
        reasoner = StreamReasoner(
            folder,
            asked,
            program,
            reading,
            answers,
            background,
            upgrade=options.get("upgrade", False),
        )
        return RunningStream.start(reasoner.open(), rows, options.get("trigger"))

    def _answers(self, to: str, folder: Path, name: str, options: FollowOptions) -> AnswerFiles:
        stream = f"{name} {stream_id(folder)}"
        return answer_files(to, options.get("format", DELTA), stream, self.base.options)

    def _clock(self) -> DataFrame:
        """A row a second, so that there is a batch when a source is silent."""
        beats = self.session.readStream.format("rate").option("rowsPerSecond", 1).load()
        return beats.selectExpr(
            "cast(null as binary) as value",
            "unix_micros(timestamp) as time",
            f"'{CLOCK}' as lane",
            "cast(null as long) as offset",
            "unix_micros(current_timestamp()) as arrival",
        )

    def _stream_folder(self, name: str, checkpoint: str | Path | None) -> Path:
        if "/" in name or name in ("", ".", ".."):
            name = "".join(c if c.isalnum() else "-" for c in name).strip("-") or "query"
        if checkpoint is not None:
            if is_remote(str(checkpoint)):
                raise OptionError(
                    f"{checkpoint}: what a stream knows is kept on the disk of the driver",
                    hint="checkpoint= names a folder of this machine",
                )
            return Path(checkpoint)
        if not self.base.path.is_local:
            raise OptionError(
                f"{self.base.path} is on a remote store, and what a stream knows is kept on the "
                "disk of the driver",
                hint="checkpoint= names a folder of this machine",
            )
        return self.base.path.folder / STREAMS / name


def _looks_at_time(rule: Rule) -> bool:
    return rule.at is not None or any(isinstance(each, Timed) for each in rule.body)


def _tick_of(tick: str | None, program: Program, background: KnowledgeBackground) -> Any:
    from livefacts.model.durations import read_duration

    return read_duration(tick) if tick else program.tick or background.program().tick


class RunningStream:
    """A query or a program that follows a stream; Spark's StreamingQuery with its reasoner."""

    def __init__(self, stream: StreamReasoner | KeyedAnswers, query: Any) -> None:
        self.stream = stream
        self.query = query
        """Spark's own."""

    @classmethod
    def start(
        cls,
        stream: StreamReasoner | KeyedAnswers,
        rows: DataFrame,
        trigger: Mapping[str, Any] | None,
    ) -> RunningStream:
        """Begin to follow a stream."""
        try:
            writer = rows.writeStream.foreachBatch(_taking(stream)).option(
                "checkpointLocation", str(stream.folder / SPARK)
            )
            if trigger:
                writer = writer.trigger(**trigger)
            return cls(stream, writer.start())
        except BaseException:
            stream.close()
            raise

    def await_end(self, timeout: float | None = None) -> bool:
        """Wait until the stream has ended, for so many seconds at most; whether it has."""
        has_ended = True
        try:
            if timeout is None:
                self.query.awaitTermination()
            else:
                has_ended = bool(self.query.awaitTermination(timeout))
        except BaseException:
            self.stream.close()
            raise
        if has_ended:
            self.stream.close()
        return has_ended

    def stop(self) -> None:
        """End after the batch under way; the same call goes on from there."""
        try:
            self.query.stop()
        finally:
            self.stream.close()

    @property
    def plan(self) -> str:
        """How it is followed, in words."""
        return self.stream.plan

    @property
    def is_active(self) -> bool:
        """Whether it follows its stream."""
        return bool(self.query.isActive)

    def __enter__(self) -> RunningStream:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _taking(stream: StreamReasoner | KeyedAnswers) -> Callable[[DataFrame, int], None]:
    def take(frame: DataFrame, batch: int) -> None:
        try:
            stream.take(frame.toArrow(), batch)
        except LivefactsError:
            stream.close()
            raise

    return take

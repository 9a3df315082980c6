"""Table verification: everything computed anew by tasks, and compared with what the tables say.

Data files are read first, each as a whole, and damage is named.  Then all conclusions are
drawn once more from what is asserted, as `materialize` does it, into files that no commit
names, and every fact, assertion and counter is compared by joins; at last terms, graphs and
facts are held against each other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from livefacts.engine.spark.jobs import frames
from livefacts.engine.spark.jobs.work import Work
from livefacts.errors import LivefactsError
from livefacts.kb.file_digests import file_digest
from livefacts.kb.rule_table import stored_program
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.tables import (
    CHANGES,
    COUNTED,
    FILES,
    GENERAL,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    SCHEMAS,
    TRIPLES_TABLE,
    Commit,
    KnowledgeBase,
    Write,
)
from livefacts.kb.term_rows import encoding_of
from livefacts.language.program import Program
from livefacts.plan.rules.normal_form import TRUE
from livefacts.store.terms.hash_ids import KIND_MASK
from livefacts.store.terms.text_table import BLANK, IRI, LITERAL, SYMBOL, TRIPLE

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

MISSING, UNFOUNDED, TWICE, ASSERTED = "missing", "unfounded", "twice", "asserted"
SUPPORT, DAMAGED, TERM, GRAPH = "support", "files", "terms", "graphs"
KEPT = 100
"""Of each kind of difference, at most so many are listed."""
LISTED = 10
"""How many differences are printed."""
FILES_A_TASK = 16
LARGEST_TASKS = 200

Close = Callable[[Work, Program], object]
"""Draws all conclusions of a program, from what is asserted, and publishes them."""

KINDS = {"<<": TRIPLE, "<": IRI, "_:": BLANK, '"': LITERAL, "'": SYMBOL}
"""How the texts of terms begin, longest first."""


@dataclass(frozen=True, slots=True)
class TableDifference:
    """One thing that is not as it should be; the kinds are those of `Reasoner.verify`.

    "missing" follows, and is not stored; "unfounded" is stored, and does not follow; "twice" is
    stored more than once; "asserted" and "support" are counted wrongly; "terms", "graphs" and
    "files" have a note.
    """

    kind: str
    fact: str = ""
    expected: int = 0
    found: int = 0
    note: str = ""

    def __str__(self) -> str:
        told = {
            MISSING: f"{self.fact} follows, but is missing",
            UNFOUNDED: f"{self.fact} is there, but nothing asserts or derives it",
            TWICE: f"{self.fact} is stored {self.found} times",
        }
        counted = f"{self.fact}: {self.kind} is {self.found}, should be {self.expected}"
        return self.note or told.get(self.kind, counted)


@dataclass(frozen=True, slots=True)
class TablesReport:
    """What `verify` found: true if nothing differs, and in words when printed.

    `differences` are the first of each kind, and `counts` says how many there are of each.
    """

    differences: tuple[TableDifference, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    facts: int = 0
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether nothing differs."""
        return not self.differences

    def as_dict(self) -> dict[str, Any]:
        """The report as plain data."""
        return {"ok": self.ok, **asdict(self)}

    def __bool__(self) -> bool:
        return self.ok

    def __str__(self) -> str:
        looked = f"{self.facts:,} facts computed anew ({self.seconds:.1f} s)"
        if DAMAGED in self.counts:
            looked = f"files are damaged, and nothing was computed anew ({self.seconds:.1f} s)"
        if self.ok:
            return f"{looked}: everything is as it should be"
        total = sum(self.counts.values())
        lines = [f"{looked}: {total:,} {'difference' if total == 1 else 'differences'}"]
        lines += [f"  {difference}" for difference in self.differences[:LISTED]]
        return "\n".join([*lines, *([f"  and {total - LISTED:,} more"] if total > LISTED else [])])


class TrialBase(KnowledgeBase):
    """A knowledge base on which a change is tried: what it would publish is kept here instead."""

    def __init__(self, path: StorePath) -> None:
        super().__init__(path)
        self.writes: Mapping[str, Write] = {}
        self.notes: Mapping[str, Any] = {}

    def publish(
        self,
        start: Commit,
        kind: str,
        writes: Mapping[str, Write],
        *,
        batch: str = "",
        notes: Mapping[str, Any],
    ) -> Commit:
        """Keep what would be written; the commit that there would be."""
        self.writes, self.notes = writes, notes
        return Commit(start.seq + 1, batch, kind, start.versions, {**start.notes, **notes})

    def paths(self, table: str, start: Commit) -> list[StorePath]:
        """The files that the table would have, and those of `start` where it is not written."""
        if table not in self.writes:
            return self.files(table, start)
        return [self.path / table / file.name for file in self.writes[table].files]

    def discard(self) -> None:
        """Remove what was written."""
        for table, write in self.writes.items():
            for file in write.files:
                (self.path / table / file.name).delete()


def verify_tables(work: Work, close: Close) -> TablesReport:
    """What differs between the tables of a commit and everything computed anew."""
    found = list(_damages(work))
    if found:
        return _reported(work, found, {DAMAGED: len(found)}, 0)
    program = stored_program(work.base, work.start)
    trial = TrialBase(work.base.path)
    anew = Work(work.session, trial, work.start, work.buckets, work.stages)
    try:
        close(anew, program)
        with work.stages.stage("compare") as stage:
            rows = [*_compared(work, trial), *_inner_differences(work)]
            differences, counts = _collected(work, rows)
            stage.rows = facts = _count(work, trial)
        return _reported(work, differences, counts, facts)
    finally:
        trial.discard()


def _reported(
    work: Work, found: Sequence[TableDifference], counts: Mapping[str, int], facts: int
) -> TablesReport:
    seconds = sum(stage.seconds for stage in work.stages.done)
    return TablesReport(tuple(found), dict(counts), facts, seconds)


def _count(work: Work, trial: TrialBase) -> int:
    tables = (TRIPLES_TABLE, PREDICATES_TABLE)
    return sum(
        path.parquet().metadata.num_rows for t in tables for path in trial.paths(t, work.start)
    )


# files


def _damages(work: Work) -> Iterator[TableDifference]:
    """Data files that cannot be read, or are not those that were written."""
    base, start = work.base, work.start
    digests = start.notes.get(FILES, {})
    files = [
        (table, path, digests.get(table, {}).get(path.name, ""))
        for table in start.versions
        for path in base.files(table, start)
    ]
    step = max(FILES_A_TASK, len(files) // LARGEST_TASKS + 1)
    groups = [tuple(files[at : at + step]) for at in range(0, len(files), step)]
    with work.stages.stage("read all files") as stage:
        found = work.tasks(stage, damages_in, groups)()
        stage.rows = len(files)
    for message in (message for each in found for message in each):
        yield TableDifference(DAMAGED, note=message)


def damages_in(files: Sequence[tuple[str, StorePath, str]]) -> list[str]:
    """What is wrong with some files: their table, path, and digest if one is known."""
    return [message for each in files for message in _damage(*each)]


def _damage(table: str, path: StorePath, digest: str) -> Iterator[str]:
    try:
        if digest and file_digest(path) != digest:
            yield f"{path} is not as it was written"
            return
        path.read_table(SCHEMAS[table])
    except LivefactsError as error:
        yield error.message
    except (OSError, pa.ArrowException) as error:
        reason = str(getattr(error, "strerror", None) or error).splitlines()[0]
        yield f"{path} cannot be read: {reason}"


# facts


def _compared(work: Work, trial: TrialBase) -> Iterator[tuple[DataFrame, tuple[str, ...]]]:
    """The facts that differ, with the kind of each difference, and the columns of their ids."""
    from pyspark.sql import functions as F  # noqa: N812

    is_counted = _is_counted(work.start.notes, trial.notes)
    truth = encoding_of(work.base, work.start).id_of(f"'{TRUE.name}")
    for table, changed, keys in (
        (TRIPLES_TABLE, CHANGES, ("s", "p", "o")),
        (PREDICATES_TABLE, PREDICATE_CHANGES, ("pred", "arguments")),
    ):
        files = trial.paths(table, work.start)
        anew = _summed(frames.frame_of_files(work.session, table, files), None, keys)
        stored = frames.frame(work.session, work.base, table, work.start)
        changes = frames.frame(work.session, work.base, changed, work.start)
        kept = _summed(stored, changes, keys)
        if table == PREDICATES_TABLE:
            # Some roads store the fact that is always true, and others do not.
            anew, kept = (each.where(F.col("pred") != truth) for each in (anew, kept))
        yield _differing(anew, kept, keys, is_counted=is_counted), keys


def _is_counted(before: Mapping[str, Any], anew: Mapping[str, Any]) -> bool:
    """Whether the counters of rules in the tables can be compared with what was computed anew.

    General rules that are handed over to the embedded engine leave none, and those of joins
    count other things than those of single triples.
    """
    if before.get("path") != anew.get("path"):
        return False
    return before.get("path") != GENERAL or bool(before.get(COUNTED) and anew.get(COUNTED))


def _summed(facts: DataFrame, changes: DataFrame | None, keys: Sequence[str]) -> DataFrame:
    """Each fact once, with its counters and how often it is stored."""
    from pyspark.sql import functions as F  # noqa: N812

    columns = [*keys, *frames.COUNTS]
    rows = facts.select(*columns, F.lit(1).alias("stored"))
    if changes is not None:
        rows = rows.unionByName(changes.select(*columns, F.lit(0).alias("stored")))
    summed = (F.sum(name).cast("long").alias(name) for name in (*frames.COUNTS, "stored"))
    return rows.groupBy(*keys).agg(*summed)


def _differing(
    anew: DataFrame, kept: DataFrame, keys: Sequence[str], *, is_counted: bool
) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    a, k = (
        each.withColumn("there", F.lit(True)).alias(n) for n, each in (("a", anew), ("k", kept))
    )
    joined = a.join(k, [F.col(f"a.{key}") == F.col(f"k.{key}") for key in keys], "full")

    def number(side: str, name: str) -> Any:
        return F.coalesce(F.col(f"{side}.{name}"), F.lit(0))

    holds = {side: (number(side, "support") > 0) | (number(side, "told") > 0) for side in "ak"}
    support, told = number("k", "support"), number("k", "told")
    wrong = number("a", "support") != support if is_counted else support < 0
    kind = (
        F.when(holds["a"] & ~holds["k"], MISSING)
        .when(~holds["a"] & holds["k"], UNFOUNDED)
        .when(number("k", "stored") > 1, TWICE)
        .when(number("a", "told") != told, ASSERTED)
        .when(wrong, SUPPORT)
    )
    expected, found = (
        F.when(kind == ASSERTED, number(side, "told"))
        .when(kind == TWICE, number(side, "stored"))
        .otherwise(number(side, "support"))
        for side in "ak"
    )
    names = [F.coalesce(F.col(f"a.{key}"), F.col(f"k.{key}")).alias(key) for key in keys]
    shown = [kind.alias("kind"), expected.alias("expected"), found.alias("found")]
    return joined.select(*names, *shown).where("kind IS NOT NULL")


# terms and graphs


def _inner_differences(work: Work) -> Iterator[tuple[DataFrame, tuple[str, ...]]]:
    """Terms, graphs and facts that do not fit each other, as rows of ids with a kind."""
    from pyspark.sql import functions as F  # noqa: N812

    session, base, start = work.session, work.base, work.start
    facts = frames.facts_frame(session, base, start)
    others = frames.counted_predicates(session, base, start)
    graphs = frames.graphs_frame(session, base, start)
    terms = frames.terms_frame(session, base, start)
    ids = facts.select(F.explode(F.array("s", "p", "o")).alias("id"))
    ids = ids.unionByName(others.select(F.explode(F.expr("ARRAY(pred) || arguments")).alias("id")))
    ids = ids.unionByName(graphs.where("g <> 0").select(F.col("g").alias("id"))).distinct()
    yield _noted(ids.join(terms, "id", "left_anti"), TERM, -1), ("id",)
    counted = terms.groupBy("id").agg(F.count("*").alias("n")).where("n > 1")
    yield _noted(counted, TERM, 0).withColumn("found", F.col("n")).drop("n"), ("id",)
    if "bits" not in base.settings:
        exceptions = list(encoding_of(base, start).exceptions)
        wrong = terms.where(f"id <> {_id_in_sql()}").where(~F.col("text").isin(exceptions))
        yield _noted(wrong.select("id"), TERM, 1), ("id",)
    told = facts.where("told > 0").select("s", "p", "o")
    unfounded = graphs.join(told, ["s", "p", "o"], "left_anti").select("s", "p", "o", "g")
    yield _noted(unfounded, GRAPH, 0), ("s", "p", "o", "g")


def _noted(rows: DataFrame, kind: str, expected: int) -> DataFrame:
    from pyspark.sql import functions as F  # noqa: N812

    columns = {"kind": kind, "expected": expected, "found": 0}
    return rows.select("*", *(F.lit(value).alias(name) for name, value in columns.items()))


def _id_in_sql() -> str:
    """The id that a term has by its text."""
    cases = " ".join(
        f"WHEN startswith(text, '{start.replace(chr(39), chr(39) * 2)}') THEN {kind}L"
        for start, kind in KINDS.items()
    )
    return f"((xxhash64(text) & {~KIND_MASK}L) | CASE {cases} END)"


# as words


def _collected(
    work: Work, parts: Sequence[tuple[DataFrame, tuple[str, ...]]]
) -> tuple[list[TableDifference], dict[str, int]]:
    """The first differences of each kind, and how many there are of each."""
    found: list[TableDifference] = []
    counts: dict[str, int] = {}
    for rows, keys in parts:
        kept = rows.persist()
        for row in kept.groupBy("kind").count().collect():
            counts[row.kind] = counts.get(row.kind, 0) + row["count"]
            found += _worded(work, kept.where(f"kind = '{row.kind}'").limit(KEPT).collect(), keys)
        kept.unpersist()
    return found, counts


def _worded(work: Work, rows: Sequence[Any], keys: Sequence[str]) -> Iterator[TableDifference]:
    lists = [[id for key in keys for id in _listed(row[key])] for row in rows]
    terms = frames.terms_frame(work.session, work.base, work.start)
    asked = terms.where(terms["id"].isin(sorted({id for ids in lists for id in ids})))
    texts = {row.id: row.text for row in asked.collect()}
    for row, ids in zip(rows, lists, strict=True):
        written = [texts.get(id, f"(term {id})") for id in ids]
        if row.kind == TERM:
            yield TableDifference(TERM, note=_term_note(row, written[0], ids[0]))
        elif row.kind == GRAPH:
            graph = written[3] if ids[3] else "the default graph"
            note = f"{' '.join(written[:3])} is of {graph}, but not asserted"
            yield TableDifference(GRAPH, note=note)
        else:
            fact = _fact(keys, written)
            yield TableDifference(row.kind, fact, int(row.expected), int(row.found))


def _listed(value: Any) -> list[int]:
    return [value] if isinstance(value, int) else list(value)


def _fact(keys: Sequence[str], texts: Sequence[str]) -> str:
    if keys[0] == "s":
        return " ".join(texts)
    name, *arguments = (text.removeprefix("'") for text in texts)
    return f"{name}({', '.join(arguments)})"


def _term_note(row: Any, text: str, number: int) -> str:
    if row.expected < 0:
        return f"there is no term {number}, and facts speak of it"
    return (
        f"{text} has the id {number} of another"
        if row.expected
        else f"{text} is stored {row.found} times"
    )

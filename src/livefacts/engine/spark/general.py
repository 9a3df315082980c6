"""General rules in the pipeline: told facts from the tables, conclusions back into them.

Rules that join several facts, negate, aggregate or compute run as rounds of DataFrame
joins.  Their conclusions are written into the same tables as those of single triples;
predicate facts have a table of their own, `facts_n`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyoxigraph import Triple
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812

from livefacts.engine.spark.closing import known_texts, rules_write
from livefacts.engine.spark.consequences import FACTS
from livefacts.engine.spark.encode import Encoding, encode_rows, encode_terms
from livefacts.engine.spark.exchange import run_tasks, write_buckets
from livefacts.engine.spark.frames import facts_frame, frame
from livefacts.engine.spark.ingest import (
    MOST_SALTS,
    Ingest,
    bucket_files,
    encoding_of,
    term_writes,
)
from livefacts.engine.spark.materialize import Closure, joined_plan, materialize
from livefacts.engine.spark.reports import Report
from livefacts.engine.spark.rounds import Setting
from livefacts.engine.spark.stages import Bucket, collect_bucket
from livefacts.engine.spark.table import columns_of, shapes_in
from livefacts.engine.spark.tables import (
    CHANGES,
    OVERWRITE,
    PREDICATES_TABLE,
    RULES,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    DataFile,
    Write,
    write_file,
)
from livefacts.engine.spark.update import Facts, encoded_facts, rows_of
from livefacts.errors import LivefactsError
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.rules.program import Program
from livefacts.store.dictionary import Dictionary
from livefacts.store.rows import TRIPLES

GENERAL = "joins"
Told = Mapping[int, DataFrame]


@dataclass(slots=True)
class TableTerms:
    """The dictionary in the tables, and the terms that rules add to it."""

    work: Ingest
    buckets: list[Bucket]
    encoding: Encoding
    new: dict[int, str] = field(default_factory=dict)

    def put(self, terms: Iterable[Term]) -> None:
        """Make sure that terms are in the table."""
        listed = list(terms)
        for salt in range(1, MOST_SALTS):
            found = encode_terms(listed, self.encoding)
            texts = dict(zip(found.texts.to_pylist(), found.ids.tolist(), strict=True))
            owners = known_texts(self.work, found.ids, self.buckets)
            known = set(owners)
            owners |= self.new
            clashing = [t for t, number in texts.items() if owners.setdefault(number, t) != t]
            if not clashing:
                self.new |= {number: t for t, number in texts.items() if number not in known}
                return
            salted = {text: self.encoding.id_of(text, salt) for text in clashing}
            exceptions = {**self.encoding.exceptions, **salted}
            self.encoding = replace(self.encoding, exceptions=exceptions)
        raise LivefactsError("too many terms have the same hash", hint="please report this")

    def table(self) -> DataFrame:
        """All terms: `id` and `text`."""
        session = self.work.session
        stored = frame(session, self.work.base, TERMS, self.work.start)
        columns = pa.table([list(self.new), list(self.new.values())], SCHEMAS[TERMS])
        return stored.unionByName(session.createDataFrame(columns))

    def remember(self, made: DataFrame) -> None:
        """Take in terms that rules have computed."""
        texts = {row.id: row.text for row in made.distinct().collect()}
        ids = np.array(sorted(texts.keys() - self.new.keys()), np.int64)
        known = known_texts(self.work, ids, self.buckets) if len(ids) else {}
        if any(known.get(number, text) != text for number, text in texts.items()):
            raise LivefactsError(
                "a computed term has the hash of another term", hint="please report this"
            )
        self.new |= {number: text for number, text in texts.items() if number not in known}

    @property
    def id_of(self) -> Callable[[str], int]:
        """The id of a text: a function that tasks can be sent."""
        return self.encoding.id_of


def close_general(
    work: Ingest,
    program: Program,
    *,
    added: Told | None = None,
    removed: Told | None = None,
    terms: TableTerms | None = None,
    kind: str = "materialize",
    batch: str = "",
) -> Report:
    """All conclusions of any program, from told facts with some added and removed; one commit."""
    terms = terms or table_terms(work)
    with work.stages.stage("told facts"):
        told = _merged(told_frames(work), added or {}, removed or {})
        told = _merged(told, program_facts(work, program, terms), {})
    with work.stages.stage("close by joins") as stage:
        setting = Setting.of(work.session, terms)
        closure = materialize(setting, joined_plan(program.rules), told, limit=program.limit)
        stage.rows = closure.size
    with work.stages.stage("publish") as stage:
        triples = _published_triples(work, closure, terms.buckets)
        others = _published_predicates(work, closure)
        stage.rows = sum(f.rows for f in (*triples, *others))
        stage.bytes = sum(f.size for f in (*triples, *others))
    with work.stages.stage("commit"):
        writes = {
            TRIPLES_TABLE: Write(tuple(triples), OVERWRITE),
            PREDICATES_TABLE: Write(tuple(others), OVERWRITE),
            **_other_writes(work, program, terms),
        }
        notes = {"closed": True, "path": GENERAL, "facts": closure.size}
        commit = work.base.publish(work.start, kind, writes, batch=batch, notes=notes)
    return Report(commit.seq, kind, {"facts": closure.size}, tuple(work.stages.done))


def _other_writes(work: Ingest, program: Program, terms: TableTerms) -> dict[str, Write]:
    writes = {RULES: rules_write(work, replace(program, facts=()))}
    if CHANGES in work.start.versions:
        writes[CHANGES] = Write((), OVERWRITE)
    return writes | term_writes(work.base, terms.new, terms.encoding)


def updated_general(
    work: Ingest, program: Program, add: Facts, remove: Facts, scope: bytes, batch: str
) -> Report:
    """An update of triples: everything that follows, anew, from what is told then."""
    terms = table_terms(work)
    dictionary = Dictionary()
    rows = rows_of(add, scope, dictionary)
    terms.put(dictionary.decode(np.unique(rows)))
    came, _ = encode_rows(rows, dictionary, terms.encoding)
    gone, _ = encoded_facts(remove, b"", terms.encoding)
    return close_general(
        work,
        program,
        added={TRIPLES: ids_frame(work, "spo", came)},
        removed={TRIPLES: ids_frame(work, "spo", gone)},
        terms=terms,
        kind="recompute",
        batch=batch,
    )


def table_terms(work: Ingest) -> TableTerms:
    """The dictionary of the state that a change starts from."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    return TableTerms(work, buckets, encoding_of(work.base, work.start))


# what is told


def told_frames(work: Ingest) -> dict[int, DataFrame]:
    """The told facts in the tables, by shape."""
    triples = facts_frame(work.session, work.base, work.start).where("told > 0")
    found = {TRIPLES: triples.select("s", "p", "o")}
    others = frame(work.session, work.base, PREDICATES_TABLE, work.start).where("told > 0")
    for row in others.select(F.size("arguments").alias("n")).distinct().collect():
        arguments = [F.col("arguments")[i].alias(f"a{i + 1}") for i in range(row.n)]
        chosen = others.where(F.size("arguments") == row.n)
        found[row.n + 1] = chosen.select("pred", *arguments)
    return found


def program_facts(work: Ingest, program: Program, terms: TableTerms) -> dict[int, DataFrame]:
    """The facts that come with rules, by shape."""
    rows: dict[int, list[list[Term]]] = {}
    for fact in program.facts:
        shape, row = _row_of(fact)
        rows.setdefault(shape, []).append(row)
    terms.put({term for listed in rows.values() for row in listed for term in row})
    return {shape: facts_in_ids(work, shape, listed, terms) for shape, listed in rows.items()}


def _row_of(fact: Triple | Fact) -> tuple[int, list[Term]]:
    if isinstance(fact, Fact):
        return 1 + len(fact.arguments), [Symbol(fact.name), *fact.arguments]
    return TRIPLES, [fact.subject, fact.predicate, fact.object]


def facts_in_ids(work: Ingest, shape: int, rows: list[list[Term]], terms: TableTerms) -> DataFrame:
    """Rows of terms as a DataFrame of ids."""
    names = columns_of(shape)
    ids = encode_terms([term for row in rows for term in row], terms.encoding).ids
    return ids_frame(work, names, ids.reshape(-1, len(names)))


def ids_frame(work: Ingest, names: Iterable[str], ids: Any) -> DataFrame:
    """Rows of ids as a DataFrame."""
    columns = {name: np.ascontiguousarray(ids[:, at]) for at, name in enumerate(names)}
    schema = pa.schema([(name, pa.int64()) for name in columns])
    return work.session.createDataFrame(pa.table(columns, schema=schema))


def _merged(told: Told, added: Told, removed: Told) -> dict[int, DataFrame]:
    found = dict(told)
    for shape, rows in removed.items():
        if shape in found:
            found[shape] = found[shape].join(rows, list(columns_of(shape)), "left_anti")
    for shape, rows in added.items():
        found[shape] = found[shape].unionByName(rows).distinct() if shape in found else rows
    return found


# what follows


def _published_triples(work: Ingest, closure: Closure, buckets: list[Bucket]) -> list[DataFile]:
    rows = closure.facts(TRIPLES) if TRIPLES in set(shapes_in(closure.form)) else None
    with work.base.exchange() as folder:
        files: tuple[str, ...] = ()
        if rows is not None:
            counted = rows.select(
                "s", "p", "o", _support(), F.col("told").cast("int").alias("told")
            )
            writer = partial(_write_exchange, folder, work.buckets)
            found = counted.mapInArrow(writer, "name string").collect()
            files = tuple(row.name for row in found)
        task = partial(collect_bucket, work.base.path, files)
        return run_tasks(work.session, task, buckets, "publish")


def _support() -> Any:
    return (F.col("plain") + F.col("recursive")).cast("long").alias("support")


def _write_exchange(
    folder: Path, buckets: int, batches: Iterator[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if listed:
        rows = pa.Table.from_batches(listed).cast(FACTS)
        name = write_buckets(folder, rows, rows["s"].to_numpy(), buckets)
        yield pa.RecordBatch.from_pydict({"name": [name]})


def _published_predicates(work: Ingest, closure: Closure) -> list[DataFile]:
    parts = [
        closure.facts(shape).select(
            "pred",
            F.array(*columns_of(shape)[1:]).cast("array<long>").alias("arguments"),
            _support(),
            F.col("told").cast("int").alias("told"),
        )
        for shape in shapes_in(closure.form)
        if shape != TRIPLES
    ]
    files: list[DataFile] = []
    for part in parts:
        writer = partial(_write_predicates, work.base.path / PREDICATES_TABLE)
        found = part.mapInArrow(writer, "name string, size long, rows long, written long")
        files += [DataFile(row.name, row.size, row.rows, row.written) for row in found.collect()]
    return files


def _write_predicates(folder: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    listed = [batch for batch in batches if len(batch)]
    if listed:
        rows = pa.Table.from_batches(listed).cast(SCHEMAS[PREDICATES_TABLE])
        file = write_file(folder, rows)
        yield pa.RecordBatch.from_pydict(
            {
                "name": [file.name],
                "size": [file.size],
                "rows": [file.rows],
                "written": [file.written],
            }
        )

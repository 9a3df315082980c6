"""Closing: the conclusions of all told triples, for rules that follow single ones.

The schema is closed in the driver; then two jobs: each bucket finds the consequences of
its told triples, and each bucket adds up what was found for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.consequences import Kind, make_table
from livefacts.engine.spark.encode import Encoding, encode_terms
from livefacts.engine.spark.exchange import run_tasks
from livefacts.engine.spark.ingest import Ingest, bucket_files, encoding_of
from livefacts.engine.spark.reports import Report
from livefacts.engine.spark.schema import ClosedSchema, SchemaCloser
from livefacts.engine.spark.stages import (
    Bucket,
    FollowJob,
    Published,
    PublishJob,
    follow_bucket,
    kinds_in,
    publish_bucket,
    texts_in,
    told_of_kinds,
)
from livefacts.engine.spark.tables import (
    CHANGES,
    OVERWRITE,
    RULES,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Write,
    write_file,
)
from livefacts.model.facts import Term
from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.program import Program, Rule
from livefacts.store.dictionary import text_of
from livefacts.store.xxhash import HashIds
from livefacts.syntax.rulewriter import write_program

SINGLE = "single triples"


class Told:
    """The told triples of a commit, as the driver asks for them: by kind, through tasks."""

    def __init__(self, work: Ingest) -> None:
        self._session = work.session
        self.buckets = bucket_files(work.base, work.start, work.buckets)

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        task = partial(told_of_kinds, kinds)
        found = run_tasks(self._session, task, self.buckets, "schema triples")
        return np.concatenate([np.zeros((0, 3), np.int64), *found])

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        task = partial(kinds_in, by_object)
        counts: Counter[Kind] = Counter()
        for each in run_tasks(self._session, task, self.buckets, "kinds of triples"):
            counts.update(each)
        return counts


def close_schema(work: Ingest, rules: Sequence[Rule], encoding: Encoding) -> ClosedSchema:
    """The closed schema of the told triples under rules that follow single ones."""
    told = Told(work)

    def id_of(term: object) -> int:
        return encoding.id_of(text_of(term))  # type: ignore[arg-type]

    return SchemaCloser(rules, id_of, told.of_kinds, told.count_kinds).close()


def materialize_single(work: Ingest, program: Program, batch: str) -> Report:
    """All conclusions of a program whose rules follow single triples; one commit."""
    encoding = encoding_of(work.base, work.start)
    with work.stages.stage("close the schema") as stage:
        schema = close_schema(work, program.rules, encoding)
        stage.rows = len(schema.told) + len(schema.derived)
    buckets = bucket_files(work.base, work.start, work.buckets)
    published = _published(work, schema, buckets)
    figures = {
        "told": sum(each.told for each in published),
        "derived": sum(each.derived for each in published),
    }
    with work.stages.stage("commit"):
        writes = {
            TRIPLES_TABLE: Write(tuple(each.file for each in published), OVERWRITE),
            RULES: rules_write(work, program),
            **new_terms(work, constants_of(program.rules), encoding, buckets),
        }
        if CHANGES in work.start.versions:
            writes[CHANGES] = Write((), OVERWRITE)
        notes = {**figures, "closed": True, "path": SINGLE}
        commit = work.base.publish(work.start, "materialize", writes, batch=batch, notes=notes)
    return Report(commit.seq, "materialize", figures, tuple(work.stages.done))


def _published(work: Ingest, schema: ClosedSchema, buckets: Sequence[Bucket]) -> list[Published]:
    table = make_table(schema.heads, sorted(schema.by_object))
    derived = np.array(sorted(schema.derived), np.int64).reshape(-1, 3)
    with work.base.exchange() as folder:
        with work.stages.stage("close") as stage:
            following = partial(follow_bucket, FollowJob(table, folder))
            followed = run_tasks(work.session, following, buckets, stage.name)
            stage.rows = sum(rows for _, rows in followed)
        with work.stages.stage("publish") as stage:
            files = tuple(name for name, _ in followed)
            publishing = partial(publish_bucket, PublishJob(work.base.path, files, derived))
            published = run_tasks(work.session, publishing, buckets, stage.name)
            stage.rows = sum(each.file.rows for each in published)
            stage.bytes = sum(each.file.size for each in published)
    return published


def rules_write(work: Ingest, program: Program) -> Write:
    """The program as the only row of its table."""
    rows = pa.table([[work.start.seq + 1], [write_program(program)]], SCHEMAS[RULES])
    return Write((write_file(work.base.path / RULES, rows),), OVERWRITE)


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


def new_terms(
    work: Ingest, terms: Sequence[Term], encoding: Encoding, buckets: Sequence[Bucket]
) -> dict[str, Write]:
    """What adds those of these terms that no table has yet."""
    from livefacts.engine.spark.exchange import bucket_of

    if not terms:
        return {}
    found = encode_terms(terms, encoding)
    places = bucket_of(found.ids, work.buckets)
    asked = [bucket for bucket in buckets if bucket.number in set(places.tolist())]
    known: dict[int, str] = {}
    for texts in run_tasks(work.session, partial(texts_in, found.ids), asked, "known terms"):
        known |= texts
    files = []
    for number in np.unique(places).tolist():
        chosen = [i for i in np.flatnonzero(places == number) if int(found.ids[i]) not in known]
        if chosen:
            texts = found.texts.take(pa.array(chosen)).cast(pa.string())
            rows = pa.table([found.ids[chosen], texts], SCHEMAS[TERMS])
            files.append(write_file(work.base.path / TERMS, rows, number))
    return {TERMS: Write(tuple(files))} if files else {}

"""The closure under rules that follow single triples: the conclusions of all asserted triples.

The schema is closed in the driver; then two stages of one job: each bucket finds the
consequences of its asserted triples, and each bucket adds up what was found for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.bucket_intake import keep_told
from livefacts.engine.spark.read.ingestion import fact_files
from livefacts.engine.spark.read.resumption import KeptStages, key_of, resumable
from livefacts.engine.spark.read.table_terms import settled_constants
from livefacts.kb.bucket_stages import (
    Bucket,
    Published,
    PublishJob,
    Survey,
    bucket_files,
    follow_bucket,
    publish_bucket,
    survey_bucket,
)
from livefacts.kb.buckets import Blocks
from livefacts.kb.consequences import Kind, make_table, split_heads
from livefacts.kb.rule_table import check_limit, rule_notes, rules_write
from livefacts.kb.schema_closure import SchemaCloser, SchemaConsequences
from livefacts.kb.tables import (
    CHANGES,
    DERIVED,
    OVERWRITE,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    RULES,
    SINGLE,
    TRIPLES_TABLE,
    Write,
)
from livefacts.kb.term_encoding import Encoding
from livefacts.kb.term_rows import encoding_of, term_writes
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_program
from livefacts.store.terms.hash_ids import HashIds
from livefacts.store.terms.id_reader import text_of


class ToldInTables:
    """The asserted triples of a commit, as the driver asks for them: by kind, through tasks.

    Each look at them is a job over all asserted triples; so the first answers both questions
    at once, and what was asked is remembered.
    """

    def __init__(self, work: Work, buckets: Sequence[Bucket]) -> None:
        self._session = work.session
        self._buckets = buckets
        self._found: dict[frozenset[Kind], HashIds] = {}
        self._counts: dict[frozenset[int], Mapping[Kind, int]] = {}
        self.expected: frozenset[int] = frozenset()
        """Predicates whose kinds will be asked for by object."""

    def of_kinds(self, kinds: frozenset[Kind]) -> HashIds:
        if kinds not in self._found:
            self._look(kinds, self.expected)
        return self._found[kinds]

    def count_kinds(self, by_object: frozenset[int]) -> Mapping[Kind, int]:
        if by_object not in self._counts:
            self._look(frozenset(), by_object)
        return self._counts[by_object]

    def _look(self, kinds: frozenset[Kind], by_object: frozenset[int]) -> None:
        task = partial(survey_bucket, Survey(kinds, by_object))
        answers = run_tasks(self._session, task, self._buckets, "schema triples")
        counts: Counter[Kind] = Counter()
        for _, each in answers:
            counts.update(each)
        self._counts[by_object] = counts
        found = [triples for triples, _ in answers]
        self._found[kinds] = np.concatenate([np.zeros((0, 3), np.int64), *found])


def close_schema(
    work: Work, rules: Sequence[Rule], encoding: Encoding, buckets: Sequence[Bucket]
) -> SchemaConsequences:
    """The closed schema of the asserted triples under rules that follow single ones."""
    told = ToldInTables(work, buckets)

    def id_of(term: object) -> int:
        return encoding.id_of(text_of(term))  # type: ignore[arg-type]

    closer = SchemaCloser(rules, id_of, told.of_kinds, told.count_kinds)
    told.expected = closer.by_object
    return closer.close()


def materialize_single(work: Work, program: Program, batch: str) -> JobReport:
    """All conclusions of a program whose rules follow single triples; one commit."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    with work.stages.stage("close the schema") as stage:
        terms, encoding = settled_constants(
            work, program.rules, encoding_of(work.base, work.start), buckets
        )
        schema = close_schema(work, program.rules, encoding, buckets)
        stage.rows = len(schema.told) + len(schema.derived)
    key = key_of("materialize", work.start, work.buckets, write_program(program))
    with resumable(work.base, key) as kept:
        published = _published(work, schema, buckets, kept)
        figures = {
            "asserted": sum(each.told for each in published),
            "derived": sum(each.derived for each in published),
        }
        check_limit(program, figures["derived"])
        with work.stages.stage("commit"):
            writes = {
                TRIPLES_TABLE: Write(tuple(each.file for each in published), OVERWRITE),
                RULES: rules_write(work.base, work.start.seq + 1, program),
                **term_writes(work.base, terms, encoding),
                **_without_other_conclusions(work, buckets),
            }
            if CHANGES in work.start.versions:
                writes[CHANGES] = Write((), OVERWRITE)
            notes = {"closed": True, "path": SINGLE, "changed": 0, **rule_notes(program)}
            notes |= {"told": figures["asserted"], DERIVED: figures["derived"]}
            commit = work.base.publish(work.start, "materialize", writes, batch=batch, notes=notes)
    return JobReport(commit.seq, "materialize", figures, tuple(work.stages.done))


def _without_other_conclusions(work: Work, buckets: Sequence[Bucket]) -> dict[str, Write]:
    """Rules of single triples conclude no predicate facts: those of rules before them go."""
    if PREDICATES_TABLE not in work.start.versions or work.start.notes.get("path") == SINGLE:
        return {}
    task = partial(keep_told, work.base.path, fact_files(work))
    files = [file for file in run_tasks(work.session, task, buckets, "predicate facts") if file]
    writes = {PREDICATES_TABLE: Write(tuple(files), OVERWRITE)}
    if PREDICATE_CHANGES in work.start.versions:
        writes[PREDICATE_CHANGES] = Write((), OVERWRITE)
    return writes


def _published(
    work: Work, schema: SchemaConsequences, buckets: Sequence[Bucket], kept: KeptStages
) -> list[Published]:
    """Conclusions that leave their bucket are sent to theirs; then each bucket is written."""
    own, away = map(make_table, split_heads(schema.heads))
    derived = np.array(sorted(schema.derived), np.int64).reshape(-1, 3)
    publishing = partial(publish_bucket, PublishJob(work.base.path, own, derived))
    facts = work.base.path / TRIPLES_TABLE
    with work.stages.stage("close and publish") as stage:
        if len(away):
            following = partial(follow_bucket, away)
            run = work.exchange(stage, following, buckets, publishing, buckets)
        else:
            run = work.tasks(stage, partial(publishing, sent=Blocks()), buckets)
        found = kept.results(
            stage,
            run,
            lambda each: [facts / each.file.name] if isinstance(each, Published) else [],
        )
        published = [each for each in found if isinstance(each, Published)]
        stage.rows = sum(each.file.rows for each in published)
        stage.bytes = sum(each.file.size for each in published)
    return published

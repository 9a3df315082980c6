"""Table terms: the dictionary in the tables, as rules that join need it, and the terms they add."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from livefacts.engine.spark.jobs.frames import frame, rows_frame
from livefacts.engine.spark.jobs.tasks import run_tasks
from livefacts.engine.spark.jobs.work import Work
from livefacts.engine.spark.read.asked_facts import AskedFacts, SettledChange, read_asked, settle
from livefacts.errors import LivefactsError
from livefacts.kb.bucket_stages import Bucket, bucket_files, texts_in
from livefacts.kb.buckets import bucket_of
from livefacts.kb.schema_closure import constants_of
from livefacts.kb.tables import SCHEMAS, TERMS
from livefacts.kb.term_encoding import Encoding, encode_terms, keep_apart
from livefacts.kb.term_rows import encoding_of
from livefacts.language.program import Rule
from livefacts.model.facts import Term
from livefacts.store.terms.hash_ids import HashIds


@dataclass(slots=True)
class TableTerms:
    """The terms of a commit, and those that are new since."""

    work: Work
    buckets: list[Bucket]
    encoding: Encoding
    new: dict[int, str] = field(default_factory=dict)
    found: dict[int, str] = field(default_factory=dict)
    """Terms of the tables that were asked for already."""

    def put(self, terms: Iterable[Term]) -> None:
        """Make sure that terms are in the table."""
        self.settle(read_asked(others=terms))

    def settle(self, change: AskedFacts) -> SettledChange:
        """A change in ids; its terms are in the table then."""
        found = settle(change, self.encoding, self._known)
        self.new |= found.terms
        self.encoding = found.encoding
        return found

    def _known(self, ids: HashIds) -> dict[int, str]:
        """The texts of ids, asking tasks only for those that are not known here."""
        known = {**self.found, **self.new}
        known = {number: known[number] for number in ids.tolist() if number in known}
        others = ids[~np.isin(ids, np.array(list(known), np.int64))]
        if len(others):
            found = known_texts(self.work, others, self.buckets)
            self.found |= found
            known |= found
        return known

    def table(self) -> DataFrame:
        """All terms: `id` and `text`."""
        session = self.work.session
        stored = frame(session, self.work.base, TERMS, self.work.start)
        columns = pa.table([list(self.new), list(self.new.values())], SCHEMAS[TERMS])
        return stored.unionByName(rows_frame(session, columns))

    def remember(self, made: DataFrame) -> None:
        """Take in terms that rules have computed."""
        texts = {row.id: row.text for row in made.distinct().collect()}
        known = self._known(np.array(sorted(texts), np.int64))
        if any(known.get(number, text) != text for number, text in texts.items()):
            raise LivefactsError(
                "a computed term has the hash of another term", hint="please report this"
            )
        self.new |= {number: text for number, text in texts.items() if number not in known}

    @property
    def id_of(self) -> Callable[[str], int]:
        """The id of a text: a function that tasks can be sent."""
        return self.encoding.id_of


def table_terms(work: Work) -> TableTerms:
    """The dictionary of the state that a change starts from."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    return TableTerms(work, buckets, encoding_of(work.base, work.start))


def settled_constants(
    work: Work, rules: Sequence[Rule], encoding: Encoding, buckets: Sequence[Bucket]
) -> tuple[dict[int, str], Encoding]:
    """The constants of rules that no table has yet, and the encoding in which they are apart."""
    apart = keep_apart(
        partial(encode_terms, constants_of(rules)),
        encoding,
        lambda ids: known_texts(work, ids, buckets),
    )
    return apart.new, apart.encoding


def known_texts(work: Work, ids: HashIds, buckets: Sequence[Bucket]) -> dict[int, str]:
    """The texts that the tables have for ids."""
    homes = set(bucket_of(ids, work.buckets).tolist())
    asked = [bucket for bucket in buckets if bucket.number in homes]
    known: dict[int, str] = {}
    for texts in run_tasks(work.session, partial(texts_in, ids), asked, "known terms"):
        known |= texts
    return known

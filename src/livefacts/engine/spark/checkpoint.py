"""Between a knowledge base on disk and one process: told facts out of the tables, and back.

Reading needs no Spark: hash ids become the numbers of a dictionary.  Writing gives every
fact the support that the pipeline would have found, so that it can go on from there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from livefacts.engine.spark.consequences import fact_table, in_order, make_table, summed
from livefacts.engine.spark.encode import Encoding, Texts, encode_numbers
from livefacts.engine.spark.exchange import bucket_of
from livefacts.engine.spark.ingest import bucket_files, encoding_of, term_writes
from livefacts.engine.spark.live import Live, ToldTriples
from livefacts.engine.spark.schema import NotSingleError, SchemaCloser, follows_single_triples
from livefacts.engine.spark.tables import (
    CHANGES,
    OVERWRITE,
    PREDICATES_TABLE,
    RULES,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    DataFile,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.errors import LivefactsError
from livefacts.rules.program import Program
from livefacts.store.dictionary import Dictionary, Ids, text_of
from livefacts.store.rows import TRIPLES
from livefacts.store.xxhash import HashIds
from livefacts.syntax import rulefile
from livefacts.syntax.rulewriter import write_program

Facts = Mapping[int, Ids]
SINGLE, GENERAL = "single triples", "joins"


@dataclass(frozen=True, slots=True)
class Stored:
    """What a knowledge base tells: a program, and facts by shape in a dictionary's numbers."""

    commit: Commit
    program: Program
    facts: dict[int, Ids]


def read_base(base: KnowledgeBase, dictionary: Dictionary) -> Stored:
    """What was told and the rules, at the last commit."""
    commit = base.last()
    if not commit.seq:
        raise LivefactsError(
            f"there is no knowledge base in {base.path}",
            hint="livefacts spark ingest FILES --kb FOLDER makes one",
        )
    ids, numbers = _numbered(base, commit, dictionary)
    buckets = bucket_files(base, commit, int(base.settings["buckets"]))
    told = np.concatenate([bucket.read_told() for bucket in buckets])
    facts = {TRIPLES: numbers[np.searchsorted(ids, told)]}
    for shape, rows in _told_predicates(base, commit).items():
        facts[shape] = numbers[np.searchsorted(ids, rows)]
    texts = base.read(RULES, commit)["text"].to_pylist()
    return Stored(commit, rulefile.parse("\n".join(texts)) if texts else Program(), facts)


def _numbered(base: KnowledgeBase, commit: Commit, dictionary: Dictionary) -> tuple[HashIds, Ids]:
    """The ids of all terms in order, and the numbers that a dictionary gives them."""
    terms = base.read(TERMS, commit).combine_chunks().sort_by("id")
    texts = pa.chunked_array(terms["text"], pa.string()).cast(pa.large_string()).combine_chunks()
    if not len(texts):
        return np.zeros(0, np.int64), np.zeros(0, np.int32)
    offsets = np.frombuffer(texts.buffers()[1], np.int64)[: len(texts) + 1].copy()
    data = np.frombuffer(bytearray(texts.buffers()[2]), np.uint8)
    numbers = dictionary.encode_spans(data, offsets[:-1].copy(), offsets[1:].copy(), b"")
    return terms["id"].to_numpy(), numbers


def _told_predicates(base: KnowledgeBase, commit: Commit) -> dict[int, HashIds]:
    found: dict[int, list[list[int]]] = {}
    for row in base.read(PREDICATES_TABLE, commit).to_pylist():
        if row["told"] > 0:
            fact = [row["pred"], *row["arguments"]]
            found.setdefault(len(fact), []).append(fact)
    return {shape: np.array(rows, np.int64) for shape, rows in found.items()}


def write_base(
    base: KnowledgeBase,
    start: Commit,
    program: Program,
    dictionary: Dictionary,
    told: Facts,
    derived: Facts,
) -> Commit:
    """Write told facts and conclusions as the next commit."""
    encoding, ids = _settled(base, start, dictionary, [*told.values(), *derived.values()])
    hashed = {shape: ids.of(rows) for shape, rows in told.items()}
    others = {shape: ids.of(rows) for shape, rows in derived.items()}
    triples, path = _supported(program, encoding, hashed[TRIPLES], others[TRIPLES])
    writes = {
        TRIPLES_TABLE: Write(tuple(_fact_files(base, triples)), OVERWRITE),
        PREDICATES_TABLE: Write((_predicate_file(base, hashed, others),), OVERWRITE),
        RULES: Write((_rules_file(base, start, program),), OVERWRITE),
        **term_writes(base, ids.new, encoding),
    }
    if CHANGES in start.versions:
        writes[CHANGES] = Write((), OVERWRITE)
    notes = {"closed": True, "path": path}
    return base.publish(start, "checkpoint", writes, notes=notes)


class _Hashes:
    """The hash ids of a dictionary's numbers."""

    def __init__(self, numbers: Ids, terms: Texts, new: dict[int, str]) -> None:
        self._numbers = numbers
        self._ids = terms.ids
        self.new = new

    def of(self, rows: Ids) -> HashIds:
        return self._ids[np.searchsorted(self._numbers, rows)]


def _settled(
    base: KnowledgeBase, start: Commit, dictionary: Dictionary, facts: list[Ids]
) -> tuple[Encoding, _Hashes]:
    """The ids of all terms of facts, and those of them that no table has yet."""
    encoding = encoding_of(base, start)
    numbers = np.unique(np.concatenate([rows.reshape(-1) for rows in facts])).astype(np.int32)
    assert not len(numbers) or numbers[0] >= 0, "facts are in numbers of the dictionary"
    terms = encode_numbers(numbers, dictionary, encoding)
    texts = terms.texts.to_pylist()
    live = Live(bucket_files(base, start, int(base.settings["buckets"])))
    known = live.texts(terms.ids)
    new: dict[int, str] = {}
    for number, text in zip(terms.ids.tolist(), texts, strict=True):
        owner = known.get(number) or new.setdefault(number, text)
        if owner != text:
            raise LivefactsError(
                f"{text} has the hash of {owner}",
                hint="ingest it with the pipeline, which gives it another id",
            )
    return encoding, _Hashes(numbers, terms, new)


def _supported(
    program: Program, encoding: Encoding, told: HashIds, derived: HashIds
) -> tuple[pa.Table, str]:
    """Triples with their supports, and the path on which they are right."""
    if all(map(follows_single_triples, program.rules)):
        held = ToldTriples(told)

        def id_of(term: object) -> int:
            return encoding.id_of(text_of(term))  # type: ignore[arg-type]

        try:
            schema = SchemaCloser(program.rules, id_of, held.of_kinds, held.count_kinds).close()
        except NotSingleError:
            pass
        else:
            table = make_table(schema.heads)
            closed = np.array(sorted(schema.derived), np.int64).reshape(-1, 3)
            followed = [fact_table(table.follow(told)[0], 1, 0), fact_table(closed, 1, 0)]
            return summed(pa.concat_tables([fact_table(told, 0, 1), *followed])), SINGLE
    return pa.concat_tables([fact_table(told, 0, 1), fact_table(derived, 1, 0)]), GENERAL


def _fact_files(base: KnowledgeBase, facts: pa.Table) -> list[DataFile]:
    ordered = in_order(facts)
    homes = bucket_of(ordered["s"].to_numpy(), int(base.settings["buckets"]))
    return [
        write_file(base.path / TRIPLES_TABLE, ordered.filter(pa.array(homes == number)), number)
        for number in range(int(base.settings["buckets"]))
    ]


def _predicate_file(
    base: KnowledgeBase, told: Mapping[int, HashIds], derived: Mapping[int, HashIds]
) -> DataFile:
    rows = [
        {"pred": row[0], "arguments": row[1:], "support": 1 - is_told, "told": is_told}
        for is_told, facts in ((1, told), (0, derived))
        for shape, listed in facts.items()
        if shape != TRIPLES
        for row in listed.tolist()
    ]
    table = pa.Table.from_pylist(rows, schema=SCHEMAS[PREDICATES_TABLE])
    return write_file(base.path / PREDICATES_TABLE, table)


def _rules_file(base: KnowledgeBase, start: Commit, program: Program) -> DataFile:
    rows = pa.table([[start.seq + 1], [write_program(program)]], SCHEMAS[RULES])
    return write_file(base.path / RULES, rows)

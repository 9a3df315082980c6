"""What the experiments with changes share: an engine that is closed, and changes that are timed."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from random import Random
from typing import Any

import numpy as np

from livefacts import Reasoner
from livefacts.engine.contract import Change, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.plan import compile_rules
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import BLANK, Dictionary
from livefacts.syntax.rdf.documents import read_rows
from livefacts.syntax.rule_sets import open_rules

RDFS = "http://www.w3.org/2000/01/rdf-schema#"


def read(source: str | bytes, dictionary: Dictionary) -> Ids:
    """The triples of a file or of a text, as rows of ids."""
    batches = read_rows(source, dictionary, format="nt", scope=b"f1")
    return np.concatenate([batch.rows for batch in batches])


def engine_for(rules: str, dictionary: Dictionary, maintenance: str) -> EmbeddedEngine:
    plan = compile_rules(open_rules(rules).rules)
    return EmbeddedEngine(dictionary, plan, maintenance=maintenance)


def into(rows: Ids) -> Change:
    return Change({TRIPLES: rows})


def out_of(rows: Ids) -> Change:
    return Change(retracted={TRIPLES: rows})


def fingerprint(engine: EmbeddedEngine) -> tuple[int, int]:
    """How many triples are true, and a sum over them that does not depend on their order."""
    rows = engine.facts()[TRIPLES].astype(np.uint64)
    total = np.zeros(len(rows), np.uint64)
    for column in range(3):
        total = _stirred(total + rows[:, column] + np.uint64(1))
    return len(rows), int(total.sum(dtype=np.uint64))


def _stirred(numbers: Any) -> Any:
    for shift, multiplier in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        numbers = (numbers ^ (numbers >> np.uint64(shift))) * np.uint64(multiplier)
    return numbers ^ (numbers >> np.uint64(31))


def state(reasoner: Reasoner) -> tuple[int, str]:
    """How many facts are true, and a sum over their hashes: the same for any dictionary."""
    total = sum(
        int.from_bytes(hashlib.blake2b(str(fact).encode(), digest_size=8).digest(), "big")
        for fact in reasoner
    )
    return len(reasoner), f"{total % 2**64:016x}"


def timed(work: Callable[[], object]) -> float:
    """Processor seconds of one call."""
    started = time.process_time_ns()
    work()
    return (time.process_time_ns() - started) / 1e9


def summary(seconds: Sequence[float]) -> dict[str, float]:
    """The middle, what 99 of 100 do not pass (with fewer than 100 the longest), and the longest."""
    ordered = sorted(seconds)
    return {
        "p50": ordered[len(ordered) // 2],
        "p99": ordered[min(len(ordered) - 1, int(len(ordered) * 0.99))],
        "most": ordered[-1],
        "turns": len(ordered),
    }


def batches(rows: Ids, size: int, turns: int, seed: int = 0) -> list[Ids]:
    """So many random choices of so many of these triples."""
    draw = Random(seed)
    return [
        rows[np.array(sorted(draw.sample(range(len(rows)), size)), np.int64)] for _ in range(turns)
    ]


def instance_triples(rows: Ids, dictionary: Dictionary) -> Ids:
    """The triples that are not of the schema and name everything they speak of."""
    predicates = np.unique(rows[:, 1])
    names: Iterable[Any] = dictionary.decode(predicates)
    schema = [
        each
        for each, name in zip(predicates.tolist(), names, strict=True)
        if name.value.startswith(RDFS)
    ]
    found = rows[~np.isin(rows[:, 1], schema)]
    is_blank = dictionary.kinds(found.ravel()).reshape(found.shape) == BLANK
    return found[~is_blank.any(axis=1)]

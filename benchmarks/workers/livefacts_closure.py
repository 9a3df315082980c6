"""Our closure: a file of N-Triples is read into rows of ids, and the rules close them."""

from __future__ import annotations

from typing import Any

import numpy as np
from reporting import Stages, first_lines, run

from livefacts.engine.contract import Change
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.plan import compile_rules
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rdf.documents import read_rows
from livefacts.syntax.rule_sets import open_rules


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _close(first_lines(job["input"]), job, Stages())
    dictionary, engine, asserted = _close(job["input"], job, stages)
    triples = engine.facts()[TRIPLES]
    if job.get("output"):
        with open(job["output"], "wb") as out:
            out.write(dictionary.write_ntriples(triples))
    return {
        "asserted": asserted,
        "true": len(triples),
        "derivations": engine.derivations,
        "terms": len(dictionary),
        "dictionary_bytes": dictionary.nbytes,
        "store_bytes": _bytes_of(engine.store),
    }


def _close(
    source: str | bytes, job: dict[str, Any], stages: Stages
) -> tuple[Dictionary, EmbeddedEngine, int]:
    dictionary = Dictionary()
    with stages.stage("load"):
        batches = read_rows(source, dictionary, format="nt", scope=b"f1")
        rows = np.concatenate([batch.rows for batch in batches])
    with stages.stage("plan"):
        plan = compile_rules(open_rules(job["rules"]).rules)
        engine = EmbeddedEngine(dictionary, plan, single_path=job.get("single_path", True))
    with stages.stage("close"):
        engine.apply(Change({TRIPLES: rows}))
    return dictionary, engine, len(rows)


def _bytes_of(store: Any) -> int:
    found = store.nbytes
    return int(found() if callable(found) else found)


if __name__ == "__main__":
    run(main, "livefacts")

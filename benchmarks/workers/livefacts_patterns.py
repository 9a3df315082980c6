"""Our continuous patterns on one stream of messages: batches, one by one, and beside pyoxigraph."""

from __future__ import annotations

import random
from collections import Counter
from functools import partial
from typing import Any

from changing import timed
from pyoxigraph import Quad, QueryBoolean, RdfFormat, Store, Triple, parse
from reporting import Stages, run

from livefacts import ContinuousQueries, ContinuousQuery
from livefacts.service.queries.results import Answer

BATCH = 1000
INSERTS = 0.7
RECOMPUTED = 20
WARMING = 20_000
WHOLE_GRAPH = "SELECT * { ?s ?p ?o }"


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    with open(job["input"], encoding="utf-8") as lines:
        triples = lines.read().splitlines()
    messages = stream(triples, job["messages"])
    warm_up(job["queries"], messages)
    report: dict[str, Any] = {"messages": len(messages), "queries": []}
    report["graph"] = fed(ContinuousQuery(WHOLE_GRAPH), texts(messages))["bytes"]
    store = Recomputing(messages)
    for name, text in job["queries"].items():
        report["queries"].append({"name": name, **measured(text, messages, store, job["single"])})
    if job.get("star"):
        report["sizes"] = sizes(job["star"], messages, job["steps"])
        report["many"] = many(job["star"], job["standing"], messages)
    return report


def stream(triples: list[str], count: int) -> list[str]:
    """Messages as rows of RDF Patch: triples come, go, and come again when all have come."""
    rng = random.Random(1)
    waiting = list(dict.fromkeys(triples))
    rng.shuffle(waiting)
    there: list[str] = []
    gone: list[str] = []
    messages = []
    for _ in range(count):
        if not there or rng.random() < INSERTS:
            there.append((waiting or gone).pop())
            messages.append(f"A {there[-1]}")
        else:
            at = rng.randrange(len(there))
            there[at], there[-1] = there[-1], there[at]
            gone.append(there.pop())
            messages.append(f"D {gone[-1]}")
    return messages


def texts(messages: list[str], batch: int = BATCH) -> list[str]:
    return ["\n".join(messages[at : at + batch]) for at in range(0, len(messages), batch)]


def warm_up(queries: dict[str, str], messages: list[str]) -> None:
    """Kernels are compiled and loaded before anything is measured."""
    for text in (*queries.values(), WHOLE_GRAPH):
        query = ContinuousQuery(text)
        query.feed(messages=as_tuples(messages[:10]))
        for piece in texts(messages[:WARMING]):
            len(query.feed(messages=piece))
        bag(query.answers())


def bag(answers: Any) -> Any:
    """Answers that can be compared: a bool for ASK."""
    return bool(answers) if isinstance(answers, Answer) else Counter(map(written, answers))


def written(row: Any) -> tuple[str, ...]:
    return tuple(map(str, row))


def fed(query: ContinuousQuery, pieces: list[str]) -> dict[str, Any]:
    """A query that has taken all pieces and read every change."""
    changes = 0

    def take() -> None:
        nonlocal changes
        for piece in pieces:
            changes += len(query.feed(messages=piece))

    seconds = timed(take)
    cached = query.cached
    return {
        "seconds": seconds,
        "changes": changes,
        "entries": cached.entries,
        "parts": sum(part.bytes for part in cached.parts),
        "bytes": cached.bytes,
    }


def measured(text: str, messages: list[str], store: Recomputing, single: int) -> dict[str, Any]:
    query = ContinuousQuery(text)
    report = fed(query, texts(messages))
    report["same"] = bag(query.answers()) == store.fresh(text)
    report["single"] = one_by_one(text, messages[:single])
    report["recomputed"] = store.per_message(text)
    return report


def as_tuples(messages: list[str]) -> list[tuple[str, Triple]]:
    rows = "\n".join(message[2:] for message in messages)
    triples = [quad.triple for quad in parse(rows, RdfFormat.N_TRIPLES)]
    return [(message[0], triple) for message, triple in zip(messages, triples, strict=True)]


def one_by_one(text: str, messages: list[str]) -> float:
    """Seconds a message, each taken alone and its changes read."""
    query, asserted = ContinuousQuery(text), as_tuples(messages)

    def take() -> None:
        for message in asserted:
            len(query.feed(messages=[message]))

    return timed(take) / len(asserted)


class Recomputing:
    """The graph at the end of the stream in pyoxigraph, asked again after every message."""

    def __init__(self, messages: list[str]) -> None:
        self._store = Store()
        last = {message[2:]: message[0] for message in messages}
        present = "\n".join(row for row, sign in last.items() if sign == "A")
        self._store.bulk_load(present.encode(), RdfFormat.N_TRIPLES)
        self._messages = as_tuples(messages[-RECOMPUTED:])

    def fresh(self, text: str) -> Any:
        found = self._store.query(text)
        return bool(found) if isinstance(found, QueryBoolean) else Counter(map(written, found))

    def per_message(self, text: str) -> float:
        def take() -> None:
            for sign, triple in self._messages:
                (self._store.add if sign == "A" else self._store.remove)(Quad(*triple))
                found = self._store.query(text)
                if not isinstance(found, QueryBoolean):
                    sum(1 for _ in found)

        return timed(take) / RECOMPUTED


def taken(query: ContinuousQuery | ContinuousQueries, pieces: list[str]) -> None:
    for piece in pieces:
        query.feed(messages=piece)


def sizes(star: str, messages: list[str], steps: list[int]) -> list[dict[str, float]]:
    """What the same messages cost a star that has taken few or many before."""
    found = []
    last = texts(messages[-20_000:])
    for size in steps:
        query = ContinuousQuery(star)
        for piece in texts(messages[:size]):
            query.feed(messages=piece)
        spent = min(timed(partial(taken, query, last)) for _ in range(3))
        found.append({"before": size, "seconds": spent / (BATCH * len(last))})
    return found


def many(star: str, standing: list[str], messages: list[str]) -> dict[str, float]:
    """One query, and all of them on the same messages."""
    pieces = texts(messages[:100_000])
    alone = timed(partial(taken, ContinuousQuery(star), pieces))
    group = ContinuousQueries({str(number): text for number, text in enumerate(standing)})
    together = timed(partial(taken, group, pieces))
    return {"queries": len(standing), "one": alone, "all": together}


if __name__ == "__main__":
    run(main, "livefacts")

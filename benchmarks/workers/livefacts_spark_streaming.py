"""Maintenance of a knowledge base by a stream, beside the embedded engine and beside Spark alone.

Each file of messages is one micro-batch.  The floor is the same query into Spark's sink that drops
all rows; the embedded engine reads the same files as patches.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from reporting import Stages, run

import livefacts as lf
from livefacts.spark import Pipeline, session
from livefacts.syntax.rdf.patch import read_patch

SCHEMA = "http://www.w3.org/2000/01/rdf-schema#"
TOLD = "".join(
    f"<urn:p{n}> <{SCHEMA}subPropertyOf> <urn:q{n % 4}> .\n<urn:q{n % 4}> <{SCHEMA}domain> <urn:C{n % 4}> .\n"
    for n in range(16)
)


def messages(folder: Path, files: int, rows: int) -> Path:
    """Files of rows: of each three, two facts come, and one of an earlier file goes."""
    folder.mkdir()
    for file in range(files):
        first = file * rows
        texts = [
            f"A <urn:i{n}> <urn:p{n % 16}> <urn:i{n // 2}> .\n"
            if n % 3 or not file
            else f"D <urn:i{n - rows + 1}> <urn:p{(n - rows + 1) % 16}> <urn:i{(n - rows + 1) // 2}> .\n"
            for n in range(first, first + rows)
        ]
        (folder / f"{file:04d}.txt").write_text("".join(texts), encoding="utf-8")
    return folder


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    running = session(job.get("master", "local[2]"))
    folder = Path(tempfile.mkdtemp(prefix="streaming-", dir=job["folder"]))
    found = {}
    try:
        for name in ("latency", "saturation"):
            size = job[name]
            where = messages(folder / name, size["files"], size["rows"])
            found[name] = {
                "rows": size["rows"],
                "spark": _streamed(running, folder / f"{name}-kb", where),
                "floor": _floor(running, folder / f"{name}-floor", where),
                "embedded": _embedded(where),
            }
        return found
    finally:
        running.stop()


def _source(running: Any, where: Path) -> Any:
    return running.readStream.option("maxFilesPerTrigger", 1).text(str(where))


def _streamed(running: Any, folder: Path, where: Path) -> dict[str, float]:
    (folder.with_suffix(".nt")).write_text(TOLD, encoding="utf-8")
    seen: list[Any] = []
    pipeline = Pipeline(running, folder, on_batch=seen.append)
    pipeline.ingest(folder.with_suffix(".nt"))
    pipeline.materialize("rho-df")
    query = pipeline.stream(
        _source(running, where), deltas=f"{folder}-deltas", trigger={"availableNow": True}
    )
    query.awaitTermination()
    found = _figures(query)
    for part in ("reading", "changing", "writing"):
        found[part] = statistics.median(getattr(each, part) for each in seen[len(seen) // 3 :])
    return found


def _floor(running: Any, folder: Path, where: Path) -> dict[str, float]:
    query = (
        _source(running, where)
        .writeStream.format("noop")
        .option("checkpointLocation", str(folder))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return _figures(query)


def _figures(query: Any) -> dict[str, float]:
    """Of the batches after the first third, which warm up: the median, and rows a second."""
    done = [each for each in query.recentProgress if each["numInputRows"]]
    warm = done[len(done) // 3 :]
    times = [each["durationMs"]["triggerExecution"] / 1000 for each in warm]
    rows = sum(each["numInputRows"] for each in warm)
    return {"batch": statistics.median(times), "rate": rows / sum(times)}


def _embedded(where: Path) -> dict[str, float]:
    reasoner = lf.Reasoner(rules="rho-df")
    reasoner.add(TOLD)
    times, rows = [], 0
    files = sorted(where.iterdir())
    for number, file in enumerate(files):
        begun = time.perf_counter()
        patch = read_patch(file)
        last = {row.statement: row.adds for row in patch.rows}
        reasoner.apply(
            add=[fact for fact, adds in last.items() if adds],
            remove=[fact for fact, adds in last.items() if not adds],
        )
        if number >= len(files) // 3:
            times.append(time.perf_counter() - begun)
            rows += len(patch.rows)
    return {"batch": statistics.median(times), "rate": rows / sum(times)}


if __name__ == "__main__":
    run(main)

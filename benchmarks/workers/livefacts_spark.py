"""Our pipeline on Spark: files are ingested and every conclusion is drawn, stage by stage."""

from __future__ import annotations

import shutil
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from reporting import Stages, run
from watching import Peaks, processor_seconds

from livefacts.spark import Pipeline, session


class Watch:
    """Hears of stages: wall time, processor time by role, rows and bytes of each."""

    def __init__(self) -> None:
        self.stages: list[dict[str, Any]] = []
        self._before: Counter[str] = Counter()
        self._last: Any = None

    def __call__(self, stage: Any, is_done: bool) -> None:
        if not is_done:
            if stage is not self._last:
                self._before = processor_seconds()
            self._last = stage
            return
        after = processor_seconds()
        used = {role: after[role] - self._before[role] for role in after}
        self.stages.append(
            {
                "name": stage.name,
                "wall": stage.seconds,
                "cpu": used,
                "rows": stage.rows,
                "bytes": stage.bytes,
            }
        )


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    running = session(job.get("master"), settings=job.get("settings", {}))
    try:
        _measured(running, job, job["warm_up"])
        return {"runs": [_measured(running, job, path) for path in job["inputs"]]}
    finally:
        running.stop()


def _measured(running: Any, job: dict[str, Any], path: str) -> dict[str, Any]:
    folder = Path(tempfile.mkdtemp(prefix="spark-", dir=job["folder"]))
    watch, peaks = Watch(), Peaks()
    before, started = processor_seconds(), time.perf_counter()
    peaks.start()
    try:
        pipeline = Pipeline(running, folder / "kb", on_stage=watch)
        asserted = pipeline.ingest(path).figures["read"]
        ingested = time.perf_counter()
        derived = pipeline.materialize(job["rules"]).figures["derived"]
        ended, used = time.perf_counter(), processor_seconds()
        return {
            "asserted": asserted,
            "derived": derived,
            "wall": ended - started,
            "closing": ended - ingested,
            "cpu": {role: used[role] - before[role] for role in used},
            "stages": watch.stages,
            "cores": running.sparkContext.defaultParallelism,
            "kept": sum(f.stat().st_size for f in folder.rglob("*") if f.is_file()),
            "peaks": peaks.end(),
        }
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    run(main, "livefacts")

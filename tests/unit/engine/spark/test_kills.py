"""A change that is cut off anywhere leaves the version before it, and is made right again.

A process that is killed leaves the folder as it is at that moment.  So a change is made
once, the folder is copied at every named point of it, and each of these copies is opened,
read, and changed again.  A few processes are killed in earnest, too.
"""

from __future__ import annotations

import inspect
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.system.running import environment

import livefacts as lf
from livefacts.engine.spark.jobs.stage_report import Stage
from livefacts.engine.spark.read import ingestion as ingesting
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.tables import COMMITS, SCHEMAS, KnowledgeBase
from livefacts.spark import Pipeline

DOMAIN = "<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Writer> .\n"
NEW, GONE = "<urn:c> <urn:wrote> <urn:d> .\n", "<urn:a1> <urn:wrote> <urn:b1> .\n"
TOLD = DOMAIN + "".join(f"<urn:a{n}> <urn:wrote> <urn:b{n}> .\n" for n in range(6))
State = tuple[int, frozenset[tuple[str, str, str, int, int]]]

DYING = """
import os, signal, sys
from pathlib import Path
from tests.unit.engine.spark.test_kills import OPERATIONS, TOLD
from livefacts.spark import Pipeline, session

operation, point, folder = sys.argv[1], sys.argv[2], Path(sys.argv[3])
def die(name):
    if name == point:
        os.kill(os.getpid(), signal.SIGKILL)
if operation == "checkpoint":
    import livefacts as lf
    reasoner = lf.Reasoner.open(folder / "kb")
    reasoner._state.folder.base.reached = die
    reasoner.add("<urn:c> <urn:wrote> <urn:d> .")
    reasoner.checkpoint()
else:
    p = Pipeline(session("local[1]"), folder / "kb", buckets=2, on_stage=lambda s, done: die(s.name))
    p.base.reached = die
    OPERATIONS[operation](p, folder)
"""


def checkpointed(pipeline: Pipeline, folder: Path) -> None:
    reasoner = lf.Reasoner.open(pipeline.base.path)
    assert reasoner._state.folder is not None
    reasoner._state.folder.base.reached = pipeline.base.reached
    reasoner.apply(add=NEW.replace("urn:c", "urn:e"))
    reasoner.checkpoint()


OPERATIONS: dict[str, Callable[[Pipeline, Path], object]] = {
    "ingest": lambda p, folder: p.ingest(folder / "told.nt", batch="first"),
    "materialize": lambda p, folder: p.materialize("rho-df"),
    "update": lambda p, folder: p.update(add=NEW, remove=GONE, batch="second"),
    "optimize": lambda p, folder: p.optimize(keep=2),
    "checkpoint": checkpointed,
}


def state(path: Path) -> State:
    """The last version, read without Spark; a fact that is there twice is a failure."""
    base = KnowledgeBase(path)
    commit = base.last()
    if not commit.seq:
        return 0, frozenset()
    texts: dict[int, str] = {}
    rows = []
    for bucket in bucket_files(base, commit, int(base.settings["buckets"])):
        terms = bucket.read_terms()
        texts |= dict(zip(terms["id"].to_pylist(), terms["text"].to_pylist(), strict=True))
        rows += bucket.read_facts().to_pylist()
    facts = [
        (texts[r["s"]], texts[r["p"]], texts[r["o"]], r["support"], int(r["told"])) for r in rows
    ]
    assert len({fact[:3] for fact in facts}) == len(facts)
    return commit.seq, frozenset(facts)


class Moments:
    """What a folder looks like at every named point of a change."""

    def __init__(self, kb: Path, into: Path) -> None:
        self._kb, self._into = kb, into
        self._seen: set[frozenset[tuple[str, int]]] = set()
        self.names: list[str] = []

    def hear(self, stage: Stage, is_done: bool) -> None:
        if not is_done:
            self.take(f"before {stage.name}")

    def take(self, name: str) -> None:
        look = frozenset(
            (str(path), path.stat().st_size) for path in self._kb.rglob("*") if path.is_file()
        )
        if look not in self._seen:
            self._seen.add(look)
            shutil.copytree(self._kb, self._into / f"{len(self.names):02d}")
            self.names.append(name)

    def restored(self) -> Iterator[str]:
        """Put the folder back to each of them; the name of the point."""
        for number, name in enumerate(self.names):
            shutil.rmtree(self._kb)
            shutil.copytree(self._into / f"{number:02d}", self._kb)
            yield name


def prepared(spark: Any, folder: Path, operation: str) -> None:
    """Make every change that comes before this one."""
    (folder / "told.nt").write_text(TOLD, encoding="utf-8")
    pipeline = Pipeline(spark, folder / "kb", buckets=2)
    for name, made in OPERATIONS.items():
        if name == operation:
            return
        made(pipeline, folder)


IN_ALL_TESTS = ("ingest", "update")


@pytest.mark.slow
@pytest.mark.parametrize(
    "operation",
    [
        pytest.param(name, marks=() if name in IN_ALL_TESTS else pytest.mark.thorough)
        for name in OPERATIONS
    ],
)
def test_a_change_that_is_cut_off_anywhere_can_be_made_again(
    spark: Any, tmp_path: Path, operation: str
) -> None:
    kb, made = tmp_path / "kb", OPERATIONS[operation]
    prepared(spark, tmp_path, operation)
    before = state(kb)
    moments = Moments(kb, tmp_path / "moments")
    pipeline = Pipeline(spark, kb, buckets=2, on_stage=moments.hear)
    pipeline.base.reached = moments.take
    made(pipeline, tmp_path)
    after = state(kb)
    assert after != before
    assert len(moments.names) >= 3
    for name in moments.restored():
        assert state(kb) in (before, after), name
        made(Pipeline(spark, kb, buckets=2), tmp_path)
        assert state(kb)[1] == after[1], name
    assert unnamed_after_optimizing(Pipeline(spark, kb)) == set()


def unnamed_after_optimizing(pipeline: Pipeline) -> set[str]:
    """Data files that the last version does not have, after all others were let go."""
    pipeline.optimize(keep=1)
    base, found = pipeline.base, set()
    for table in SCHEMAS.keys() - {COMMITS}:
        named = {Path(name).name for name in base.files(table, base.last())}
        found |= (base.path / table).files(".parquet").keys() - named
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("operation", "point"),
    [
        ("ingest", "data written"),
        pytest.param("materialize", "facts_3 committed", marks=pytest.mark.thorough),
        pytest.param("checkpoint", "facts_3 committed", marks=pytest.mark.thorough),
    ],
)
def test_a_driver_that_is_killed_leaves_the_last_version(
    spark: Any, tmp_path: Path, operation: str, point: str
) -> None:
    prepared(spark, tmp_path, operation)
    kb, root = tmp_path / "kb", Path(__file__).parents[4]
    before = state(kb)
    done = subprocess.run(
        [sys.executable, "-c", DYING, operation, point, str(tmp_path)],
        cwd=root,
        env=environment() | {"PYTHONPATH": f"{root}:{root / 'src'}"},
        timeout=500,
        check=False,
    )
    assert done.returncode == -signal.SIGKILL
    assert state(kb) == before
    OPERATIONS[operation](Pipeline(spark, kb, buckets=2), tmp_path)
    assert state(kb)[0] == before[0] + 1


def failing_once(task: Any, mark: Path, ends_process: bool) -> Any:
    """A task that has sent its blocks, or written its files, when it fails, the first time."""

    def fail_once() -> None:
        if not mark.exists():
            mark.touch()
            if ends_process:
                os._exit(1)
            raise RuntimeError("once")

    def send(*given: Any) -> Any:
        report = yield from task(*given)
        fail_once()
        return report

    def receive(*given: Any) -> Any:
        result = task(*given)
        fail_once()
        return result

    return send if inspect.isgeneratorfunction(task) else receive


@pytest.mark.parametrize("ends_process", [False, True], ids=["raises", "ends"])
@pytest.mark.parametrize("task", ["read_split", "settle_bucket"])
def test_a_task_that_fails_once_is_tried_again_and_no_row_is_there_twice(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, ends_process: bool
) -> None:
    (tmp_path / "told.nt").write_text(TOLD, encoding="utf-8")
    real, mark = getattr(ingesting, task), tmp_path / "failed"
    monkeypatch.setattr(ingesting, task, failing_once(real, mark, ends_process))
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    report = pipeline.ingest(tmp_path / "told.nt")
    assert mark.exists()
    assert report.figures["asserted"] == len(state(tmp_path / "kb")[1]) == 7
    assert unnamed_after_optimizing(pipeline) == set()

"""The archive for spark-submit has all that a task needs."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from tests.system.running import SMALL_JAVA, environment, livefacts

SCRIPT = """
import sys
from livefacts.spark import Pipeline, session

archive, told, python, options = sys.argv[1:]
running = session("local-cluster[1,1,1024]", settings={
    "spark.archives": archive + "#livefacts",
    "spark.executorEnv.PYTHONPATH": "./livefacts",
    "spark.pyspark.python": python,
    "spark.executor.memory": "1g",
    "spark.executor.extraJavaOptions": options,
})
p = Pipeline(running, archive + ".kb", buckets=1)
p.ingest(told)
p.materialize("rho-df")
print("held", p.facts().count())
running.stop()
"""
TOLD = """
<urn:a> <urn:wrote> <urn:b> .
<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Writer> .
"""


def test_a_bare_archive_has_the_package_and_no_compiled_file(tmp_path: Path) -> None:
    path = tmp_path / "ours.tar.gz"
    ended = livefacts("spark", "package", "--bare", "-o", str(path))
    assert ended.code == 0
    assert f"--archives {path}#livefacts" in ended.out
    with tarfile.open(path) as archive:
        names = set(archive.getnames())
    assert {"livefacts/spark.py", "livefacts/rulesets/rho-df.rules"} <= names
    assert not [name for name in names if name.endswith(".pyc") or "__pycache__" in name]


def test_an_archive_of_another_kind_is_refused(tmp_path: Path) -> None:
    ended = livefacts("spark", "package", "-o", str(tmp_path / "ours.rar"))
    assert ended.code == 1
    assert "livefacts.tar.gz" in ended.err


@pytest.mark.slow
@pytest.mark.thorough
def test_executors_with_a_bare_python_work_by_the_archive(tmp_path: Path) -> None:
    python = Path(sys.base_prefix) / "bin" / f"python3.{sys.version_info.minor}"
    if (
        subprocess.run([python, "-c", "import numba"], capture_output=True, check=False).returncode
        == 0
    ):
        pytest.skip(f"{python} has packages of its own")
    path, told = tmp_path / "all.tar.gz", tmp_path / "told.nt"
    told.write_text(TOLD, encoding="utf-8")
    assert livefacts("spark", "package", "-o", str(path)).code == 0
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(path), str(told), str(python), SMALL_JAVA],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=900,
        check=False,
    )
    assert "held 3" in done.stdout, done.stderr[-5000:]

"""The stages on executors that are processes of their own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import SMALL_JAVA, environment

from livefacts.engine.spark.session import _python_path

SCRIPT = """
import sys
from pathlib import Path
from livefacts.spark import Pipeline, session

folder = Path(sys.argv[1])
running = session(
    "local-cluster[2,1,1024]",
    settings={"spark.executor.memory": "1g", "spark.executor.extraJavaOptions": sys.argv[2]},
)
p = Pipeline(running, folder / "kb", buckets=2)
p.ingest(folder / "told.nt")
p.materialize("rho-df")
print("held", p.facts().count())
running.stop()
"""
TOLD = """
<urn:a> <urn:wrote> <urn:b> .
<urn:wrote> <http://www.w3.org/2000/01/rdf-schema#domain> <urn:Writer> .
<urn:Writer> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Person> .
"""


@pytest.mark.slow
def test_two_executors_draw_the_conclusions(tmp_path: Path) -> None:
    (tmp_path / "told.nt").write_text(TOLD, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), SMALL_JAVA],
        capture_output=True,
        text=True,
        env=environment() | {"PYTHONPATH": _python_path()},
        timeout=300,
        check=False,
    )
    assert "held 5" in done.stdout, done.stderr[-3000:]

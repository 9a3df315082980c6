"""What the user has set stays, wherever it was set."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import environment

from livefacts.engine.spark.jobs.tasks import PARTITIONS
from livefacts.engine.spark.session import cores_of

SCRIPT = """
import json, sys
from livefacts.spark import session
from livefacts.engine.spark.jobs.tasks import fit_partitions

def told(running):
    context = running.sparkContext
    conf = dict(context.getConf().getAll())
    return [
        running.conf.get("spark.sql.session.timeZone"),
        running.conf.get("spark.sql.shuffle.partitions"),
        conf["spark.ui.enabled"], conf["spark.app.name"], conf["spark.driver.host"], context.pythonExec,
    ]

running = session("local[3]")
print("first", json.dumps(told(running)))
fit_partitions(running, 1 << 40)
running.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
print("again", json.dumps(told(session("local[1]", app="other"))))
running.stop()
"""


def told(*, defaults: str, folder: Path) -> dict[str, list[str]]:
    (folder / "spark-defaults.conf").write_text(defaults, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        capture_output=True,
        text=True,
        env=environment(SPARK_CONF_DIR=str(folder)),
        timeout=300,
        check=False,
    )
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    found = {name: json.loads(rest) for name, _, rest in lines if name in ("first", "again")}
    assert found.keys() == {"first", "again"}, done.stderr[-3000:]
    return found


@pytest.mark.slow
def test_what_spark_defaults_and_a_session_that_is_there_say_is_left_alone(tmp_path: Path) -> None:
    defaults = f"{PARTITIONS} 7\nspark.sql.session.timeZone Europe/Zurich\nspark.ui.enabled=true\n"
    found = told(
        defaults=f"{defaults}spark.ui.port 0\nspark.pyspark.python {sys.executable}\n",
        folder=tmp_path,
    )
    rest = ["7", "true", "livefacts", "127.0.0.1", sys.executable]
    assert found["first"] == ["Europe/Zurich", *rest]
    assert found["again"] == ["Asia/Tokyo", *rest]


@pytest.mark.slow
@pytest.mark.thorough
def test_what_nobody_has_set_is_chosen_by_cores_and_data(tmp_path: Path) -> None:
    found = told(defaults="", folder=tmp_path)
    assert found["first"] == ["UTC", "6", "false", "livefacts", "127.0.0.1", sys.executable]
    assert found["again"][1] == str((1 << 40) // (32 << 20))


def test_cores_are_those_of_the_master() -> None:
    assert [cores_of(master) for master in ("local", "local[2]", "local-cluster[2,3,512]")] == [
        1,
        2,
        6,
    ]

"""What all tests share: third-party data, and a last line that says what was left out.

Third-party suites are not part of the project.  Tests find them through the environment
variable LIVEFACTS_TEST_DATA; without it they are skipped and counted, and a variable
that leads nowhere is a failure, so that a typing error never looks like success.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.schedule import Schedule, rank_of
from tests.system.running import SMALL_JAVA
from tests.system.store_servers import StoreServer, hdfs, s3_of_moto, s3_of_versitygw

from livefacts.store.critical_sections import Held

VARIABLE = "LIVEFACTS_TEST_DATA"
ROOMY = "-Xms1g -Xmn500m -XX:MetaspaceSize=256m"
"""A heap that need not grow is collected less often."""


def pytest_configure() -> None:
    """Tests and what they start hear Ctrl-C: who runs in the background inherits that it is ignored."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _ctrl_c_is_heard_after_each_test() -> Iterator[None]:
    """What holds an interrupt back lets go of it, whatever goes wrong."""
    yield
    assert not isinstance(getattr(signal.getsignal(signal.SIGINT), "__self__", None), Held)


@pytest.fixture(scope="session")
def third_party_data() -> Path:
    """The folder of third-party test data; the test is skipped where there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} is not set")
    if not Path(named).is_dir():
        pytest.fail(f"{VARIABLE} is {named}, and no such folder exists")
    return Path(named)


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    """The one Spark session of the run."""
    from livefacts.spark import session

    running = session(
        "local[2]",
        settings={
            "spark.sql.shuffle.partitions": "1",
            "spark.driver.extraJavaOptions": f"{SMALL_JAVA} {ROOMY}",
            "spark.driver.memory": "1g",
            # Each operator takes a page at least, and queries of rules have many operators.
            "spark.buffer.pageSize": "1m",
        },
    )
    yield running
    running.stop()


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    """A server of S3 that lets anybody in."""
    with s3_of_moto(tmp_path_factory.mktemp("s3")) as server:
        yield server


@pytest.fixture(scope="session")
def strict_s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    """A server of S3 that looks at keys."""
    with s3_of_versitygw(tmp_path_factory.mktemp("strict")) as server:
        yield server


@pytest.fixture(scope="session", params=["s3", "strict_s3", "hdfs"])
def each_store(request: pytest.FixtureRequest) -> StoreServer:
    """Each of the stores that can be had."""
    found: StoreServer = request.getfixturevalue(request.param)
    return found


@pytest.fixture(scope="session", name="hdfs")
def _hdfs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StoreServer]:
    """A file system of Hadoop."""
    with hdfs(tmp_path_factory.mktemp("hdfs")) as server:
        yield server


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that need the Spark session; on several cores, the longest begin first."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.spark)
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: rank_of(item.nodeid))


def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> object:
    """How tests are dealt out to several cores: see `tests/schedule.py`."""
    return Schedule(config, log) if config.getvalue("dist") == "loadgroup" else None


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Keep what the last line has to say; only the process that prints knows it."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        skipped = reporter.stats.get("skipped", [])
        session.config.stash[LEFT_OUT] = sum(VARIABLE in str(test.longrepr) for test in skipped)


def pytest_unconfigure(config: pytest.Config) -> None:
    """Say, after everything else, how much was left out."""
    left_out = config.stash.get(LEFT_OUT, 0)
    if left_out:
        print(f"third-party data missing: {left_out} tests left out; set {VARIABLE} to run them")


LEFT_OUT = pytest.StashKey[int]()

"""The Spark session: one builder, its settings, and the reason for each.

An existing session works as well: nothing here is needed for right answers, but for speed,
for silence and for not listening on the network.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import livefacts
from livefacts.engine.spark.java import find_java
from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
ADVICE = "pip install 'livefacts[spark]'"
LOOPBACK = "127.0.0.1"

SETTINGS = {
    # Nobody but this machine talks to the driver, unless a cluster has to.
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    # The web page of a session would listen on a port.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    # Times mean the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # Columns go between Java and Python as Arrow, not row by row.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # Starting a worker costs half a second, its kernels another half.
    "spark.python.worker.reuse": "true",
    # No Hive, hence no metastore folder where the command was typed.
    "spark.sql.catalogImplementation": "in-memory",
}


def session(
    master: str | None = None,
    *,
    app: str = "livefacts",
    settings: Mapping[str, str] = MappingProxyType({}),
) -> SparkSession:
    """A session on `master` (all cores of this machine by default), or the one there is.

    `settings` are Spark's own, such as `{"spark.driver.memory": "4g"}`.
    """
    require_extra()
    from pyspark.sql import SparkSession

    chosen = master or os.environ.get("SPARK_MASTER") or LOCAL
    os.environ["JAVA_HOME"] = str(find_java().home)
    if chosen.startswith("local"):
        # Workers need the packages of this very interpreter, not those of some python3.
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName(app).master(chosen)
    for key, value in {**_settings(chosen), **settings}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def require_extra() -> None:
    """Say what to install if the packages of the Spark engine are not there."""
    try:
        import deltalake  # noqa: F401
        import pyarrow  # noqa: F401
        import pyspark  # noqa: F401
    except ImportError as error:
        raise LivefactsError(f"the Spark pipeline needs {error.name}", hint=ADVICE) from error


def _settings(master: str) -> dict[str, str]:
    chosen = dict(SETTINGS)
    if not master.startswith("local"):
        # Executors on other machines have to reach the driver.
        del chosen["spark.driver.host"], chosen["spark.driver.bindAddress"]
    # A shuffle into more parts than there are cores only makes more small tasks.
    chosen["spark.sql.shuffle.partitions"] = str(max(2, 2 * (os.cpu_count() or 1)))
    if master.startswith("local"):
        # Executors of a local cluster find this package, and its compiled kernels, where we do.
        chosen["spark.executorEnv.PYTHONPATH"] = _python_path()
        if "LIVEFACTS_CACHE_DIR" in os.environ:
            chosen["spark.executorEnv.LIVEFACTS_CACHE_DIR"] = os.environ["LIVEFACTS_CACHE_DIR"]
    return chosen


def _python_path() -> str:
    package = str(Path(livefacts.__file__).parent.parent)
    known = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([package, *(known.split(os.pathsep) if known else [])])

"""The Spark session: one builder, its settings, and the reason for each.

What the user has set, in spark-defaults.conf, for spark-submit or in a session that is there
already, stays as it is.  An existing session works as well: hardly anything here is needed for
right answers (`watch` says what it needs), but for speed, for silence and for not listening on
the network.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import livefacts
from livefacts.engine.spark.java import find_java, wrapped
from livefacts.engine.spark.jobs.tasks import CHOSEN, PARTITIONS
from livefacts.errors import LivefactsError
from livefacts.store.machine_code import user_cache_directory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LOCAL = "local[*]"
ADVICE = "pip install 'livefacts[spark]'; in a clone of it, '.[spark]'"
LOOPBACK = "127.0.0.1"
ATTEMPTS = 3
"""A worker may be killed, or start too slowly on a busy machine: once is no reason to give up."""
PYSPARK_FROM = (4, 1)
"""The first one with functions on Arrow columns, which values of rules are computed by."""
LOG_VARIABLE = "LIVEFACTS_SPARK_LOG"
LEVELS = ("error", "warn", "info", "debug")
QUIET = LEVELS[0]
LOG_SETTINGS = Path(__file__).with_name("log4j2.properties")
JAVA_OPTIONS = "SPARK_SUBMIT_OPTS"

PYTHON_OF_TASKS, PYTHON_SETTING = "PYSPARK_PYTHON", "spark.pyspark.python"
PROGRESS = "spark.ui.showConsoleProgress"
REMOTE = {"SPARK_REMOTE", "SPARK_CONNECT_MODE_ENABLED"}
"""Variables of which one is set where a session is one of Spark Connect."""

LOCAL_SETTINGS = {
    # Nobody but this machine talks to the driver; on a cluster executors have to reach it.
    "spark.driver.host": LOOPBACK,
    "spark.driver.bindAddress": LOOPBACK,
    # The web page of a session would listen on a port.
    "spark.ui.enabled": "false",
}
SETTINGS = {
    # Times mean the same on every machine.
    "spark.sql.session.timeZone": "UTC",
    # Columns go between Java and Python as Arrow, not row by row.
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # Starting a worker costs half a second, its kernels another half.
    "spark.python.worker.reuse": "true",
    # Each operator takes a page at least, and a round of rules has hundreds of joins: with pages
    # of 64 MB, a few facts do not fit into 4 GB.
    "spark.buffer.pageSize": "1m",
    # The only store whose state can have maps, which a watched query needs on a stream.
    "spark.sql.streaming.stateStore.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # No Hive, hence no metastore folder where the command was typed.
    "spark.sql.catalogImplementation": "in-memory",
}


def session(
    master: str | None = None,
    *,
    app: str = "livefacts",
    settings: Mapping[str, str] = MappingProxyType({}),
    log: str | None = None,
) -> SparkSession:
    """A session on `master` (all cores of this machine by default), or the one there is.

    `settings` are Spark's own, such as `{"spark.driver.memory": "4g"}`; what was set elsewhere
    (spark-defaults.conf, `spark-submit --conf`, a session that is there) stays, unless they say
    otherwise.  `log` is how much Spark says on standard error: "error" (the default, also by
    LIVEFACTS_SPARK_LOG), "warn", "info" or "debug".
    """
    require_extra()
    from pyspark.errors import PySparkException
    from pyspark.sql import SparkSession

    from livefacts.engine.spark.formats.session_sources import register

    level, chosen = _log_level(log), chosen_master(master)
    if REMOTE.isdisjoint(os.environ):
        try:
            SparkSession.active()
        except PySparkException:
            _start(chosen, app, settings, level)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return register(builder.getOrCreate())


def _start(master: str, app: str, settings: Mapping[str, str], level: str) -> None:
    """Start Java, and Spark in it, with settings of ours where there are no others."""
    from pyspark import SparkConf, SparkContext
    from pyspark.java_gateway import launch_gateway

    asked = {"spark.master": with_attempts(master)} if master else {}
    own = _settings(master)
    if not _is_submitted():
        _prepare_java(level, is_local=is_local_master(master))
        # Java is started as if for a shell, which shows progress.
        asked |= {"spark.app.name": app, PROGRESS: "false"}
    asked |= settings
    # Java has to be told what it is started for, such as how much memory it gets.
    starting = SparkConf(loadDefaults=False).setAll(list(asked.items()))
    gateway = launch_gateway(starting)  # type: ignore[no-untyped-call]
    known = gateway.jvm.SparkConf(True)
    if not _is_submitted():
        _choose_python(master, known.get(PYTHON_SETTING, "") or settings.get(PYTHON_SETTING, ""))
    chosen = {key: value for key, value in own.items() if not known.contains(key)} | asked
    if not known.contains(PARTITIONS) and PARTITIONS not in settings:
        chosen[CHOSEN] = "true"
    SparkContext(conf=SparkConf(loadDefaults=False).setAll(list(chosen.items())), gateway=gateway)


def _choose_python(master: str, known: str) -> None:
    """The Python of tasks: of what may be set, the driver looks at a variable alone."""
    if known:
        os.environ[PYTHON_OF_TASKS] = known
    elif master.startswith(("local", "spark:")):
        # Workers need the packages of this very interpreter, not those of some python3.
        os.environ.setdefault(PYTHON_OF_TASKS, sys.executable)


def chosen_master(master: str | None) -> str:
    """The master that was asked for; none where `spark-submit` knows it."""
    asked = master or os.environ.get("SPARK_MASTER", "")
    return asked or ("" if _is_submitted() else LOCAL)


def _is_submitted() -> bool:
    """Whether `spark-submit` has started Java, and Java this process."""
    return "PYSPARK_GATEWAY_PORT" in os.environ


def is_local_master(master: str | None) -> bool:
    """Whether tasks run on this machine, and see its folders."""
    return master is not None and master.startswith("local")


def with_attempts(master: str) -> str:
    """A master on this machine whose tasks may fail and be tried again, as those of others may.

    >>> with_attempts("local[*]"), with_attempts("local"), with_attempts("local[2,1]")
    ('local[*,3]', 'local[1,3]', 'local[2,1]')
    >>> with_attempts("spark://host:7077")
    'spark://host:7077'
    """
    cores = re.fullmatch(r"local(?:\[(\d+|\*)\])?", master)
    return f"local[{cores[1] or 1},{ATTEMPTS}]" if cores else master


def require_extra() -> None:
    """Say what to install if the packages of the Spark engine are not there, or too old."""
    try:
        import pyspark
    except ImportError as error:
        raise LivefactsError(f"the Spark pipeline needs {error.name}", hint=ADVICE) from error
    if tuple(map(int, pyspark.__version__.split(".")[:2])) < PYSPARK_FROM:
        wanted = ".".join(map(str, PYSPARK_FROM))
        raise LivefactsError(
            f"the Spark pipeline needs pyspark {wanted} or newer, and this is {pyspark.__version__}",
            hint=ADVICE,
        )


def _log_level(log: str | None) -> str:
    level = (log or os.environ.get(LOG_VARIABLE) or QUIET).lower()
    if level not in LEVELS:
        raise LivefactsError(
            f"Spark cannot log at level {level!r}", hint=f"one of {', '.join(LEVELS)}"
        )
    return level


def _prepare_java(level: str, *, is_local: bool) -> None:
    """What the process of Java finds when it starts: which Java, and how much it logs."""
    java = find_java()
    is_quiet = level == QUIET
    # The wrapper also keeps Java from warning about a module at every start.
    home = wrapped(java) if is_quiet or not java.has_modules else java.home
    os.environ["JAVA_HOME"] = str(home)
    if is_local:
        # Otherwise Spark looks for an address of this machine, and warns when it finds one.
        os.environ.setdefault("SPARK_LOCAL_IP", LOOPBACK)
    known = os.environ.get(JAVA_OPTIONS, "")
    if "log4j" not in known:
        told = [f"-Dlog4j2.configurationFile={LOG_SETTINGS}", f"-Dlivefacts.log={level}"]
        told += [] if is_quiet else [f"-Dlivefacts.log.tasks={level}"]
        options = " ".join(f'"{option}"' for option in told)
        os.environ[JAVA_OPTIONS] = f"{known} {options}".strip()


def _settings(master: str) -> dict[str, str]:
    chosen = dict(SETTINGS)
    # Even without a metastore Spark makes a folder for its databases, where the command was typed.
    chosen["spark.sql.warehouse.dir"] = str(user_cache_directory() / "warehouse")
    if is_local_master(master):
        chosen |= LOCAL_SETTINGS
        # A shuffle into more parts than there are cores only makes more small tasks.
        chosen[PARTITIONS] = str(max(2, 2 * cores_of(master)))
    if master.startswith(("local", "spark:")):
        # Executors find this package, and its compiled kernels, where we do: on this machine, or
        # where others have the same folders.
        chosen["spark.executorEnv.PYTHONPATH"] = _python_path()
        if "LIVEFACTS_CACHE_DIR" in os.environ:
            chosen["spark.executorEnv.LIVEFACTS_CACHE_DIR"] = os.environ["LIVEFACTS_CACHE_DIR"]
    return chosen


def cores_of(master: str) -> int:
    """The cores of a master on this machine.

    >>> cores_of("local"), cores_of("local[3,2]"), cores_of("local-cluster[2,4,1024]")
    (1, 3, 8)
    """
    numbers = [int(text) for text in re.findall(r"\d+", master)]
    if master.startswith("local-cluster"):
        return numbers[0] * numbers[1]
    if "*" in master:
        return os.cpu_count() or 1
    return numbers[0] if numbers else 1


def _python_path() -> str:
    package = str(Path(livefacts.__file__).parent.parent)
    known = os.environ.get("PYTHONPATH", "")
    return os.pathsep.join([package, *(known.split(os.pathsep) if known else [])])

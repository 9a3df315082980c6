"""The schedule of a run on several cores: which tests stay together, and which begin first.

Tests that need the Spark session stay in one process, so that there is one session; what takes
longest begins first, so that no core waits at the end.  The tests of a file stay together, for
they share set-up; those of the slow folders are dealt out one by one.

pytest-xdist groups tests by a mark, too, but not with pytest 9.2: its marks get lost on the way.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
SPARK = "spark"
SHAPE = "tests/shape/"
"""The laws read all sources, once in a process."""
NEEDS_SPARK = re.compile(r"[(,]\s*spark: ")
SLOW = ("tests/properties/", "tests/system/", "tests/unit/engine/spark/test_cluster.py")
"""Where tests take seconds each; that of the cluster starts Java three times."""


def group_of(nodeid: str) -> str:
    """What the test is run together with, in one process and in order."""
    file = nodeid.partition("::")[0]
    if needs_spark(file):
        return SPARK
    if file.startswith(SHAPE):
        return SHAPE
    return nodeid if file.startswith(SLOW) else file


def rank_of(nodeid: str) -> int:
    """Which tests begin first: the longest group, then what takes long one by one."""
    group = group_of(nodeid)
    return 0 if group == SPARK else 1 if group.startswith(SLOW) else 2


@cache
def needs_spark(file: str) -> bool:
    """Whether tests of the file ask for the Spark session."""
    return NEEDS_SPARK.search((ROOT / file).read_text(encoding="utf-8")) is not None


class Schedule(LoadScopeScheduling):
    """Deals out groups of tests, in the order of the collection."""

    def __init__(self, config: pytest.Config, log: object = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)  # type: ignore[arg-type]

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

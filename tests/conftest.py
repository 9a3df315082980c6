"""What all tests share: third-party data, and a last line that says what was left out.

Third-party suites are not part of the project.  Tests find them through the environment
variable LIVEFACTS_TEST_DATA; without it they are skipped and counted, and a variable
that leads nowhere is a failure, so that a typing error never looks like success.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

VARIABLE = "LIVEFACTS_TEST_DATA"


@pytest.fixture(scope="session")
def third_party_data() -> Path:
    """The folder of third-party test data; the test is skipped where there is none."""
    named = os.environ.get(VARIABLE)
    if not named:
        pytest.skip(f"{VARIABLE} is not set")
    if not Path(named).is_dir():
        pytest.fail(f"{VARIABLE} is {named}, and no such folder exists")
    return Path(named)


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

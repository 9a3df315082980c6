"""Every example runs, and says what it promises."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import environment

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("[0-9]*.py"))
PROMISED = {
    "01_first_rules.py": [
        "ancestor(ann, dan)",
        "children(ben, ",
        "+ ancestor(ann, eve)",
        "- childless(dan)",
    ],
    "02_rdf_and_queries.py": ["<http://example.org/virginia> made <http://example.org/orlando>"],
    "03_constraints.py": ["cat_or_dog", "too_warm", "tom", "180"],
    "04_universities.py": ["facts are true", "Person", "Chair"],
}


def test_every_example_has_a_promise() -> None:
    assert {path.name for path in EXAMPLES} == set(PROMISED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_an_example_says_what_it_promises(path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(path)],
        capture_output=True,
        text=True,
        env=environment(),
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert [words for words in PROMISED[path.name] if words not in done.stdout] == []

"""Kernels look and write only where their tables are.

They are compiled once more, so that every index is checked, and follow random programs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import SOURCES

REFUSED = """
from livefacts.errors import LivefactsError
from livefacts.service.reasoner import Reasoner

SAME = "<http://www.w3.org/2002/07/owl#sameAs>"
OTHER = "<http://www.w3.org/2002/07/owl#differentFrom>"
rules = ["owl-rl", "owl-eq-ref"]
reasoner = Reasoner(rules=rules, on_violation="refuse", maintenance="recompute")
for turn in range(20):
    reasoner.add(f"<x:a{turn}> {SAME} <x:b{turn}> . <x:p{turn % 3}> a <x:C{turn % 4}> .")
    reasoner.add_rules(f"[?x, <x:q{turn}>, ?y] :- [?x, <x:p{turn}>, ?y], [?y, a, <x:C{turn}>] .")
    try:
        reasoner.add(f"<x:a{turn}> {OTHER} <x:b{turn}> . <x:c{turn}> {SAME} <x:d{turn}> .")
    except LivefactsError:
        continue
    raise SystemExit("a contradiction was taken in")
assert reasoner.verify()
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Python in a process of its own, whose kernels check every index."""
    paths = os.pathsep.join([str(SOURCES), str(SOURCES.parent)])
    return subprocess.run(
        [sys.executable, *arguments],
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "NUMBA_BOUNDSCHECK": "1",
            "LIVEFACTS_CACHE_DIR": str(folder),
        },
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.thorough
def test_no_kernel_leaves_its_tables(tmp_path: Path) -> None:
    refused = run(tmp_path, "-c", REFUSED)
    assert refused.returncode == 0, refused.stderr
    fuzz = str(SOURCES.parent / "tests" / "fuzz.py")
    random = run(tmp_path, fuzz, "--seed", "0", "--cases", "400", "--minutes", "30")
    assert random.returncode == 0, random.stdout + random.stderr

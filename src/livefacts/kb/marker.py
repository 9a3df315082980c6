"""The marker of a knowledge base: what its folder is, who may write to it, what was left behind.

A small file says that a folder is a knowledge base, in which layout and with which settings.
One lock, which ends with the process that holds it, lets one writer in at a time.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from livefacts.errors import ConflictError, InputError

FORMAT = 1
MARKER = "livefacts.json"
LOCK = ".lock"
EXCHANGE = ".exchange"
ANOTHER = "name a folder that is empty or not there yet"


def folder_of(path: str | os.PathLike[str]) -> Path:
    """The folder that a path or a file URL names."""
    named = os.fspath(path)
    url = urlparse(named)
    if url.scheme == "file":
        return Path(unquote(url.path)).absolute()
    if "://" in named:
        raise InputError(
            f"{named} is on a remote store, and a knowledge base is a folder of files",
            hint="mount the store where the driver and all executors see it",
        )
    return Path(named).absolute()


def read_settings(path: Path) -> dict[str, Any]:
    """The settings of a knowledge base; none if the folder is free to become one."""
    marker = path / MARKER
    if marker.is_file():
        return _read_marker(marker)
    if path.exists() and not path.is_dir():
        raise InputError(f"{path} is a file, and a knowledge base is a folder", hint=ANOTHER)
    if path.is_dir() and not all(_is_ours(name.name) for name in path.iterdir()):
        outer = path.parent
        is_inside = (outer / MARKER).is_file()
        raise InputError(
            f"{path} is not empty, and no knowledge base",
            hint=f"the knowledge base is {outer}" if is_inside else ANOTHER,
        )
    return {}


def _is_ours(name: str) -> bool:
    """Whether a writer that was cut off at its very beginning leaves this behind."""
    return name == LOCK or name.startswith(f".{MARKER}.")


def write_settings(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Make a folder a knowledge base."""
    found = {"format": FORMAT, **settings}
    path.mkdir(parents=True, exist_ok=True)
    part = path / f".{MARKER}.{os.getpid()}"
    part.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    part.replace(path / MARKER)
    return found


def _read_marker(marker: Path) -> dict[str, Any]:
    try:
        settings = json.loads(marker.read_text(encoding="utf-8"))
        layout = int(settings["format"])
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"{marker} cannot be read", hint="restore it, or name another folder"
        ) from error
    if layout > FORMAT:
        raise InputError(
            f"{marker.parent} was written by a newer livefacts (layout {layout}, "
            f"this one knows {FORMAT})",
            hint="pip install --upgrade livefacts",
        )
    return dict(settings)


@contextmanager
def lock(path: Path) -> Iterator[None]:
    """Be the only one who writes to a folder."""
    import fcntl

    with (path / LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise ConflictError(
                f"someone else is writing to {path}",
                hint="wait until that is done, then try again",
            ) from error
        yield


def remove_leftovers(path: Path) -> int:
    """Remove what writers that were cut off left between stages; how many folders that were.

    Only for who holds the lock: nobody else can be in the middle of something.
    """
    for part in path.glob(f".{MARKER}.*"):
        part.unlink(missing_ok=True)
    folder = path / EXCHANGE
    left = list(folder.iterdir()) if folder.is_dir() else []
    for each in left:
        shutil.rmtree(each, ignore_errors=True)
    return len(left)

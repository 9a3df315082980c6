"""The marker of a knowledge base: what its folder is, and what was left behind.

A small file says that a folder is a knowledge base, in which layout and with which settings.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlparse

from livefacts.errors import DamageError, InputError, LivefactsError
from livefacts.journal import file_operations
from livefacts.journal.change_log import FOLDER, has_begun
from livefacts.journal.folder_lock import LOCK
from livefacts.journal.log_file import digest_of
from livefacts.kb import delta_log

FORMAT = 1
MARKER = "livefacts.json"
EXCHANGE = ".exchange"
COMMITS = "commits"
DIGEST = "digest"
ANOTHER = (
    "a folder that is empty or not there yet can become one: "
    "livefacts load kb/ data.nt, or Reasoner.open(folder)"
)


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
    if not marker.is_file():
        refusal = _why_not_free(path)
        # Someone may have made it a knowledge base, and changed it, since it was looked at.
        if not marker.is_file():
            if refusal is not None:
                raise refusal
            return {}
    return _read_marker(marker)


def _why_not_free(path: Path) -> LivefactsError | None:
    """Why a folder without a marker cannot become a knowledge base."""
    if not path.exists():
        return None
    if not path.is_dir():
        return InputError(f"{path} is a file, and a knowledge base is a folder", hint=ANOTHER)
    if has_begun(path) or (path / COMMITS / delta_log.FOLDER).is_dir():
        return DamageError(
            f"{path / MARKER} is missing, and the rest of a knowledge base is there",
            hint="restore the file from a backup, or name another folder; nothing was changed",
        )
    if all(_is_ours(name.name) for name in path.iterdir()):
        return None
    outer = path.parent
    is_inside = (outer / MARKER).is_file()
    return InputError(
        f"{path} is not empty, and no knowledge base",
        hint=f"the knowledge base is {outer}" if is_inside else ANOTHER,
    )


def _is_ours(name: str) -> bool:
    """Whether a writer that was cut off at its very beginning leaves this behind."""
    return name in (LOCK, FOLDER) or name.startswith(f".{MARKER}.")


def write_settings(path: Path, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Make a folder a knowledge base."""
    found = {"format": FORMAT, **settings}
    path.mkdir(parents=True, exist_ok=True)
    text = json.dumps({**found, DIGEST: _digest(found)}, indent=2) + "\n"
    file_operations.replace_file(path / MARKER, text.encode())
    return found


def _digest(settings: Mapping[str, Any]) -> str:
    """A digest of what a marker says."""
    return digest_of(json.dumps(dict(settings), sort_keys=True).encode()).hex()


def _read_marker(marker: Path) -> dict[str, Any]:
    try:
        settings = json.loads(marker.read_text(encoding="utf-8"))
        layout, digest = int(settings["format"]), settings.pop(DIGEST, None)
    except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
        raise InputError(
            f"{marker} cannot be read", hint="restore it, or name another folder"
        ) from error
    if digest is not None and digest != _digest(settings):
        raise DamageError(f"{marker} is not as it was written", hint="restore it from a backup")
    if layout > FORMAT:
        raise InputError(
            f"{marker.parent} was written by a newer livefacts (layout {layout}, "
            f"this one knows {FORMAT})",
            hint="pip install --upgrade livefacts",
        )
    return dict(settings)


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

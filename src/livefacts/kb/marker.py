"""The marker of a knowledge base: what its folder is, and what was left behind.

A small file says that a folder is a knowledge base, in which layout and with which settings.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from livefacts.errors import DamageError, InputError, LivefactsError
from livefacts.journal.change_log import FOLDER, has_begun
from livefacts.journal.folder_lock import LOCK
from livefacts.journal.log_file import digest_of
from livefacts.kb import delta_log
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.stores.write_lease import FOLDER as LEASE

FORMAT = 1
MARKER = "livefacts.json"
EXCHANGE = ".exchange"
COMMITS = "commits"
DIGEST = "digest"
ANOTHER = (
    "a folder that is empty or not there yet can become one: "
    "livefacts load kb/ data.nt, or Reasoner.open(folder)"
)


def read_settings(path: StorePath) -> dict[str, Any]:
    """The settings of a knowledge base; none if the folder is free to become one."""
    marker = path / MARKER
    if marker.stat() is None:
        refusal = _why_not_free(path)
        # Someone may have made it a knowledge base, and changed it, since it was looked at.
        if marker.stat() is None:
            if refusal is not None:
                raise refusal
            return {}
    return _read_marker(marker)


def _why_not_free(path: StorePath) -> LivefactsError | None:
    """Why a folder without a marker cannot become a knowledge base."""
    if path.exists():
        return InputError(f"{path} is a file, and a knowledge base is a folder", hint=ANOTHER)
    names = path.list()
    has_journal = FOLDER in names and path.is_local and has_begun(path.folder)
    if has_journal or (COMMITS in names and delta_log.FOLDER in (path / COMMITS).list()):
        return DamageError(
            f"{path / MARKER} is missing, and the rest of a knowledge base is there",
            hint="restore the file from a backup, or name another folder; nothing was changed",
        )
    if all(map(_is_ours, names)):
        return None
    outer = path.parent
    is_inside = (outer / MARKER).exists()
    return InputError(
        f"{path} is not empty, and no knowledge base",
        hint=f"the knowledge base is {outer}" if is_inside else ANOTHER,
    )


def _is_ours(name: str) -> bool:
    """Whether a writer that was cut off at its very beginning leaves this behind."""
    return name in (LOCK, FOLDER, LEASE) or name.startswith(f".{MARKER}.")


def write_settings(path: StorePath, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Make a folder a knowledge base."""
    found = {"format": FORMAT, **settings}
    text = json.dumps({**found, DIGEST: _digest(found)}, indent=2) + "\n"
    (path / MARKER).write(text.encode())
    return found


def _digest(settings: Mapping[str, Any]) -> str:
    """A digest of what a marker says."""
    return digest_of(json.dumps(dict(settings), sort_keys=True).encode()).hex()


def _read_marker(marker: StorePath) -> dict[str, Any]:
    try:
        settings = json.loads(marker.read())
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


def remove_leftovers(path: StorePath) -> int:
    """Remove what writers that were cut off left between stages; how many folders that were.

    Only for who holds the lock of a folder of this machine: nobody else can be in the middle of
    something.  On a remote store nothing is left but data files, which the vacuum removes by age.
    """
    if not path.is_local:
        return 0
    for name in path.files(""):
        if name.startswith(f".{MARKER}."):
            (path / name).delete()
    folder = path / EXCHANGE
    left = folder.list()
    for name in left:
        (folder / name).delete_folder()
    return len(left)

"""The scratch folder: where files between stages are, for as long as they go through a folder.

A knowledge base in a folder has it inside; for one on a remote store it is a folder of this
machine, which tasks see where they run here, and not elsewhere.
"""

from __future__ import annotations

import getpass
import hashlib
import tempfile
from pathlib import Path

from livefacts.errors import LivefactsError
from livefacts.kb.stores.file_path import StorePath


def scratch_folder(path: StorePath, *, is_near: bool) -> Path:
    """The folder for what passes between stages of a knowledge base; `is_near`: tasks see it."""
    if path.is_local:
        return path.folder
    if not is_near:
        raise LivefactsError(
            f"{path} is on a remote store, and tasks on other machines share no folder with this one",
            hint="use a master local[...] for this change; small updates need no tasks",
        )
    name = hashlib.sha256(path.address.encode()).hexdigest()[:24]
    return Path(tempfile.gettempdir()) / f"livefacts-{getpass.getuser()}" / name

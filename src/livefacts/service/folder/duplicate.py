"""The copy of a folder, also beside the process that writes to it.

Files of tables never change under their names, and logs only grow.  So the log of commits comes
first, then the logs of the tables, then their files, and the journal comes last: what the commits
name is in the tables, and all changes after that are in the journal.  The journal is copied row by
row up to a moment: a file that grows meanwhile would have holes.  What the writer removes
meanwhile, because a new version does not need it any more, is missing then: the copy is made anew.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from livefacts.errors import ConflictError, DamageError
from livefacts.journal import fact_texts
from livefacts.journal.change_log import FOLDER, log_numbers, log_path, read_row
from livefacts.journal.folder_lock import LOCK
from livefacts.journal.log_file import STEP, LogReader
from livefacts.kb.delta_log import FOLDER as LOG
from livefacts.kb.marker import EXCHANGE, MARKER
from livefacts.kb.tables import COMMITS, KnowledgeBase
from livefacts.service.folder.saved_state import check_folder

OURS = (LOG, FOLDER, LOCK, EXCHANGE, f".{MARKER}.*", "*.tmp")
"""What is copied apart, or not at all."""
MOST_TRIES = 20


def copy_folder(folder: Path, copy: Path) -> None:
    """Make a copy that has all changes which are on the disk by now, and check both."""
    check_folder(folder)
    failed_at = -1
    for _ in range(MOST_TRIES):
        try:
            _copy(folder, copy)
            check_folder(copy)
            return
        except (OSError, DamageError):
            shutil.rmtree(copy, ignore_errors=True)
            # Once more in any case: what the last version removes may go after it is there.
            if failed_at == (failed_at := KnowledgeBase(folder).last().seq):
                raise
    raise ConflictError(
        f"{folder} was written anew each time that it was copied",
        hint="copy it when there are fewer changes, or stop its writer first",
    )


def _copy(folder: Path, copy: Path) -> None:
    for log in sorted(folder.glob(f"*/{LOG}"), key=lambda path: path.parent.name != COMMITS):
        shutil.copytree(log, copy / log.relative_to(folder), ignore=shutil.ignore_patterns("*.tmp"))
    shutil.copytree(folder, copy, ignore=shutil.ignore_patterns(*OURS), dirs_exist_ok=True)
    if (folder / FOLDER).is_dir():
        (copy / FOLDER).mkdir()
        for number in log_numbers(folder):
            _copy_log(folder, copy, number)


def _copy_log(folder: Path, copy: Path, number: int) -> None:
    """Copy the rows of a log file that are there now, and the files that they name."""
    reader = LogReader(log_path(folder, number))
    for text in reader.rows(is_growing=True):
        if name := read_row(text).content.get(fact_texts.FILE):
            shutil.copy2(folder / FOLDER / name, copy / FOLDER / name)
    target = log_path(copy, number)
    shutil.copy2(reader.path, target)
    # What came later may have holes.  After the last row there is always a zero.
    for size in (reader.end, (reader.end // STEP + 1) * STEP):
        os.truncate(target, size)

"""Failures: what Spark, Arrow and Delta say when something breaks, in a sentence or two.

An error inside a task comes back as a page of Java and Python; the reason is one line of it.
Whatever fails, nothing was committed, and the message says so.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager

from livefacts.errors import DamageError, InputError, LivefactsError
from livefacts.kb.stores.file_path import StorePath
from livefacts.kb.stores.remote_failures import REASONS, store_error, without_secrets

FULL = "No space left on device"
IN_A_TASK = re.compile(r"Traceback \(most recent call last\):\n(?:[ \t].*\n|\n)+(\S.*(?:\n\S.*)*)")
PACKAGE = re.compile(r"^(?:[a-z_]\w*\.)+(?=[A-Z])")
NEWER = re.compile(
    r"Unsupported minimum (?:reader|writer) version|nsupported (?:reader|writer) feature"
)
SAFE = "nothing was changed: the last version is as it was"
TOO_NEW = "getSubject is not supported"
"""What an older Spark says on a Java that is newer than 23."""
OF_SPARK = {"py4j", "pyspark"}
"""Where the errors of Spark come from, if it is there at all."""
OTHER_JAVA = "this Spark does not know so new a Java: take 17 or 21, or a newer pyspark"


@contextmanager
def say_plainly(path: os.PathLike[str]) -> Iterator[None]:
    """Say in plain words why a change of a knowledge base failed."""
    try:
        yield
    except Exception as error:
        if not _is_known(error):
            raise
        raise explain_failure(error, path) from error


def explain_failure(error: BaseException, path: os.PathLike[str]) -> LivefactsError:
    """The reason of a failure, and what to do."""
    text = str(error)
    known = _of_store(error, path)
    if known is not None:
        return type(known)(known.message, hint=f"{SAFE}; {known.hint}" if known.hint else SAFE)
    if FULL in text or (isinstance(error, OSError) and error.errno == errno.ENOSPC):
        return LivefactsError(
            f"the disk is full: {path} could not be changed",
            hint=f"{SAFE}; make room, `livefacts spark optimize` removes what was half written",
        )
    hint = f"{SAFE}; {OTHER_JAVA}" if TOO_NEW in text else SAFE
    return LivefactsError(f"{path} could not be changed: {reason_of(error)}", hint=hint)


@contextmanager
def read_plainly(path: str) -> Iterator[None]:
    """Say in plain words why a knowledge base cannot be read."""
    try:
        yield
    except BrokenPipeError:
        raise
    except Exception as error:
        if not _is_known(error):
            raise
        hint = OTHER_JAVA if TOO_NEW in str(error) else ""
        reason = without_secrets(reason_of(error), {})
        raise LivefactsError(f"{path} cannot be read: {reason}", hint=hint) from error


@contextmanager
def read_whole(path: os.PathLike[str]) -> Iterator[None]:
    """Say that a folder is damaged, where its files cannot be made sense of."""
    try:
        yield
    except (ValueError, KeyError, TypeError) as error:
        raise _damage(error, path) from error
    except Exception as error:
        if isinstance(error, LivefactsError) or not _is_known(error):
            raise
        raise _damage(error, path) from error


def _of_store(error: BaseException, path: os.PathLike[str]) -> LivefactsError | None:
    """What is not the fault of the files: tables of a newer version, a store that does not answer."""
    text = str(error)
    if NEWER.search(text):
        return InputError(
            f"{path} has a table that a newer version of Delta wrote ({reason_of(error)})",
            hint="pip install --upgrade deltalake livefacts",
        )
    is_remote = isinstance(path, StorePath) and not path.is_local
    if is_remote and not isinstance(error, FileNotFoundError) and _has_failed(text):
        return store_error(str(path), text, path.options)  # type: ignore[attr-defined]
    return None


def _has_failed(text: str) -> bool:
    """Whether a store itself has said no, or nothing."""
    return any(mark in text for marks, *_ in REASONS for mark in marks)


def _damage(error: Exception, path: os.PathLike[str]) -> LivefactsError:
    known = _of_store(error, path)
    if known is not None:
        return known
    return DamageError(
        f"{path} cannot be read: {reason_of(error)}",
        hint="restore the folder from a backup, or have the file again as it was",
    )


def reason_of(error: BaseException) -> str:
    """The line that says why.

    >>> text = 'org.x.PythonException: Traceback (most recent call last):\\n'
    >>> text += '  File "stages.py", line 1\\nlivefacts.errors.InputError: no such file\\n\\n\\tat org.x'
    >>> reason_of(RuntimeError(text))
    'InputError: no such file'
    """
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    text = str(error)
    inside = IN_A_TASK.findall(text)
    lines = (inside[-1] if inside else text).strip().splitlines()
    return PACKAGE.sub("", lines[0]) if lines else type(error).__name__


def _is_known(error: Exception) -> bool:
    """Whether a disk, Arrow, Delta, or Spark and its bridge to Java raised this."""
    import pyarrow as pa
    from deltalake.exceptions import DeltaError

    if isinstance(error, OSError | pa.ArrowException | DeltaError):
        return True
    homes = {kind.__module__.partition(".")[0] for kind in type(error).__mro__}
    return not homes.isdisjoint(OF_SPARK)

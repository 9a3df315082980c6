"""What libraries say when something breaks, in a sentence."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.kb.failures import read_plainly, say_plainly

KB = Path("kb")


def test_a_full_disk_is_named_whoever_says_it() -> None:
    for error in (OSError(errno.ENOSPC, "x"), OSError("No space left on device (os error 28)")):
        with pytest.raises(lf.LivefactsError, match="the disk is full"), say_plainly(KB):
            raise error


def test_a_file_that_cannot_be_written_is_named() -> None:
    with pytest.raises(lf.LivefactsError, match=r"a\.parquet: Permission denied"), say_plainly(KB):
        raise PermissionError(errno.EACCES, "Permission denied", "a.parquet")


def test_a_java_that_is_too_new_is_recognized() -> None:
    with pytest.raises(lf.LivefactsError) as refused, say_plainly(KB):
        raise OSError("java.lang.UnsupportedOperationException: getSubject is not supported")
    assert "take 17 or 21" in refused.value.hint
    with pytest.raises(lf.LivefactsError, match="cannot be read") as refused, read_plainly("kb"):
        raise OSError("java.lang.UnsupportedOperationException: getSubject is not supported")
    assert "take 17 or 21" in refused.value.hint


def test_errors_of_our_own_and_mistakes_in_the_code_stay_what_they_are() -> None:
    for error in (lf.InputError("mine"), ZeroDivisionError("ours")):
        with pytest.raises(type(error)) as raised, say_plainly(KB):
            raise error
        assert raised.value is error

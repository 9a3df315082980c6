"""Labels of blank nodes: local to a file, a text or an update, which gives each its scope.

Label `x` in scope `f3` is `_:f3_x`, the nth node without a label `_:f3_-n`.  A label that has
scopes already, because a dump is read, gets one of a fixed length in their place: labels do not
grow however often they are written and read again.
"""

from __future__ import annotations

import hashlib
import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

# An IRI or a string, which is passed over, or a label.
LABEL = re.compile(rb"""<[^<>"\s]*>|"(?:[^"\\]|\\.)*"|_:([^\s<>"]+)""")
ANONYMOUS = re.compile(rb"[a-f][0-9a-f]{23,31}")
"""Labels that pyoxigraph draws at random for nodes that have none."""
SCOPES = re.compile(rb"((?:[ftu]\d+(?:r\d+)?_|s\d+f\d+_|n[0-9a-f]{16}_)+)(?=.)")
"""The scopes of files, texts and updates, of files on Spark and of files by their names."""
FIRST = np.frombuffer(b"ftusn", np.uint8)
SECOND = np.frombuffer(b"0123456789abcdef", np.uint8)
SHORTEST = len("_:f1_a")


def label_in(scope: bytes, label: bytes) -> bytes:
    """The label of a blank node in a scope.

    >>> label_in(b"f3", b"x")
    b'f3_x'
    >>> label_in(b"f3", b"f1_x")
    b'n2035335cb20c0971_x'
    """
    if not scope:
        return label
    found = SCOPES.match(label)
    if found is None:
        return scope + b"_" + label
    return hashed_scope(scope + b" " + found[1]) + b"_" + label[found.end() :]


@lru_cache(1 << 12)
def hashed_scope(name: bytes) -> bytes:
    """A scope that a name always has."""
    return b"n" + hashlib.sha256(name).hexdigest()[:16].encode()


def relabelled(
    buffer: NDArray[np.uint8],
    starts: NDArray[np.int64],
    ends: NDArray[np.int64],
    blank: NDArray[np.int64],
    scope: bytes,
) -> dict[int, bytes]:
    """Of spans of N-Triples text, those among the `blank` nodes that have scopes already, in this one."""
    blank = blank[ends[blank] - starts[blank] >= SHORTEST]
    at = starts[blank]
    is_likely = np.isin(buffer[at + 2], FIRST) & np.isin(buffer[at + 3], SECOND)
    found = {}
    for place in blank[is_likely].tolist():
        label = buffer[starts[place] + 2 : ends[place]].tobytes()
        if SCOPES.match(label):
            found[place] = b"_:" + label_in(scope, label)
    return found


class ScopedLabels:
    """Gives the blank nodes of one document labels that belong to its scope."""

    def __init__(self, scope: bytes) -> None:
        self._scope = scope
        self._numbers: dict[bytes, int] = {}

    def scoped(self, text: bytes) -> bytes:
        """N-Quads with the scope in every label."""
        if not self._scope or b"_:" not in text:
            return text
        return LABEL.sub(self._replacement, text)

    def _replacement(self, match: re.Match[bytes]) -> bytes:
        label: bytes | None = match[1]
        if label is None:
            return match[0]
        if not ANONYMOUS.fullmatch(label):
            return b"_:" + label_in(self._scope, label)
        number = self._numbers.setdefault(label, len(self._numbers) + 1)
        return b"_:%s_-%d" % (self._scope, number)

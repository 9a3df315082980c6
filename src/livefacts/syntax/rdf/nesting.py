"""Nesting: how deeply a document goes, looked at before a parser does.

Parsers of JSON-LD and RDF/XML call themselves for every level, or carry something along for it: a
small file with thousands of levels ends the process, or takes minutes.  What is looked at here is
only what opens and closes; whether it fits together is for the parser to say.
"""

from __future__ import annotations

import re
from typing import Protocol

import numpy as np

DEEPEST_JSON = 200
DEEPEST_XML = 1_000

_JSON_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_JSON_REST = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_STEPS = bytes.maketrans(b"[{]}", b"\x01\x01\xff\xff")
_OTHERS = bytes(byte for byte in range(256) if byte not in b"[{]}")

_TAG = re.compile(rb"<(?:[^<>\"']|\"[^\"]*\"|'[^']*')*>")
_ASIDE = {b"<!--": b"-->", b"<![CDATA[": b"]]>", b"<?": b"?>"}
"""What begins text in which tags are none, and what ends it."""
LONGEST_TAG = 1 << 20


class Nesting(Protocol):
    """Follows how deep a text is, piece by piece."""

    def follow(self, piece: bytes) -> None:
        """The text goes on; a SyntaxError if it is nested too deeply."""
        ...


class FlatText:
    """Text whose nesting is no danger."""

    def follow(self, piece: bytes) -> None:
        """Nothing is looked at."""


class JsonNesting:
    """Arrays and objects inside each other, outside of strings."""

    def __init__(self) -> None:
        self._depth = 0
        self._is_string = False
        self._is_escaped = False

    def follow(self, piece: bytes) -> None:
        """The text goes on; a SyntaxError if it is nested too deeply."""
        text = _JSON_STRING.sub(b"", self._behind_string(piece))
        start = text.find(b'"')
        if start >= 0:
            self._begin_string(text[start + 1 :])
            text = text[:start]
        steps = np.frombuffer(text.translate(_STEPS, _OTHERS), np.int8)
        if len(steps):
            depths = self._depth + np.cumsum(steps, dtype=np.int64)
            if depths.max() > DEEPEST_JSON:
                raise SyntaxError(f"more than {DEEPEST_JSON} levels of JSON inside each other")
            self._depth = int(depths[-1])

    def _behind_string(self, piece: bytes) -> bytes:
        """What comes behind a string that an earlier piece began."""
        if not self._is_string or not piece:
            return piece
        start = 1 if self._is_escaped else 0
        match = _JSON_REST.match(piece, start)
        end = start if match is None else match.end()
        if end < len(piece) and piece[end : end + 1] == b'"':
            self._is_string = self._is_escaped = False
            return piece[end + 1 :]
        self._is_escaped = end < len(piece)
        return b""

    def _begin_string(self, rest: bytes) -> None:
        self._is_string = True
        match = _JSON_REST.match(rest)
        self._is_escaped = match is not None and match.end() < len(rest)


class XmlNesting:
    """Elements inside each other, outside of comments, CDATA sections and instructions."""

    def __init__(self) -> None:
        self._depth = 0
        self._waiting = b""
        self._until: bytes | None = None

    def follow(self, piece: bytes) -> None:
        """The text goes on; a SyntaxError if it is nested too deeply."""
        text, at = self._waiting + piece, 0
        while True:
            if self._until is not None:
                at = self._behind_aside(text, at)
                if self._until is not None:
                    return
            start = text.find(b"<", at)
            if start < 0:
                self._waiting = b""
                return
            aside = next((each for each in _ASIDE if text.startswith(each, start)), None)
            if aside is not None:
                self._until, at = _ASIDE[aside], start + len(aside)
                continue
            tag = _TAG.match(text, start)
            if tag is None:
                self._wait(text[start:])
                return
            self._count(tag[0])
            at = tag.end()

    def _behind_aside(self, text: bytes, at: int) -> int:
        """Where a comment or the like ends; it may go on in the next piece."""
        assert self._until is not None
        end = text.find(self._until, at)
        if end < 0:
            self._waiting = text[max(at, len(text) - len(self._until) + 1) :]
            return len(text)
        found, self._until = end + len(self._until), None
        return found

    def _wait(self, rest: bytes) -> None:
        if len(rest) > LONGEST_TAG:
            raise SyntaxError(f"a tag of more than {LONGEST_TAG:,} bytes")
        self._waiting = rest

    def _count(self, tag: bytes) -> None:
        if tag.startswith(b"</"):
            self._depth -= 1
        elif not tag.endswith(b"/>") and not tag.startswith(b"<!"):
            self._depth += 1
            if self._depth > DEEPEST_XML:
                raise SyntaxError(f"more than {DEEPEST_XML:,} elements inside each other")

"""Entities of RDF/XML: the short names for IRIs that a DOCTYPE may declare, and no more.

Ontologies in RDF/XML write `&owl;Thing` and declare `owl` in a DOCTYPE.  Entities can also
make a few hundred bytes grow to gigabytes, and read files from elsewhere.  So a DOCTYPE is
taken only if it stands before the root element and declares nothing but plain texts: no
entity inside another, none from outside, no parameter entities, no elements or attributes.
What the parser then sees is not the DOCTYPE that was written but one made of these texts,
and what they grow to is counted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from livefacts.errors import InputError

DOCTYPE = b"<!doctype"
LONGEST_PROLOG = 1 << 16
LONGEST_VALUE = 1 << 10
MOST_ENTITIES = 1 << 10
LARGEST_EXPANSION = 1 << 25
"""How many bytes all references of a file may stand for."""

NAME = rb"[A-Za-z_][\w.-]*"
SPACE_OR_COMMENT = re.compile(
    rb"(?:\xef\xbb\xbf)?(?:\s|<!--(?:[^-]|-(?!-))*-->|<\?(?:[^?]|\?(?!>))*\?>)*"
)
OPENING = re.compile(rb"<!DOCTYPE\s+(?:" + NAME + rb":)?" + NAME + rb"\s*")
ENTITY = re.compile(rb"<!ENTITY\s+(" + NAME + rb")\s+(?:\"([^\"]*)\"|'([^']*)')\s*>")
COMPLETE = re.compile(rb"[^\[>]*(?:>|\[.*?\]\s*>)", re.DOTALL)
CLOSING = re.compile(rb"\]\s*>")
REFERENCE = re.compile(rb"&(" + NAME + rb");")
REFUSED = {
    b"<!ENTITY %": "it declares a parameter entity",
    b"<!ENTITY": "it declares an entity that is not a plain text in quotes",
    b"<!ELEMENT": "it declares elements",
    b"<!ATTLIST": "it declares attributes",
    b"<!NOTATION": "it declares a notation",
    b"%": "it uses a parameter entity",
    b"SYSTEM": "it refers to a file elsewhere",
    b"PUBLIC": "it refers to a file elsewhere",
}


@dataclass(slots=True)
class Entities:
    """The texts that a file declares, and how much its references have grown to so far."""

    file: str
    values: dict[bytes, bytes] = field(default_factory=dict)
    grown: int = 0

    def count(self, piece: bytes) -> None:
        """Add up what the references in a piece stand for; too much is refused."""
        if not self.values or b"&" not in piece:
            return
        self.grown += sum(len(self.values.get(name, b"")) for name in REFERENCE.findall(piece))
        if self.grown > LARGEST_EXPANSION:
            raise refusal(self.file, f"its entities grow to more than {LARGEST_EXPANSION:,} bytes")

    def expanded(self, text: bytes) -> bytes:
        """A text with its references written out; those that nobody declared stay.

        >>> Entities("wine.owl", {b"vin": b"http://wine.example/"}).expanded(b"&vin;Wine")
        b'http://wine.example/Wine'
        """
        return REFERENCE.sub(lambda found: self.values.get(found[1], found[0]), text)

    def declaration(self) -> bytes:
        """A DOCTYPE that declares these texts, on one line."""
        declared = b"".join(b'<!ENTITY %s "%s">' % each for each in self.values.items())
        return b"<!DOCTYPE rdf:RDF [" + declared + b"]>"


def refusal(file: str, reason: str) -> InputError:
    """The error for a DOCTYPE that may do harm."""
    return InputError(
        f"{file} has a DOCTYPE that is refused: {reason}",
        hint='plain internal entities (<!ENTITY owl "http://…">) before the root element are '
        "read; write others out, or convert the file to Turtle with a tool that you trust with it",
    )


@dataclass(frozen=True, slots=True)
class Prolog:
    """The beginning of a file: what stands around its DOCTYPE, and the one that we make."""

    before: bytes
    doctype: bytes
    after: bytes

    @property
    def text(self) -> bytes:
        """What the parser reads."""
        return self.before + self.doctype + self.after

    @property
    def around(self) -> tuple[bytes, bytes]:
        """What the file itself says."""
        return self.before, self.after


def is_prolog(text: bytes) -> bool:
    """Whether the root element, or the end of the DOCTYPE, is yet to come.

    >>> is_prolog(b"<?xml version='1.0'?>"), is_prolog(b"<?xml version='1.0'?> <rdf:RDF ")
    (True, False)
    """
    rest = text[_end(SPACE_OR_COMMENT, text, 0) :]
    if rest[: len(DOCTYPE)].lower() == DOCTYPE:
        return COMPLETE.match(rest) is None
    return not rest or rest.startswith((b"<!", b"<?"))


def without_doctype(prolog: bytes, entities: Entities) -> Prolog:
    """The beginning of a file with its DOCTYPE made anew, as many lines long as before.

    `prolog` reaches at least to the end of the DOCTYPE, if there is one; the texts that it
    declares are put into `entities`.
    """
    start = _end(SPACE_OR_COMMENT, prolog, 0)
    if prolog[start : start + len(DOCTYPE)].lower() != DOCTYPE:
        return Prolog(prolog, b"", b"")
    opening = OPENING.match(prolog, start)
    if opening is None:
        raise refusal(entities.file, "it does not begin with <!DOCTYPE and a name")
    end = _end_of_declarations(prolog, opening.end(), entities)
    lines = prolog.count(b"\n", start, end)
    return Prolog(prolog[:start], entities.declaration() + b"\n" * lines, prolog[end:])


def _end_of_declarations(prolog: bytes, at: int, entities: Entities) -> int:
    if prolog[at : at + 1] == b">":
        return at + 1
    if prolog[at : at + 1] != b"[":
        raise refusal(entities.file, _reason(prolog[at:]))
    at = _end(SPACE_OR_COMMENT, prolog, at + 1)
    while (declared := ENTITY.match(prolog, at)) is not None:
        _declare(declared[1], declared[2] if declared[3] is None else declared[3], entities)
        at = _end(SPACE_OR_COMMENT, prolog, declared.end())
    closing = CLOSING.match(prolog, at)
    if closing is None:
        raise refusal(entities.file, _reason(prolog[at:]))
    return closing.end()


def _declare(name: bytes, value: bytes, entities: Entities) -> None:
    if any(mark in value for mark in (b"&", b"<", b"%")):
        raise refusal(entities.file, f"the entity {name.decode()} holds another one, or markup")
    if len(value) > LONGEST_VALUE:
        raise refusal(
            entities.file, f"the entity {name.decode()} is longer than {LONGEST_VALUE:,} bytes"
        )
    if len(entities.values) >= MOST_ENTITIES:
        raise refusal(entities.file, f"it declares more than {MOST_ENTITIES:,} entities")
    entities.values.setdefault(name, value.replace(b'"', b"&#34;"))


def _reason(rest: bytes) -> str:
    for start, reason in REFUSED.items():
        if rest.startswith(start):
            return reason
    return "it does not end properly, or not within 64 KiB"


def _end(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    match = pattern.match(text, at)
    assert match is not None, "what may be empty always matches"
    return match.end()

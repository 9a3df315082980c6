"""The line scanner: where the terms of N-Triples lines start and end, as kernels.

The scanner is sure of a line or it is not.  It is sure of plain absolute IRIs, of blank node
labels made of letters, digits, `_` and `-`, and of literals that are already written in the
canonical form that the dictionary keeps; those it takes without making an object.  Where it
is not sure, the line goes to pyoxigraph: it never has to reject anything itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from livefacts.store.machine_code import inlined, kernel
from livefacts.store.terms.byte_text import Number, address_of, equal_bytes

NEWLINE, RETURN, SPACE, TAB, COMMENT, DOT = 10, 13, 32, 9, 35, 46
OPEN_IRI, CLOSE_IRI, QUOTE, BACKSLASH, UNDERSCORE, COLON = 60, 62, 34, 92, 95, 58
SLASH, PERCENT, AT, CARET, HYPHEN, LOWER_CASE_BIT = 47, 37, 64, 94, 45, 32
UNSURE = -1


def _byte_set(characters: str) -> NDArray[np.bool_]:
    members = np.zeros(256, np.bool_)
    members[[ord(character) for character in characters]] = True
    return members


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
IS_LETTER = _byte_set(LETTERS)
IS_DIGIT = _byte_set(DIGITS)
IS_HEXADECIMAL = _byte_set(DIGITS + "abcdefABCDEF")
IN_SCHEME = _byte_set(LETTERS + DIGITS + "+-.")
IN_HOST = _byte_set(LETTERS + DIGITS + "-._~!$&'()*+,;=")
IN_PATH = _byte_set(LETTERS + DIGITS + "-._~!$&'()*+,;=:@/?")
IN_STRING = _byte_set("".join(map(chr, range(0x20, 0x7F))).replace('"', "").replace("\\", ""))
IS_CANONICAL_ESCAPE = _byte_set('tbnrf"\\')
STARTS_LABEL = _byte_set(LETTERS + DIGITS + "_")
IN_LABEL = _byte_set(LETTERS + DIGITS + "_-")
ENDS_HOST = _byte_set("/?#>")
ENDS_TAG = _byte_set(" \t.")
ENDS_STATEMENT = _byte_set("\n\r#")

XSD_STRING = np.frombuffer(b"<http://www.w3.org/2001/XMLSchema#string>", np.uint8)
RDF_NAMESPACE = np.frombuffer(b"<http://www.w3.org/1999/02/22-rdf-syntax-ns#", np.uint8)


class Spans(NamedTuple):
    """What a scan found: where terms start and end, and the lines that it was not sure of.

    `starts` and `ends` have three entries a statement; those of the graph stand apart, and
    start at -1 for the default graph.  A slow line has its start, its end and its number.
    """

    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    graph_starts: NDArray[np.int64]
    graph_ends: NDArray[np.int64]
    slow: NDArray[np.int64]


@inlined
def after_space(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The first place that is neither a space nor a tab."""
    while buffer[position] == SPACE or buffer[position] == TAB:
        position += 1
    return position


@inlined
def line_end(buffer: NDArray[np.uint8], position: Number) -> Number:
    """Where the line ends; the text is followed by a line end, so that there is one."""
    while buffer[position] != NEWLINE and buffer[position] != RETURN:
        position += 1
    return position


@inlined
def after_character(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a valid UTF-8 sequence of two to four bytes, or UNSURE."""
    first = buffer[position]
    if first < 0xC2 or first > 0xF4:
        return UNSURE
    second = buffer[position + 1]
    if second < 0x80 or second > 0xBF:
        return UNSURE
    if first < 0xE0:
        return position + 2
    if (first == 0xE0 and second < 0xA0) or (first == 0xED and second > 0x9F):
        return UNSURE
    if (first == 0xF0 and second < 0x90) or (first == 0xF4 and second > 0x8F):
        return UNSURE
    third = buffer[position + 2]
    if third < 0x80 or third > 0xBF:
        return UNSURE
    if first < 0xF0:
        # U+FFFE and U+FFFF are written as escapes.
        if first == 0xEF and second == 0xBF and third >= 0xBE:
            return UNSURE
        return position + 3
    fourth = buffer[position + 3]
    return UNSURE if fourth < 0x80 or fourth > 0xBF else position + 4


@inlined
def after_iri_character(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a percent escape or a character from U+00A0 to U+D7FF, or UNSURE."""
    first = buffer[position]
    if first == PERCENT:
        is_escape = IS_HEXADECIMAL[buffer[position + 1]] and IS_HEXADECIMAL[buffer[position + 2]]
        return position + 3 if is_escape else UNSURE
    if first < 0xC2 or first > 0xED or (first == 0xC2 and buffer[position + 1] < 0xA0):
        return UNSURE
    return after_character(buffer, position)


@inlined
def after_host(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a host and its port, where there is one, or UNSURE."""
    if buffer[position] != SLASH or buffer[position + 1] != SLASH:
        return position
    position += 2
    while IN_HOST[buffer[position]]:
        position += 1
    if buffer[position] == COLON:
        position += 1
        while IS_DIGIT[buffer[position]]:
            position += 1
    return position if ENDS_HOST[buffer[position]] else UNSURE


@inlined
def after_iri(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after an absolute IRI in angle brackets, or UNSURE."""
    position += 1
    if not IS_LETTER[buffer[position]]:
        return UNSURE
    while IN_SCHEME[buffer[position]]:
        position += 1
    if buffer[position] != COLON:
        return UNSURE
    position = after_host(buffer, position + 1)
    if position == UNSURE:
        return UNSURE
    in_fragment = False
    while True:
        while IN_PATH[buffer[position]]:
            position += 1
        byte = buffer[position]
        if byte == CLOSE_IRI:
            return position + 1
        if byte == COMMENT and not in_fragment:
            in_fragment = True
            position += 1
        else:
            position = after_iri_character(buffer, position)
            if position == UNSURE:
                return UNSURE


@inlined
def after_label(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a blank node with a plain label that a space follows, or UNSURE."""
    if buffer[position + 1] != COLON or not STARTS_LABEL[buffer[position + 2]]:
        return UNSURE
    position += 3
    while IN_LABEL[buffer[position]]:
        position += 1
    return position if buffer[position] == SPACE or buffer[position] == TAB else UNSURE


@inlined
def after_string(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a string in quotes that is written in canonical form, or UNSURE."""
    position += 1
    while True:
        while IN_STRING[buffer[position]]:
            position += 1
        byte = buffer[position]
        if byte == QUOTE:
            return position + 1
        if byte == BACKSLASH:
            if not IS_CANONICAL_ESCAPE[buffer[position + 1]]:
                return UNSURE
            position += 2
        else:
            position = after_character(buffer, position)
            if position == UNSURE:
                return UNSURE


@inlined
def after_language(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after a tag like @en or @en-US, made lower case, or UNSURE."""
    start = position + 1
    position = start
    while IS_LETTER[buffer[position]]:
        position += 1
    if position - start < 2 or position - start > 3:
        return UNSURE
    if buffer[position] == HYPHEN:
        region = position + 1
        position = region
        while IS_LETTER[buffer[position]]:
            position += 1
        if position - region != 2:
            return UNSURE
    if not ENDS_TAG[buffer[position]]:
        return UNSURE
    for i in range(start, position):
        buffer[i] |= LOWER_CASE_BIT
    return position


@inlined
def begins_with(
    buffer: NDArray[np.uint8], start: Number, end: Number, text: NDArray[np.uint8]
) -> bool:
    """Whether a span begins with a text."""
    if end - start < text.shape[0]:
        return False
    return equal_bytes(address_of(buffer) + start, address_of(text), text.shape[0])


@inlined
def after_literal(buffer: NDArray[np.uint8], position: Number) -> tuple[Number, Number]:
    """The place after a literal, or UNSURE; and where its canonical text ends."""
    position = after_string(buffer, position)
    if position == UNSURE:
        return UNSURE, UNSURE
    if buffer[position] == AT:
        position = after_language(buffer, position)
        return position, position
    if buffer[position] != CARET:
        return position, position
    if buffer[position + 1] != CARET or buffer[position + 2] != OPEN_IRI:
        return UNSURE, UNSURE
    datatype = position + 2
    end = after_iri(buffer, datatype)
    if end == UNSURE or begins_with(buffer, datatype, end, RDF_NAMESPACE):
        return UNSURE, UNSURE
    if end - datatype == XSD_STRING.shape[0] and begins_with(buffer, datatype, end, XSD_STRING):
        return end, position
    return end, end


@inlined
def after_resource(buffer: NDArray[np.uint8], position: Number) -> Number:
    """The place after an IRI or a blank node, or UNSURE."""
    if buffer[position] == OPEN_IRI:
        return after_iri(buffer, position)
    if buffer[position] == UNDERSCORE:
        return after_label(buffer, position)
    return UNSURE


@inlined
def scan_subject(buffer: NDArray[np.uint8], position: Number, spans: Spans, k: Number) -> Number:
    """Put the span of a subject at `k`; the subject of the line before is seen at a glance."""
    if k >= 3:
        start, end = spans.starts[k - 3], spans.ends[k - 3]
        base = address_of(buffer)
        if (
            buffer[start] == OPEN_IRI
            and position + (end - start) <= buffer.shape[0]
            and equal_bytes(base + start, base + position, end - start)
        ):
            spans.starts[k] = start
            spans.ends[k] = end
            return position + (end - start)
    end = after_resource(buffer, position)
    spans.starts[k] = position
    spans.ends[k] = end
    return end


@inlined
def scan_graph(buffer: NDArray[np.uint8], position: Number, spans: Spans, count: Number) -> Number:
    """Put the span of a graph name at `count`; the place after it and its space, or UNSURE."""
    end = after_resource(buffer, position)
    if end == UNSURE:
        return UNSURE
    spans.graph_starts[count] = position
    spans.graph_ends[count] = end
    return after_space(buffer, end)


@inlined
def scan_statement(
    buffer: NDArray[np.uint8], position: Number, spans: Spans, count: Number, quads: bool
) -> Number:
    """Put the spans of the statement on this line at `count`; where it stopped, or UNSURE."""
    k = 3 * count
    position = scan_subject(buffer, position, spans, k)
    if position == UNSURE:
        return UNSURE
    position = after_space(buffer, position)
    if buffer[position] != OPEN_IRI:
        return UNSURE
    spans.starts[k + 1] = position
    position = after_iri(buffer, position)
    if position == UNSURE:
        return UNSURE
    spans.ends[k + 1] = position
    position = after_space(buffer, position)
    spans.starts[k + 2] = position
    if buffer[position] == QUOTE:
        position, end = after_literal(buffer, position)
    else:
        position = after_resource(buffer, position)
        end = position
    if position == UNSURE:
        return UNSURE
    spans.ends[k + 2] = end
    position = after_space(buffer, position)
    spans.graph_starts[count] = -1
    if quads and buffer[position] != DOT:
        position = scan_graph(buffer, position, spans, count)
        if position == UNSURE:
            return UNSURE
    return position + 1 if buffer[position] == DOT else UNSURE


@kernel
def split_triples(
    buffer: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]
) -> None:
    """Where the three terms of each line `subject predicate object .` start and end.

    Every line ends with a line feed, and the lines are ours: the first two terms have no
    spaces, and no term has a line feed.
    """
    position = 0
    for i in range(starts.shape[0]):
        starts[i] = position
        last = NEWLINE if i % 3 == 2 else SPACE
        while buffer[position] != last:
            position += 1
        ends[i] = position - 2 if last == NEWLINE else position
        position += 1


@kernel
def scan(
    buffer: NDArray[np.uint8],
    position: Number,
    end: Number,
    line: Number,
    quads: bool,
    spans: Spans,
) -> tuple[Number, Number, Number, Number]:
    """Scan whole lines from `position` on until `end` or until the spans are full.

    `buffer[end]` is a line feed, which stops every loop.  Returns the place and the number
    of the next line, how many statements and how many slow lines were found.
    """
    count = 0
    slow = 0
    while position < end and count < spans.graph_starts.shape[0] and slow < spans.slow.shape[0]:
        start = position
        position = after_space(buffer, start)
        if not ENDS_STATEMENT[buffer[position]]:
            after = scan_statement(buffer, position, spans, count, quads)
            is_sure = False
            if after != UNSURE:
                position = after_space(buffer, after)
                is_sure = bool(ENDS_STATEMENT[buffer[position]])
            if is_sure:
                count += 1
            else:
                spans.slow[slow, 0] = start
                spans.slow[slow, 1] = line_end(buffer, start)
                spans.slow[slow, 2] = line
                slow += 1
        position = line_end(buffer, position)
        if buffer[position] == RETURN and position + 1 < end and buffer[position + 1] == NEWLINE:
            position += 1
        position += 1
        line += 1
    return position, line, count, slow

"""Stream files: facts with the times at which they happen, line by line.

    <s> <p> <o> <stream> "2026-01-01T12:00:00Z"^^xsd:dateTime .     timed N-Quads
    <s> <p> <o> 17 .                                                timed N-Triples
    {"at": 17, "stream": "http://...", "facts": "<s> <p> <o> ."}    JSON lines
    H time 17 .                                                     RDF Patch: the rows below
    A <s> <p> <o> .                                                 happen at this time
    {"id": "s1", "value": 95, "ts": 17}                             any JSON, by a map

A time is a whole number or an xsd:dateTime.  A line that cannot be read is rejected with its
place and the reason, and costs no other line.  Lines are read as they are needed, so a
stream may be without end.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, RdfFormat, Triple, parse

from livefacts.errors import InputError, Place, RuleError
from livefacts.model.facts import Fact
from livefacts.model.namespaces import XSD
from livefacts.model.time_points import time_point
from livefacts.store.terms.ntriples import reason_of
from livefacts.syntax.input.files import (
    STANDARD_INPUT,
    Source,
    name_of,
    open_source,
    utf8,
    without_compression,
)
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.json_map.fact_lines import JsonMap
from livefacts.syntax.rdf.documents import FORMATS
from livefacts.syntax.rdf.patch import parse_patch
from livefacts.syntax.rulelang import rule_parser
from livefacts.syntax.rulelang.plain_facts import PlainFacts

Statement = Triple | Fact
Time = int | Literal
QUADS, JSON_LINES, PATCH = "quads", "json", "patch"
SUFFIXES = {
    ".nq": QUADS,
    ".nt": QUADS,
    ".trdf": QUADS,
    ".jsonl": JSON_LINES,
    ".ndjson": JSON_LINES,
    ".rdfp": PATCH,
}
TOGETHER = 2048
"""Lines of a file that are parsed at once."""
KEYS = ("at", "stream", "facts", "retract")
OTHERS = "--map reads JSON that others write: docs/sources.md"
"""What an object of JSON lines may have."""
NEED_NONE = "with --arrival-time lines need none"
NO_NAME = ""
"""Instead of the stream, below a header that names none."""
DATE_TIME = NamedNode(XSD + "dateTime")
_TIME = re.compile(
    r'\s(?P<time>-?[0-9]+|"(?P<value>[^"\\]*)"(?:\^\^<(?P<type>[^<>\s]*)>)?)\s*\.\s*(?:#.*)?$'
)
PREDICATE_FACT = re.compile(r"\s*[^\W\d]\w*\s*\(")
"""How a text begins that can only be of the rule language."""
_HEADER = re.compile(r"\s*H\s+(?P<name>time|stream)\s+(?P<value>.*?)\s*\.\s*(?:#.*)?$")
_PREFIX = re.compile(r"\s*P[AD]\s")
_ROW = re.compile(r"\s*[ADH]\s")
_BOUND = re.compile(r"\s*T([XCA])\s*\.?\s*$")


@dataclass(frozen=True, slots=True)
class Event:
    """Facts that happen at one time on one stream, or are taken back."""

    time: Time
    stream: str | None
    facts: tuple[Statement, ...]
    retracts: bool = False


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a file, and where it stands."""

    file: str
    number: int
    text: str

    def reject(self, reason: str, column: int = 1) -> Reject:
        return Reject(self.file, self.number, column, reason, self.text)


def read_events(
    source: Source,
    rejects: Rejects,
    format: str | None = None,
    together: int | None = None,
    untimed: Time | None = None,
    json_map: JsonMap | None = None,
) -> Iterator[Event]:
    """The events of a file in their order, of standard input ("-") as they come.

    `format` is "quads", "json" or "patch"; otherwise the name decides, or the first line.
    `untimed` is the time of lines that have none; without it, they are rejected.  With a map,
    each line is a message of JSON.
    """
    name = name_of(source)
    with open_source(source) as stream:
        lines = _lines(name, iter(stream.readline, b""), rejects)
        first = list(islice(lines, 1))
        if not first:
            return
        lines = chain(first, lines)
        is_live = source == STANDARD_INPUT
        if json_map is not None:
            yield from _messages(lines, rejects, json_map, untimed)
            return
        match format or _format_of(source, first[0].text):
            case "quads":
                size = together or (1 if is_live else TOGETHER)
                yield from _quads(lines, rejects, size, untimed)
            case "json":
                yield from _json_lines(lines, rejects, untimed)
            case "patch":
                yield from _patches(lines, rejects, untimed)
            case other:
                raise InputError(f"{other} is no format of streams", hint="quads, json or patch")


def _format_of(source: Source, first: str) -> str:
    if not isinstance(source, bytes) and source != STANDARD_INPUT:
        suffix = without_compression(Path(name_of(source))).suffix.lower()
        if suffix in SUFFIXES:
            return SUFFIXES[suffix]
        if suffix in FORMATS or suffix == ".rules":
            raise InputError(
                f"{name_of(source)}: {suffix} is no format of streams, whose facts have times",
                hint=f"streams are {' '.join(SUFFIXES)}, each also .gz or .zst; "
                "facts without times are loaded with --data",
            )
    if first.lstrip().startswith("{"):
        return JSON_LINES
    is_patch = any(each.match(first) for each in (_HEADER, _PREFIX, _BOUND, _ROW))
    return PATCH if is_patch else QUADS


def _lines(name: str, raw: Iterator[bytes], rejects: Rejects) -> Iterator[_Line]:
    """The lines that say something."""
    for number, line in enumerate(raw, 1):
        try:
            text = line.decode().removeprefix("\ufeff").rstrip("\r\n")
        except UnicodeDecodeError:
            rejects.add(Reject(name, number, 1, "this line is not UTF-8", repr(line)))
            continue
        if text.strip() and not text.lstrip().startswith("#"):
            yield _Line(name, number, text)


# timed N-Quads and N-Triples


def _quads(
    lines: Iterator[_Line], rejects: Rejects, together: int, untimed: Time | None
) -> Iterator[Event]:
    while group := list(islice(lines, together)):
        waiting: list[tuple[Time, Quad]] = list(_timed_quads(group, rejects, untimed))
        start = 0
        for at in range(1, len(waiting) + 1):
            if at == len(waiting) or _when(waiting[at]) != _when(waiting[start]):
                time, stream = _when(waiting[start])
                facts = tuple(quad.triple for _, quad in waiting[start:at])
                yield Event(time, stream, facts)
                start = at


def _when(timed: tuple[Time, Quad]) -> tuple[Time, str | None]:
    time, quad = timed
    graph = quad.graph_name
    return time, None if isinstance(graph, DefaultGraph) else graph.value


def _timed_quads(
    group: list[_Line], rejects: Rejects, untimed: Time | None
) -> Iterator[tuple[Time, Quad]]:
    times: list[tuple[Time, str, _Line]] = []
    for line in group:
        if untimed is not None and _is_statement(line.text):
            times.append((untimed, line.text, line))
            continue
        found = _TIME.search(line.text)
        if found is None:
            rejects.add(line.reject(_untimed_reason(line.text)))
            continue
        try:
            times.append((_time(found), line.text[: found.start()] + " .", line))
        except InputError as error:
            rejects.add(line.reject(error.message, found.start("time") + 1))
    try:
        quads = list(parse("\n".join(text for _, text, _ in times), RdfFormat.N_QUADS))
    except SyntaxError:
        quads = []
    if len(quads) == len(times):
        yield from ((time, quad) for (time, _, _), quad in zip(times, quads, strict=True))
        return
    for time, text, line in times:
        try:
            (quad,) = parse(text, RdfFormat.N_QUADS)
        except (SyntaxError, ValueError) as error:
            rejects.add(line.reject(_reason(error), getattr(error, "offset", None) or 1))
            continue
        yield time, quad


def _reason(error: SyntaxError | ValueError) -> str:
    return reason_of(error) if isinstance(error, SyntaxError) else "this is no statement"


def _untimed_reason(text: str) -> str:
    """Why a line that ends in no time cannot be read."""
    try:
        list(parse(text, RdfFormat.N_QUADS))
    except SyntaxError as error:
        return reason_of(error)
    return f"the time is missing: a whole number or an xsd:dateTime last; {NEED_NONE}"


def _is_statement(text: str) -> bool:
    """Whether a line is one without a time: what may look like a time is its object."""
    try:
        return len(list(parse(text, RdfFormat.N_QUADS))) == 1
    except (SyntaxError, ValueError):
        return False


def _time(found: re.Match[str]) -> Time:
    if found["value"] is None:
        return int(found["time"])
    if found["type"]:
        return _checked(Literal(found["value"], datatype=NamedNode(found["type"])))
    try:
        return _checked(Literal(found["value"], datatype=DATE_TIME))
    except InputError:
        is_number = found["value"].lstrip("-").isdecimal()
        meant = f"{found['value']} without quotes" if is_number else "a whole number"
        raise InputError(
            f'"{found["value"]}" is not a time point: write {meant}, or an xsd:dateTime'
        ) from None


def _checked(time: Literal) -> Literal:
    """A time that is one."""
    time_point(time)
    return time


# JSON lines


def _json_lines(lines: Iterator[_Line], rejects: Rejects, untimed: Time | None) -> Iterator[Event]:
    plain = PlainFacts()
    for line in lines:
        try:
            yield from _json_events(json.loads(line.text), plain, untimed)
        except (ValueError, RecursionError) as error:
            rejects.add(line.reject(f"this is no JSON: {error}", getattr(error, "colno", 1)))
        except InputError as error:
            rejects.add(line.reject(error.message))
            if error.hint == OTHERS and OTHERS not in rejects.hints:
                rejects.hints.append(OTHERS)


def _json_events(given: Any, plain: PlainFacts, untimed: Time | None) -> list[Event]:
    if not isinstance(given, dict):
        raise InputError('a line is an object with "at" and "facts" or "retract"')
    _check_keys(given)
    if "at" not in given and untimed is None:
        raise InputError(f'there is no "at", which is the time; {NEED_NONE}')
    at, stream = given.get("at", 0), given.get("stream")
    if isinstance(at, bool) or not isinstance(at, int | str):
        raise InputError(f'"at" is a whole number or a dateTime, not {at!r}')
    if stream is not None and not isinstance(stream, str):
        raise InputError(f'"stream" is an IRI, not {stream!r}')
    if stream is not None:
        _check_stream(stream)
    time = at if isinstance(at, int) else _checked(Literal(at, datatype=DATE_TIME))
    return [
        Event(time, stream, tuple(_statements(given[key], plain)), key == "retract")
        for key in ("retract", "facts")
        if key in given
    ]


def _check_keys(given: dict[str, Any]) -> None:
    """Refuse a line that says nothing, or has a key that says nothing."""
    from difflib import get_close_matches  # only here: it is needed for mistakes alone

    for unknown in sorted(set(given) - set(KEYS)):
        near = get_close_matches(unknown.lower(), KEYS, n=1)
        meant = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(KEYS)}"
        raise InputError(f'unknown "{unknown}"; {meant}', hint="" if near else OTHERS)
    if not {"facts", "retract"} & set(given):
        raise InputError('there is neither "facts" nor "retract"')


def _check_stream(name: str) -> None:
    try:
        NamedNode(name)
    except ValueError:
        raise InputError(
            f"{name!r} is not the name of a stream, which is an absolute IRI"
        ) from None


def _statements(given: Any, plain: PlainFacts) -> Iterator[Statement]:
    """Facts as a text of Turtle or of the rule language, or as a list of such texts."""
    for text in given if isinstance(given, list) else [given]:
        if not isinstance(text, str):
            raise InputError("facts are text, in Turtle or in the rule language")
        facts = plain.read(text)
        if facts is not None:
            yield from facts
            continue
        try:
            yield from [quad.triple for quad in parse(utf8(text), RdfFormat.TURTLE)]
        except SyntaxError as error:
            try:
                program = rule_parser.parse(text)
            except RuleError as mistake:
                is_predicate = PREDICATE_FACT.match(text) is not None
                raise InputError(mistake.message if is_predicate else reason_of(error)) from None
            if program.rules:
                raise InputError("facts happen at a time, and this is a rule") from None
            yield from program.facts


# messages of JSON


def _messages(
    lines: Iterator[_Line], rejects: Rejects, json_map: JsonMap, untimed: Time | None
) -> Iterator[Event]:
    run = uuid4().hex[:12]  # what was read in another run are other events
    for line in lines:
        try:
            yield from mapped_events(json_map, line.text, f"{run}:{line.number}", untimed)
        except InputError as error:
            rejects.add(line.reject(error.message))


def mapped_events(
    json_map: JsonMap, message: str | bytes, event: str, untimed: Time | None = None
) -> list[Event]:
    """What a message stands for; neighbours of one time and stream are one event."""
    found: list[Event] = []
    for mapped in json_map.facts(message, event):
        time = untimed if mapped.time is None else mapped.time
        if time is None:
            raise InputError(f"the map gives a fact no time: at $.ts; {NEED_NONE}")
        each = Event(time, mapped.stream, (mapped.fact,), mapped.retracts)
        if found and replace(found[-1], facts=()) == replace(each, facts=()):
            found[-1] = replace(each, facts=(*found[-1].facts, mapped.fact))
        else:
            found.append(each)
    return found


# RDF Patch


def _patches(lines: Iterator[_Line], rejects: Rejects, untimed: Time | None) -> Iterator[Event]:
    """The rows of a patch, each under the time and the stream that the headers before it say."""
    time = untimed
    stream: str | None = None
    prefixes: list[str] = []
    held: list[Event] | None = None
    for line in lines:
        header, bound = _HEADER.match(line.text), _BOUND.match(line.text)
        if header is not None and header["name"] == "time":
            time = _header_time(line, header["value"], rejects)
        elif header is not None:
            stream = _header_stream(line, header["value"].strip("<>"), rejects)
        elif _PREFIX.match(line.text):
            prefixes.append(line.text)
        elif bound is not None:
            yield from held if held and bound[1] == "C" else ()
            held = [] if bound[1] == "X" else None
        elif held is not None:
            held += _row(line, time, stream, prefixes, rejects)
        else:
            yield from _row(line, time, stream, prefixes, rejects)


def _header_time(line: _Line, value: str, rejects: Rejects) -> Time | None:
    found = _TIME.search(f" {value} .")
    if found is None:
        rejects.add(line.reject("this is no time: a whole number or an xsd:dateTime"))
        return None
    try:
        return _time(found)
    except InputError as error:
        rejects.add(line.reject(error.message))
        return None


def _header_stream(line: _Line, name: str, rejects: Rejects) -> str:
    try:
        _check_stream(name)
    except InputError as error:
        rejects.add(line.reject(error.message))
        return NO_NAME
    return name


def _row(
    line: _Line, time: Time | None, stream: str | None, prefixes: list[str], rejects: Rejects
) -> Iterator[Event]:
    if time is None:
        rejects.add(line.reject(f"no header tells the time: H time 17 .; {NEED_NONE}"))
        return
    if stream == NO_NAME:
        rejects.add(line.reject("the header above it names no stream"))
        return
    try:
        patch = parse_patch("\n".join([*prefixes, line.text]), line.file)
    except InputError as error:
        place = error.place or Place(line.file, 0, 0)
        rejects.add(line.reject(error.message, place.column))
        return
    for row in patch.rows:
        if isinstance(row.statement, Quad):
            _, graph = _when((time, row.statement))
            yield Event(time, graph, (row.statement.triple,), not row.adds)
        else:
            yield Event(time, stream, (row.statement,), not row.adds)

"""Update messages: triples that come and go, from every way to write them.

    (17, "ins", triple)   ("del", triple)        tuples, the time is optional
    A <s> <p> <o> .                              RDF Patch
    {"at": 17, "facts": "<s> <p> <o> ."}         JSON lines; "retract" takes back

In the place of a triple there may be a quad, whose graph some queries speak of.  Labels of blank
nodes are names here: the same label is the same node in every message.
"""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray
from pyoxigraph import Quad, RdfFormat, Triple, parse

from livefacts.engine.messages.signed_lines import Graph, Messages, canonical, scanned
from livefacts.errors import InputError, Place
from livefacts.model.time_points import time_point
from livefacts.service.change.arguments import Statement, as_statement, as_statements, graph_of
from livefacts.store.terms.ntriples import reason_of
from livefacts.syntax.input.files import name_of, open_source, without_compression
from livefacts.syntax.rdf.documents import format_of
from livefacts.syntax.rdf.patch import parse_patch
from livefacts.syntax.rdf.transactions import TIME

SIGNS = {"ins": 1, "del": -1, "+": 1, "-": -1, "A": 1, "D": -1, "add": 1, "remove": -1}
LINES_OF_JSON = (".jsonl", ".ndjson")
KNOWN = '"ins" or "del", and before it the time if there is one: (17, "ins", triple)'


def of_change(add: Any, remove: Any) -> Messages:
    """Triples that go and, after them, triples that come."""
    parts = [
        of_triples(given, sign) for given, sign in ((remove, -1), (add, 1)) if given is not None
    ]
    if len(parts) == 1:
        return parts[0]
    return _joined(parts)


def of_triples(given: Any, sign: int) -> Messages:
    """Triples, texts of them or files, that all come or all go."""
    if isinstance(given, str):
        plain = scanned(given.encode(), sign)
        return plain if plain is not None else _signed(_parsed(given), sign)
    if isinstance(given, Path):
        return _signed(_file(given), sign)
    return _signed(map(as_rdf, as_statements(given)), sign)


def of_messages(given: Any) -> Messages:
    """Messages as tuples, as text, or in a file."""
    if isinstance(given, str | bytes):
        return _of_text(given.encode() if isinstance(given, str) else given, "<text>")
    if isinstance(given, Path):
        with open_source(given) as stream:
            content = stream.read()
        is_json = without_compression(given).suffix.lower() in LINES_OF_JSON
        return _of_json(content, name_of(given)) if is_json else _of_text(content, name_of(given))
    if not isinstance(given, Iterable):
        raise InputError(f"{given!r} is no messages", hint=KNOWN)
    return of_tuples([given] if _is_message(given) else given)


def of_tuples(given: Iterable[Any]) -> Messages:
    """Messages as tuples."""
    signs, statements, times = [], [], []
    for message in given:
        try:
            *time, operation, triple = message
            signs.append(SIGNS[operation])
        except (KeyError, TypeError, ValueError):
            raise InputError(f"{message!r} is not a message", hint=KNOWN) from None
        statements.append(triple if type(triple) is Triple else as_rdf(as_statement(triple)))
        times.append(time_point(time[0]) if time else None)
    return _written(statements, np.array(signs, np.int32), times)


def as_rdf(fact: Statement) -> Triple | Quad:
    """A statement that is none of predicates."""
    if isinstance(fact, Triple | Quad):
        return fact
    raise InputError(
        f"{fact} is not a triple", hint="a continuous query on its own follows triples and quads"
    )


def _is_message(given: Any) -> bool:
    return isinstance(given, tuple) and len(given) in (2, 3) and given[-2] in list(SIGNS)


def _signed(given: Iterable[Triple | Quad], sign: int) -> Messages:
    statements = list(given)
    return _written(statements, np.full(len(statements), sign, np.int32))


def _written(
    given: Sequence[Triple | Quad], signs: NDArray[np.int32], times: Sequence[int | None] = ()
) -> Messages:
    lines = "".join([f"{each if type(each) is Triple else each.triple}\n" for each in given])
    return canonical(lines, signs, times, [graph_of(each) for each in given])


def _parsed(text: str) -> list[Quad]:
    try:
        return list(parse(text, RdfFormat.TRIG))
    except SyntaxError as error:
        try:
            return list(parse(text, RdfFormat.N_QUADS))
        except SyntaxError:
            pass
        line = text.split("\n")[(error.lineno or 1) - 1] if error.lineno else ""
        place = Place("<text>", error.lineno or 1, error.offset or 1, line)
        raise InputError(
            reason_of(error),
            place=place,
            hint="triples are text in Turtle or N-Triples, quads in TriG or N-Quads",
        ) from None


def _file(path: Path) -> Iterator[Quad]:
    with open_source(path) as stream:
        try:
            yield from parse(cast(IO[bytes], stream), format_of(path))
        except SyntaxError as error:
            place = Place(name_of(path), error.lineno or 1, error.offset or 1)
            raise InputError(reason_of(error), place=place) from None


def _of_text(content: bytes, name: str) -> Messages:
    if content.lstrip().startswith(b"{"):
        return _of_json(content, name)
    plain = scanned(content)
    if plain is not None:
        return plain
    text = content.decode()
    rows = parse_patch(text, name).rows
    signs = np.array([1 if row.adds else -1 for row in rows], np.int32)
    statements = [as_rdf(row.statement) for row in rows]
    return _written(statements, signs, _header_times(text, [row.place.line for row in rows]))


def _header_times(text: str, lines: Sequence[int]) -> list[int | None]:
    """For rows on these lines of a patch, the time of the last header before each."""
    found = [(text.count("\n", 0, m.start()) + 1, m[1] or m[2]) for m in TIME.finditer(text)]
    before = (bisect([line for line, _ in found], line) for line in lines)
    return [time_point(found[at - 1][1]) if at else None for at in before]


def _of_json(content: bytes, name: str) -> Messages:
    found: list[tuple[int, Quad]] = []
    times: list[int | None] = []
    for number, line in enumerate(content.decode().split("\n"), start=1):
        if line.strip():
            try:
                given = json.loads(line)
                found += _json_line(given)
                at = time_point(given["at"]) if "at" in given else None
                times += [at] * (len(found) - len(times))
            except (ValueError, InputError) as error:
                reason = error.message if isinstance(error, InputError) else "this is no JSON"
                place = Place(name, number, getattr(error, "colno", 1), line)
                raise InputError(
                    reason, place=place, hint='{"at": 17, "facts": "<s> <p> <o> ."}'
                ) from None
    signs = np.array([sign for sign, _ in found], np.int32)
    return _written([quad for _, quad in found], signs, times)


def _json_line(given: Any) -> Iterator[tuple[int, Quad]]:
    known = {"at", "facts", "retract"}
    if not isinstance(given, dict) or not {"facts", "retract"} & set(given) or set(given) - known:
        raise InputError('a line is an object with "facts" or "retract", and "at" for the time')
    for key, sign in (("retract", -1), ("facts", 1)):
        texts = given.get(key, [])
        for text in texts if isinstance(texts, list) else [texts]:
            if not isinstance(text, str):
                raise InputError("facts are text, in Turtle or N-Triples")
            yield from ((sign, quad) for quad in _parsed(text))


def _joined(parts: Sequence[Messages]) -> Messages:
    if not parts:
        return canonical("", np.empty(0, np.int32))
    first, second = parts
    far = len(first.text)
    return Messages(
        np.concatenate([first.text, second.text]),
        np.concatenate([first.starts, second.starts + far]),
        np.concatenate([first.ends, second.ends + far]),
        np.concatenate([first.signs, second.signs]),
        graphs=_graphs(first, second),
    )


def _graphs(first: Messages, second: Messages) -> Sequence[Graph]:
    if not first.graphs and not second.graphs:
        return ()
    parts = [part.graphs or [None] * len(part.signs) for part in (first, second)]
    return [*parts[0], *parts[1]]

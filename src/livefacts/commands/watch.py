"""`livefacts watch`: the answers of a query, and how they change with every update."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Iterator
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated
from uuid import uuid4

import typer

from livefacts.commands.console.fact_files import Inputs, leave, load
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Data,
    Graph,
    InputFormat,
    Map,
    Rejects,
    Rules,
    asked_and_files,
)
from livefacts.commands.console.terminal import counted, say
from livefacts.commands.query import looks_like_query, text_of
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.service.continuous.answers import Change
    from livefacts.service.continuous.watch import Watch
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.syntax.rdf.transactions import PatchPiece


WIDEST = 50
"""Characters to which a column is filled up, at most."""


class ChangeFormat(StrEnum):
    """How changes are printed."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"


def watch_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILES] QUERY", help="What to load, as --data; then SPARQL, or a file.rq."
        ),
    ],
    data: Data = None,
    rules: Rules = None,
    updates: Annotated[
        str | None,
        typer.Option(
            "--updates",
            "-u",
            metavar="FILE",
            help="RDF Patch, .gz and .zst too; - is standard input, read as it comes.",
        ),
    ] = None,
    json_map: Map = None,
    form: Annotated[ChangeFormat, typer.Option("--format", help="How rows are printed.")] = (
        ChangeFormat.table
    ),
    changes_only: Annotated[
        bool, typer.Option("--changes-only", help="Leave out the answers of the beginning.")
    ] = False,
    plan: Annotated[bool, typer.Option("--plan", help="Say first how it is followed.")] = False,
    graph: Graph = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Follow the answers of a SPARQL query while updates come in.

    The answers of the beginning come first, then what comes (+) and goes (-) with each
    transaction of the updates; a row outside of transactions is a change of its own.  Where
    the updates have times ("H time 17 ." above their rows), each line begins with the time.

    \b
    livefacts watch 'SELECT ?x ?c { ?x a ?c }' --data kb.nt --rules rdfs --updates changes.rdfp
    tail -f changes.rdfp | livefacts watch kb.nt heads.rq --updates - --format jsonl
    """
    text, files = asked_and_files(words, data, looks_like_query, "query", "'SELECT ...'")
    asked = text_of(text)
    loaded = load(Inputs(files, rules or [], graph, bnodes, input_format, rejects))
    watch = loaded.reasoner.watch(asked)
    if plan:
        say(watch.plan.rstrip())
    printer = _Printer(form, watch, loaded.reasoner.prefixes)
    if not changes_only:
        printer.show(watch.beginning())
    if updates:
        _follow(loaded.reasoner, watch, updates, json_map, printer)
    say(f"{counted(printer.shown, 'row')} printed, {counted(watch.seq, 'change')} followed")
    leave(loaded)


def _follow(
    reasoner: Reasoner, watch: Watch, updates: str, json_map: str | None, printer: _Printer
) -> None:
    if json_map is not None:
        _follow_messages(reasoner, watch, updates, json_map, printer)
        return
    for piece in _pieces(updates):
        try:
            reasoner.apply(patch=piece.text)
        except InputError as error:
            raise piece.placed(error) from None
        printer.show(watch.changes(), piece.time)


def _follow_messages(
    reasoner: Reasoner, watch: Watch, updates: str, json_map: str, printer: _Printer
) -> None:
    """Each line is a message of JSON, and one change; one that stands for nothing is passed over."""
    from livefacts.syntax.input.files import name_of, open_source
    from livefacts.syntax.json_map.mapping_text import read_map

    mapped = read_map(json_map)
    run = uuid4().hex[:12]
    with open_source(updates) as stream:
        for number, line in enumerate(iter(stream.readline, b""), 1):
            try:
                found = mapped.facts(line, f"{run}:{number}") if line.strip() else []
                gone = [each.fact for each in found if each.retracts]
                reasoner.apply(add=[e.fact for e in found if not e.retracts], remove=gone)
            except InputError as error:
                say(f"{name_of(updates)}:{number}: {error.message}")
                continue
            printer.show(watch.changes())


def _pieces(updates: str) -> Iterator[PatchPiece]:
    from livefacts.syntax.input.files import open_source
    from livefacts.syntax.rdf.transactions import pieces_of

    if updates == "-":
        yield from pieces_of(sys.stdin, "<stdin>")
        return
    with open_source(updates) as stream:
        yield from pieces_of(io.TextIOWrapper(stream, encoding="utf-8"), updates)


class _Printer:
    """Prints changes as they come."""

    def __init__(self, form: ChangeFormat, watch: Watch, prefixes: dict[str, str]) -> None:
        self._form = form
        self._prefixes = prefixes
        self._variables = watch.variables
        self.shown = 0
        if form is ChangeFormat.csv:
            self._write_csv(["op", "seq", "time", "count", *self._variables])
        self._widths = [len(name) + 1 for name in self._variables]
        """How wide columns are; they grow with what comes."""
        self._has_head = form is not ChangeFormat.table or not self._variables

    def show(self, changes: list[Change], time: str = "") -> None:
        """Print some changes, at once; `time` is when they happened, if that is known."""
        if self._form is ChangeFormat.table:
            self._make_room(changes, time)
        for change in changes:
            self.shown += 1
            match self._form:
                case ChangeFormat.table:
                    typer.echo(f"{time} {self._line(change)}".lstrip())
                case ChangeFormat.jsonl:
                    typer.echo(self._json(change, time))
                case ChangeFormat.csv:
                    self._write_csv(self._cells(change, time))
        sys.stdout.flush()

    def _make_room(self, changes: list[Change], time: str) -> None:
        """Widen the columns to these rows; above the first ones stands what the columns are."""
        rows = [self._texts(change) for change in changes if change.row]
        longest = (max(map(len, column)) for column in zip(*rows, strict=True))
        self._widths = [
            max(width, min(length, WIDEST))
            for width, length in zip_longest(self._widths, longest, fillvalue=0)
        ]
        if not self._has_head:
            self._has_head = True
            head = self._joined([f"?{name}" for name in self._variables])
            typer.echo(" " * (len(time) + bool(time)) + "     " + head)

    def _texts(self, change: Change) -> list[str]:
        from livefacts.service.queries.results import shown

        return [shown(term, self._prefixes) or "-" for term in change.row]

    def _joined(self, cells: list[str]) -> str:
        padded = (f"{cell:<{width}}" for cell, width in zip(cells, self._widths, strict=False))
        return "  ".join(padded).rstrip()

    def _line(self, change: Change) -> str:
        times = f"{change.count}x" if change.count > 1 else ""
        cells = self._joined(self._texts(change)) if self._variables else "true"
        return f"{change.op} {times:<3}{cells}".rstrip()

    def _json(self, change: Change, time: str) -> str:
        from livefacts.service.queries.results import as_json

        row = {name: as_json(term) for name, term in change.row.as_dict().items()}
        moment = {"time": int(time) if time.lstrip("-").isdecimal() else time} if time else {}
        line = {"op": change.op, "seq": change.seq, **moment, "count": change.count, "row": row}
        return json.dumps(line, ensure_ascii=False)

    def _cells(self, change: Change, time: str) -> list[str]:
        from livefacts.service.queries.results import plain

        return [change.op, str(change.seq), time, str(change.count), *map(plain, change.row)]

    def _write_csv(self, cells: list[str]) -> None:
        out = io.StringIO()
        csv.writer(out, lineterminator="\r\n").writerow(cells)
        typer.echo(out.getvalue(), nl=False)

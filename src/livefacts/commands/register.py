"""`livefacts register`: C-SPARQL and RSP-QL queries over stream files and live sources."""

from __future__ import annotations

import gc
import shutil
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.events import EventInputs, ahead, leave_unless_rejected, say_rejects
from livefacts.commands.console.fact_files import load_into
from livefacts.commands.console.options import (
    ArrivalTime,
    Data,
    Folder,
    Lateness,
    Map,
    MaxAhead,
    Rules,
    SourceAddress,
    Speed,
    Tick,
)
from livefacts.commands.console.options import Rejects as RejectsFile
from livefacts.commands.console.terminal import ExitCode, counted, say
from livefacts.commands.query import text_of
from livefacts.errors import InputError, QueryError

if TYPE_CHECKING:
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.service.registered.report_writers import ReportWriter
    from livefacts.service.registered.scheduled_query import Registration
    from livefacts.service.streams.playback import Silence
    from livefacts.syntax.stream_files import Event, Time

QUERY_FILES = (".csparql", ".rspql", ".rq", ".sparql")


class ReportFormat(StrEnum):
    """How reports are printed."""

    table = "table"
    jsonl = "jsonl"
    csv = "csv"
    nq = "nq"
    patch = "patch"


class Late(StrEnum):
    """What happens to facts that come late."""

    wait = "wait"
    correct = "correct"


def register_command(
    queries: Annotated[
        list[str],
        typer.Argument(metavar="QUERY...", help="C-SPARQL or RSP-QL, or files .csparql, .rspql."),
    ],
    streams: Annotated[
        list[str] | None,
        typer.Option(
            "--stream",
            "-s",
            metavar="[NAME=]FILE",
            help="Timed facts, .nq .nt .trdf .jsonl .rdfp, also .gz or .zst; - is standard input. "
            "NAME is the stream's IRI, or its end, for lines that name none.",
        ),
    ] = None,
    json_map: Map = None,
    source: SourceAddress = None,
    folder: Folder = None,
    data: Data = None,
    rules: Rules = None,
    form: Annotated[
        ReportFormat, typer.Option("--format", help="nq and patch are for CONSTRUCT.")
    ] = ReportFormat.table,
    tick: Tick = None,
    speed: Speed = None,
    lateness: Lateness = "0",
    late: Annotated[
        Late,
        typer.Option(help="Wait for late facts, or send reports again (table and jsonl only)."),
    ] = Late.wait,
    idle: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="Do not wait for a stream that is further behind."),
    ] = None,
    max_ahead: MaxAhead = "1 h",
    arrival_time: ArrivalTime = False,
    empty: Annotated[bool, typer.Option("--empty", help="Print reports without answers, too.")] = (
        False
    ),
    rejects: RejectsFile = None,
) -> None:
    """Run continuous queries over streams, with background data and rules.

    A report is printed for every point in time at which a query is due.

    \b
    livefacts generate positions 60 --map city.nt -o positions.nq
    livefacts register commuters.csparql --stream positions.nq --data city.nt --rules rdfs
    tail -f events.jsonl | livefacts register alarms.csparql --stream alarms=- --format jsonl
    livefacts register q.csparql -s a.nq -s b.nq --lateness 5s --late correct --speed 10
    """
    from livefacts.service.registered.report_writers import ReportWriter
    from livefacts.service.streams.playback import Pace, play, rejecting
    from livefacts.syntax.input.rejects import Rejects

    _check_corrections(form, late)
    loaded = load_into(folder, data, rules, tick)
    made = [_registered(loaded.reasoner, query) for query in queries]
    _check_streams(made)
    events = loaded.reasoner.event_time(
        lateness=lateness, late=late.value, idle=idle, max_ahead=ahead(max_ahead)
    )
    prefixes = {**loaded.reasoner.prefixes, **_declared(made)}
    writer = ReportWriter(form.value, arrival_time, events.tick, _width(), prefixes)
    for query in made:
        writer.check(query)
    # What is there now stays: from here on the collector has only what streams bring to look at.
    gc.freeze()
    came: Counter[str] = Counter()
    inputs = EventInputs.of(_named(streams, made), source, json_map, arrival_time, "--stream")
    with Rejects(rejects) as rejected:
        come = _noted(inputs.events(rejected, loaded.reasoner), writer, came)
        for _ in play(come, events, Pace(speed, events.tick), rejecting(rejected)):
            _print(made, writer, empty)
        events.finish()
        _print(made, writer, empty)
    say_rejects(rejected, events)
    _say_unread(made, came)
    if _say_unmade(made):
        raise typer.Exit(ExitCode.ERROR)
    leave_unless_rejected(loaded, rejected, events)


def _check_corrections(form: ReportFormat, late: Late) -> None:
    """Only what marks a corrected report may print one."""
    if late is Late.correct and form not in (ReportFormat.table, ReportFormat.jsonl):
        raise InputError(
            f"{form.value} cannot say that a report takes the place of an earlier one",
            hint="use --format jsonl or table with --late correct, or --late wait",
        )


def _check_streams(queries: list[Registration]) -> None:
    """Streams are there to be read: refuse a query to which nothing of them can matter."""
    for query in queries:
        if not query.query.windows and not query.reads(""):
            raise QueryError(
                f"the query {query.name} reads no stream",
                hint="add FROM STREAM <...> [RANGE 10s STEP 1s] before WHERE; "
                "livefacts query asks about files alone",
            )


def _declared(queries: list[Registration]) -> dict[str, str]:
    """The prefixes of the queries, for shorter tables."""
    from livefacts.syntax.sparql.query_text import declared_prefixes, tokens_of

    found: dict[str, str] = {}
    for query in queries:
        found |= declared_prefixes(tokens_of(query.query.body))
    return found


def _registered(reasoner: Reasoner, given: str) -> Registration:
    """A query, registered; a mistake in a file is shown with its name."""
    text = text_of(given, QUERY_FILES)
    try:
        return reasoner.register(text)
    except QueryError as error:
        if text == given or error.place is None:
            raise
        place = replace(error.place, file=given)
        raise QueryError(error.message, place=place, hint=error.hint) from None


def _named(given: list[str] | None, queries: list[Registration]) -> list[tuple[str | None, str]]:
    return [_split(each, queries) for each in given or []]


def _split(given: str, queries: list[Registration]) -> tuple[str | None, str]:
    """`name=file`: the stream that a query calls by this name, or by an IRI that ends so."""
    name, mark, path = given.partition("=")
    if not mark:
        return None, given
    known = [window.stream for query in queries for window in query.query.windows]
    fitting = [s for s in dict.fromkeys(known) if s == name or _ends(s) in (name, _stem(name))]
    if len(fitting) == 1:
        return fitting[0], path
    if ":" in name:
        return name, path
    raise InputError(
        f"{'several streams are' if fitting else 'no stream is'} called {name}",
        hint=f"the queries read {_listed(dict.fromkeys(known))}; give the IRI: IRI=FILE",
    )


def _ends(iri: str) -> str:
    """The last part of an IRI, without an extension."""
    return _stem(iri.replace("#", "/").rstrip("/").rpartition("/")[2])


def _stem(name: str) -> str:
    return name.partition(".")[0]


def _noted(
    events: Iterator[Event | Silence], writer: ReportWriter, came: Counter[str]
) -> Iterator[Event | Silence]:
    """Reports show dates if the events have them; what comes is counted by stream."""
    from livefacts.syntax.stream_files import Event

    for event in events:
        writer.dates = writer.dates or _is_date(event.time)
        if isinstance(event, Event):
            came[event.stream or ""] += len(event.facts)
        yield event


def _is_date(time: Time) -> bool:
    return not isinstance(time, int) and time.datatype.value.endswith("#dateTime")


def _print(queries: list[Registration], writer: ReportWriter, empty: bool) -> None:
    for query in queries:
        for report in query.results():
            is_printed = report or report.error is not None or report.correction
            if is_printed or empty or writer.format == "patch":
                typer.echo(writer.write(query, report), nl=False)


def _say_unread(queries: list[Registration], came: Counter[str]) -> None:
    """Say which facts no query reads: their stream may have been meant to have another name."""
    unread = {s: n for s, n in came.items() if not any(query.reads(s) for query in queries)}
    for stream, number in unread.items():
        where = f"on <{stream}>" if stream else "without the name of a stream"
        say(f"no query reads what came {where}: {counted(number, 'fact', 'facts')}")
    known = {window.stream for query in queries for window in query.query.windows}
    if any(unread):
        say(f"hint: queries read {_listed(sorted(known))}")
        _say_meant(sorted(filter(None, unread)), sorted(known - set(came)))
    if "" in unread:
        say("hint: --stream NAME=FILE says on which stream the facts of a file are")


def _say_meant(unread: list[str], missing: list[str]) -> None:
    """Say which streams that came are perhaps those that queries read and that did not come."""
    from difflib import get_close_matches

    for stream in missing:
        for near in get_close_matches(stream, unread, n=1, cutoff=0.8):
            say(f"hint: nothing came on <{stream}>; did you mean <{near}> in the query?")


def _listed(streams: Iterable[str]) -> str:
    return ", ".join(f"<{stream}>" for stream in streams)


def _say_unmade(queries: list[Registration]) -> bool:
    """Say which queries lack reports, and why; whether there are any."""
    lacking = [query for query in queries if query.unmade]
    for query in lacking:
        count = counted(query.unmade, "report", "reports")
        say(f"{count} of {query.name} could not be made: {query.reason}")
    return bool(lacking)


def _width() -> int:
    """As wide as the terminal; a file has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 1_000

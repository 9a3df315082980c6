"""`livefacts run`: a program of rules over timed facts, from files or live."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
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
    SourceAddress,
    Speed,
    Tick,
)
from livefacts.commands.console.options import Rejects as RejectsFile
from livefacts.commands.console.terminal import say

if TYPE_CHECKING:
    from livefacts.service.explanations.proof_trees import Explanation
    from livefacts.service.reasoner.clocked_program import Statement, TickChange
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.service.streams.playback import Silence
    from livefacts.syntax.stream_files import Event


class Shown(StrEnum):
    """What is printed at a time point."""

    changes = "changes"
    answers = "answers"


class LineFormat(StrEnum):
    """How lines are printed."""

    text = "text"
    table = "table"
    jsonl = "jsonl"


def run_command(
    program: Annotated[
        list[str], typer.Argument(metavar="PROGRAM...", help="Files of rules, or ready rule sets.")
    ],
    facts: Annotated[
        list[str] | None,
        typer.Option(
            "--facts",
            "-f",
            metavar="FILE",
            help="Timed facts, .jsonl .nq .nt .trdf .rdfp, also .gz or .zst; - is standard input.",
        ),
    ] = None,
    json_map: Map = None,
    source: SourceAddress = None,
    folder: Folder = None,
    data: Data = None,
    show: Annotated[
        Shown, typer.Option(help="What changes, or all conclusions at every change.")
    ] = Shown.changes,
    form: Annotated[
        LineFormat, typer.Option("--format", help="Lines of text, in columns, or of JSON.")
    ] = LineFormat.text,
    everything: Annotated[
        bool, typer.Option("--all", help="Show the facts of the streams, too.")
    ] = False,
    explain: Annotated[
        str | None,
        typer.Option(
            metavar="FACT",
            help="Say why, whenever this fact, or one of a predicate, begins to hold.",
        ),
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Go on to this time after the last fact, if it lies ahead; facts beyond it are "
            "read, too.",
        ),
    ] = None,
    tick: Tick = None,
    speed: Speed = None,
    lateness: Lateness = "0",
    max_ahead: MaxAhead = "1 h",
    arrival_time: ArrivalTime = False,
    rejects: RejectsFile = None,
) -> None:
    """Run rules with windows over timed facts: one line for every change.

    A line is a time point, + or -, and a conclusion; times are shown as the facts have them.

    \b
    livefacts run cooling.rules --facts temps.jsonl
    livefacts run cooling.rules --facts temps.jsonl --show answers --format jsonl
    tail -f temps.jsonl | livefacts run cooling.rules --facts - --explain alarm
    sensors | livefacts run quiet.rules --facts - --arrival-time
    livefacts run hot.rules --source mqtt://localhost/sensors/# --map 'reading($.id, $.v) at $.ts'
    """
    from livefacts.model.time_points import time_point
    from livefacts.service.reasoner.clocked_program import Follower
    from livefacts.service.streams.playback import Pace, play, rejecting
    from livefacts.syntax.input.rejects import Rejects

    named = [(None, path) for path in facts or []]
    inputs = EventInputs.of(named, source, json_map, arrival_time, "--facts")
    loaded = load_into(folder, data, program, tick)
    end = None if until is None else time_point(until, loaded.reasoner.tick)
    printer = _Printer(loaded.reasoner, show, form, explain, dates=arrival_time)
    follower = Follower(loaded.reasoner, printer.print, everything=everything)
    events = loaded.reasoner.event_time(
        lateness=lateness, max_ahead=ahead(max_ahead), through=follower
    )
    with Rejects(rejects) as rejected:
        come = printer.noted(inputs.events(rejected, loaded.reasoner))
        for _ in play(come, events, Pace(speed, events.tick), rejecting(rejected)):
            pass
        events.finish()
    if end is not None and (follower.now is None or end > follower.now):
        follower.advance(end)
    printer.end()
    say_rejects(rejected, events)
    leave_unless_rejected(loaded, rejected, events)


def _predicate(explained: str | None, reasoner: Reasoner) -> str | None:
    """The predicate all of whose facts are to be explained, if it is one that has arguments."""
    from livefacts.language.checks.safety import first_atoms

    atom = first_atoms(reasoner.rules).get(explained or "")
    return None if atom is None or not atom.arguments else atom.name


class _Printer:
    """Prints what changes at each moment."""

    def __init__(
        self,
        reasoner: Reasoner,
        show: Shown,
        form: LineFormat,
        explained: str | None,
        *,
        dates: bool = False,
    ) -> None:
        self._reasoner = reasoner
        self._show = show
        self._format = form
        self._explained = explained
        self._held = False
        self._has_head = False
        self._dates = dates
        """Whether time points are shown as the moments at which they begin."""
        self._has_explained = False
        self._predicate = _predicate(explained, reasoner)
        if explained is not None and self._predicate is None:
            # What is no fact is refused now, and not in the middle of a stream.
            reasoner.explain(explained)

    def noted(self, events: Iterable[Event | Silence]) -> Iterator[Event | Silence]:
        """The same events: dates are shown if they have them."""
        for event in events:
            self._dates = self._dates or not isinstance(event.time, int)
            yield event

    def print(self, moment: TickChange) -> None:
        if self._show is Shown.changes:
            self._changes(moment)
        elif moment:
            self._answers(moment.time, self._reasoner.facts(derived=True))
        if self._predicate is not None:
            self._explain_each(moment)
        elif self._explained is not None:
            self._explain(self._explained)

    def _changes(self, moment: TickChange) -> None:
        time = self._time(moment.time)
        for sign, facts in (("+", moment.added), ("-", moment.removed)):
            for text in sorted(map(str, facts)):
                match self._format:
                    case LineFormat.jsonl:
                        typer.echo(json.dumps({"at": time, "op": sign, "fact": text}))
                    case LineFormat.table:
                        self._row(time, "conclusion", f"{sign} {text}")
                    case LineFormat.text:
                        typer.echo(f"{time} {sign} {text}")

    def _answers(self, point: int, facts: Iterable[Statement]) -> None:
        texts, time = sorted(map(str, facts)), self._time(point)
        match self._format:
            case LineFormat.jsonl:
                typer.echo(json.dumps({"at": time, "facts": texts}))
            case LineFormat.table:
                self._row(time, "conclusions", ", ".join(texts))
            case LineFormat.text:
                typer.echo(f"{time}: {', '.join(texts)}")

    def _row(self, time: int | str, head: str, text: str) -> None:
        width = 20 if self._dates else 8
        if not self._has_head:
            self._has_head = True
            typer.echo(f"{'at':<{width}}  {head}")
        typer.echo(f"{time:<{width}}  {text}")

    def _time(self, point: int) -> int | str:
        from livefacts.model.time_points import moment

        if not self._dates:
            return point
        return moment(point, self._reasoner.tick).isoformat().replace("+00:00", "Z")

    def _explain(self, fact: str) -> None:
        why = self._reasoner.explain(fact)
        if why.holds and not self._held:
            self._say_why(why)
        self._held = why.holds

    def _explain_each(self, moment: TickChange) -> None:
        """Explain each fact of a predicate that begins to hold."""
        from livefacts.model.facts import Fact

        for fact in moment.added:
            if isinstance(fact, Fact) and fact.name == self._predicate:
                self._say_why(self._reasoner.explain(fact))

    def _say_why(self, why: Explanation) -> None:
        self._has_explained = True
        typer.echo(self._with_dates(why), err=self._format is LineFormat.jsonl)

    def end(self) -> None:
        """Say so if what was to be explained never held."""
        if self._explained is not None and not self._has_explained:
            say(f"{self._explained} never began to hold")

    def _with_dates(self, why: Explanation) -> str:
        """An explanation whose end, since when and until when, has times as they are shown."""
        if why.lasting is None:
            return str(why)
        return str(why).replace(f"{why.lasting}", why.lasting.in_words(self._time))

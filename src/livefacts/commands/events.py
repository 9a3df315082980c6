"""Timed events for a command: files and standard input in one order, and what was set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING

import typer

from livefacts.commands.fact_files import Loaded, leave
from livefacts.commands.options import NO_LIMIT
from livefacts.commands.terminal import ExitCode, counted, say
from livefacts.errors import InputError, LivefactsError

if TYPE_CHECKING:
    from livefacts.model.durations import Duration
    from livefacts.service.streams.event_time import EventTime
    from livefacts.service.streams.playback import Silence
    from livefacts.syntax.input.rejects import Rejects
    from livefacts.syntax.stream_files import Event

REJECTS_SHOWN = 5


def read_all(
    sources: Iterable[tuple[str | None, str]],
    rejects: Rejects,
    tick: Duration | None,
    arrival_time: bool,
) -> Iterator[Event | Silence]:
    """The events of all files, by time, and of standard input behind them.

    A source is the stream of lines that name none, and a path.  By `arrival_time` events happen
    when they are read, and time moves while there are none.
    """
    from livefacts.service.streams import playback
    from livefacts.syntax.input.files import STANDARD_INPUT

    files: list[Iterator[Event]] = []
    live: list[Iterator[Event]] = []
    for stream, path in sources:
        (live if path == STANDARD_INPUT else files).append(
            _read(path, stream, rejects, arrival_time)
        )
    if len(live) > 1:
        raise InputError(
            "standard input is one stream", hint="give - once, and files for the others"
        )
    together = playback.merged(files, tick)
    if live:
        # Who waits for standard input would hold up every file: all go into one queue.
        return playback.live(chain(together, live[0]), tick, arrival_time=arrival_time)
    return playback.joined(playback.stamped(together, tick) if arrival_time else together)


def _read(path: str, stream: str | None, rejects: Rejects, arrival_time: bool) -> Iterator[Event]:
    """The events of a file; lines that name no stream are on this one."""
    from livefacts.syntax.stream_files import read_events

    for event in read_events(path, rejects, untimed=0 if arrival_time else None):
        is_named = event.stream is not None or stream is None
        yield event if is_named else replace(event, stream=stream)


def rejecting(rejects: Rejects) -> Callable[[Event, LivefactsError], None]:
    """What to do with an event that has no time, or does not fit the rules."""
    from livefacts.syntax.input.rejects import Reject

    def reject(event: Event, error: LivefactsError) -> None:
        rejects.add(
            Reject(event.stream or "", 0, 0, error.message, " ".join(map(str, event.facts)))
        )

    return reject


def ahead(max_ahead: str) -> str | None:
    """How far facts may lie ahead, as an option says it; None: as far as they like."""
    return None if max_ahead == NO_LIMIT else max_ahead


def say_rejects(rejects: Rejects, events: EventTime) -> None:
    """Say which lines were rejected, and what was set aside."""
    from livefacts.service.streams.event_time import TOO_FAR_AHEAD

    if rejects.count:
        say(f"{counted(rejects.count, 'line was', 'lines were')} rejected")
        for reject in rejects.kept[:REJECTS_SHOWN]:
            say(f"  {reject}")
    for reason, times in events.set_aside.items():
        say(f"{counted(times, 'event was', 'events were')} set aside: {reason}")
    if events.set_aside[TOO_FAR_AHEAD]:
        say("hint: --max-ahead says how far facts may lie ahead of the others; none allows all")


def leave_unless_rejected(loaded: Loaded, rejects: Rejects, events: EventTime) -> None:
    """End with its exit code, which tells whether lines were rejected or facts set aside."""
    if rejects.count or events.set_aside:
        raise typer.Exit(ExitCode.SOME_REJECTED)
    leave(loaded)

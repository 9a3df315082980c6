"""Timed events for a command: files and standard input in one order, and what was set aside."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING

from livefacts.commands.options import NO_LIMIT
from livefacts.commands.terminal import counted, say
from livefacts.errors import InputError, LivefactsError

if TYPE_CHECKING:
    from livefacts.model.durations import Duration
    from livefacts.service.streams.event_time import EventTime
    from livefacts.service.streams.playback import Silence
    from livefacts.syntax.input.rejects import Rejects
    from livefacts.syntax.stream_files import Event

REJECTS_SHOWN = 5


def in_one_order(
    files: list[Iterator[Event]],
    live: list[Iterator[Event]],
    tick: Duration | None,
    arrival_time: bool = False,
) -> Iterator[Event | Silence]:
    """The events of all files, by time, and of standard input behind them.

    By `arrival_time` they happen when they are read, and time moves while there are none.
    """
    from livefacts.service.streams import playback

    if len(live) > 1:
        raise InputError(
            "standard input is one stream", hint="give - once, and files for the others"
        )
    together = playback.merged(files, tick)
    if live:
        # Who waits for standard input would hold up every file: all go into one queue.
        return playback.live(chain(together, live[0]), tick, arrival_time=arrival_time)
    return playback.joined(playback.stamped(together, tick) if arrival_time else together)


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

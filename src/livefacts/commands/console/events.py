"""Timed events for a command: files and standard input in one order, and what was set aside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING

import typer

from livefacts.commands.console.fact_files import Loaded, leave
from livefacts.commands.console.options import NO_LIMIT
from livefacts.commands.console.terminal import ExitCode, counted, say
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.model.durations import Duration
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.service.streams.event_time import EventTime
    from livefacts.service.streams.playback import Silence
    from livefacts.syntax.input.rejects import Rejects
    from livefacts.syntax.json_map.fact_lines import JsonMap
    from livefacts.syntax.stream_files import Event

REJECTS_SHOWN = 5


def read_all(
    sources: Iterable[tuple[str | None, str]],
    rejects: Rejects,
    tick: Duration | None,
    arrival_time: bool,
    json_map: JsonMap | None = None,
) -> Iterator[Event | Silence]:
    """The events of all files, by time, and of standard input behind them.

    A source is the stream of lines that name none, and a path.  By `arrival_time` events happen
    when they are read, and time moves while there are none.  With a map, lines are messages.
    """
    from livefacts.service.streams import playback
    from livefacts.syntax.input.files import STANDARD_INPUT

    files: list[Iterator[Event]] = []
    live: list[Iterator[Event]] = []
    for stream, path in sources:
        (live if path == STANDARD_INPUT else files).append(
            _read(path, stream, rejects, arrival_time, json_map)
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


def _read(
    path: str,
    stream: str | None,
    rejects: Rejects,
    arrival_time: bool,
    json_map: JsonMap | None,
) -> Iterator[Event]:
    """The events of a file; lines that name no stream are on this one."""
    from livefacts.syntax.stream_files import read_events

    untimed = 0 if arrival_time else None
    for event in read_events(path, rejects, untimed=untimed, json_map=json_map):
        is_named = event.stream is not None or stream is None
        yield event if is_named else replace(event, stream=stream)


def timed_map(given: str, arrival_time: bool) -> JsonMap:
    """The map that an option gives, all of whose facts have times."""
    from livefacts.syntax.json_map.mapping_text import read_map

    json_map = read_map(given)
    if not json_map.is_timed and not arrival_time:
        raise InputError(
            "a line of the map has no time",
            hint="add at $.ts to it, or --arrival-time: facts happen when they arrive",
        )
    return json_map


def no_map() -> typer.BadParameter:
    """The error where a source has no map."""
    return typer.BadParameter(
        "--source needs a map, which says what a message stands for: "
        "--map 'reading(s=$.id, v=$.value) at $.ts'"
    )


@dataclass(frozen=True, slots=True)
class EventInputs:
    """Where a command reads events: files with the streams they are on, or a source; by a map."""

    files: Sequence[tuple[str | None, str]]
    source: str | None
    json_map: JsonMap | None
    arrival_time: bool

    @classmethod
    def of(
        cls,
        files: Sequence[tuple[str | None, str]],
        source: str | None,
        given: str | None,
        arrival_time: bool,
        option: str,
    ) -> EventInputs:
        """What the options say; `option` is the one that names files."""
        if bool(files) == (source is not None):
            raise typer.BadParameter(f"give {option} or --source, one of them")
        if source is not None and given is None:
            raise no_map()
        json_map = None if given is None else timed_map(given, arrival_time)
        return cls(files, source, json_map, arrival_time)

    def events(self, rejects: Rejects, reasoner: Reasoner) -> Iterator[Event | Silence]:
        """What comes, in one order."""
        if self.source is None:
            return read_all(self.files, rejects, reasoner.tick, self.arrival_time, self.json_map)
        from livefacts.service.sources.feed import Feed, open_address, read_to

        assert self.json_map is not None, "a source has a map"
        source = open_address(self.source, say)
        feed = Feed(source, self.json_map, rejects, reasoner.tick, self.arrival_time)
        return feed.events(read_to(reasoner, source))


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
        if rejects.count > REJECTS_SHOWN:
            say(f"  and {rejects.count - REJECTS_SHOWN:,} more")
        for hint in rejects.hints:
            say(f"hint: {hint}")
    for reason, times in events.newly_aside.items():
        say(f"{counted(times, 'event was', 'events were')} set aside: {reason}")
    if events.newly_aside[TOO_FAR_AHEAD]:
        say("hint: --max-ahead says how far facts may lie ahead of the others; none allows all")


def leave_unless_rejected(loaded: Loaded, rejects: Rejects, events: EventTime) -> None:
    """End with its exit code, which tells whether lines were rejected or facts set aside."""
    if rejects.count or events.newly_aside:
        raise typer.Exit(ExitCode.SOME_REJECTED)
    leave(loaded)

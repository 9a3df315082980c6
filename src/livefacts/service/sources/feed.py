"""The feed: an address to a source, and the messages of a source to events.

Each change that a message makes has the position of the message in its row of the journal: after
any end, the message is there with all its changes and does not come again, or it comes again and
those of its changes that were made are passed over.  A dead letter is written to the rejects; it may
come again if the process ends before the next change.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from livefacts.errors import InputError, OptionError
from livefacts.model.durations import Duration
from livefacts.service.knowledge.recorder import ORIGIN, Origin
from livefacts.service.reasoner.durable import DurableReasoner
from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.sources.kafka_topic import KafkaTopic
from livefacts.service.sources.lines import FollowedFile, StandardInput
from livefacts.service.sources.message_contract import Message, MessageSource, Say
from livefacts.service.sources.mqtt_topic import MqttTopic
from livefacts.service.streams.event_time import EventTime
from livefacts.service.streams.playback import (
    MOST_JOINED,
    Pace,
    Silence,
    patience_for,
    play,
    read_ahead,
    rejecting,
    stamped,
)
from livefacts.syntax.input.rejects import Reject, Rejects
from livefacts.syntax.json_map.fact_lines import JsonMap
from livefacts.syntax.json_map.mapping_text import read_map
from livefacts.syntax.stream_files import Event, mapped_events

ADDRESSES = "-, file:///path, mqtt://host/topic, kafka://host:port/topic"


def open_address(address: str, say: Say = print) -> MessageSource:
    """The source at an address; `say` is told of what happens to it on the way."""
    if address == "-":
        return StandardInput()
    url = urlsplit(address)
    match url.scheme:
        case "file":
            return FollowedFile(Path(unquote(url.netloc + url.path)).absolute(), say)
        case "mqtt":
            return MqttTopic(url, say)
        case "kafka":
            return KafkaTopic(url, say)
    raise OptionError(f"{address} is no source", hint=f"sources are {ADDRESSES}")


def follow(
    reasoner: Reasoner,
    source: str | MessageSource,
    json_map: str | JsonMap,
    *,
    events: EventTime | None = None,
    rejects: Rejects | None = None,
    arrival_time: bool = False,
    say: Say = print,
) -> Iterator[Event | Silence]:
    """Give a reasoner the messages of a source, for ever; each event is yielded when it is taken in.

    Where the reasoner lives in a folder, it goes on behind what it has.  `events` is what
    `reasoner.event_time()` gave, else the clock follows the facts without lateness.
    """
    made = open_address(source, say) if isinstance(source, str) else source
    mapped = read_map(json_map) if isinstance(json_map, str) else json_map
    kept = Rejects() if rejects is None else rejects
    feed = Feed(made, mapped, kept, reasoner.tick, arrival_time)
    target = reasoner.event_time() if events is None else events
    come = feed.events(read_to(reasoner, made))
    return play(come, target, Pace(None, reasoner.tick), rejecting(kept))


def read_to(reasoner: Reasoner, source: MessageSource) -> Origin | None:
    """How far a reasoner in a folder has read a source; None if it has not, or lives in memory."""
    known = reasoner.offsets if isinstance(reasoner, DurableReasoner) else {}
    return known.get(source.name)


@dataclass(frozen=True, slots=True)
class Feed:
    """A source, what its messages stand for, and where those go that stand for nothing."""

    source: MessageSource
    json_map: JsonMap
    rejects: Rejects
    tick: Duration | None = None
    arrival_time: bool = False

    def events(self, read: Origin | None = None) -> Iterator[Event | Silence]:
        """The events of all messages behind where it was `read` to, until it is stopped.

        While an event is out, it is where changes come from.
        """
        messages = self.source.messages(None if read is None else read.position)
        patience = patience_for(self.tick) if self.arrival_time else None
        begun = _Begun(self.source.name, read or Origin(self.source.name, None))
        try:
            for come in read_ahead(messages, patience=patience):
                new = [message for message in come if message is not None]
                yield from self._given(new, begun)
                ORIGIN.set(None)
                if new:
                    self.source.done(new[-1])
                elif self.arrival_time:
                    yield from stamped([None], self.tick)
        finally:
            ORIGIN.set(None)
            self.source.stop()

    def _given(self, messages: list[Message], begun: _Begun) -> Iterator[Event | Silence]:
        """What came together: neighbours of one event each, of one time and stream, are one."""
        held: list[tuple[Message, Event]] = []
        for message in messages:
            made = self._mapped(message)
            is_one = len(made) == 1
            if held and not (is_one and _goes_with(held, made[0])):
                yield from self._together(held, begun)
                held = []
            if is_one:
                held.append((message, made[0]))
            else:
                yield from self._in_parts(message, made, begun)
        if held:
            yield from self._together(held, begun)

    def _mapped(self, message: Message) -> list[Event]:
        try:
            untimed = 0 if self.arrival_time else None
            return mapped_events(self.json_map, message.text, message.event, untimed)
        except InputError as error:
            text = message.text.decode(errors="backslashreplace").rstrip("\r\n")
            self.rejects.add(Reject(message.place, 0, 0, error.message, text))
            return []

    def _together(
        self, held: list[tuple[Message, Event]], begun: _Begun
    ) -> Iterator[Event | Silence]:
        facts = tuple(fact for _, event in held for fact in event.facts)
        begun.whole(held[-1][0])
        yield from self._out(replace(held[0][1], facts=facts))

    def _in_parts(
        self, message: Message, made: list[Event], begun: _Begun
    ) -> Iterator[Event | Silence]:
        """One event after the other, but those that were made before the source was opened."""
        for done, event in enumerate(made, 1):
            if begun.has(message, done):
                continue
            if done < len(made):
                begun.part(message, done)
            else:
                begun.whole(message)
            yield from self._out(event)

    def _out(self, event: Event) -> Iterator[Event | Silence]:
        return stamped([event], self.tick) if self.arrival_time else iter((event,))


@dataclass(slots=True)
class _Begun:
    """How far a source is read, message by message; it tells where the next change comes from."""

    source: str
    read: Origin

    def has(self, message: Message, part: int) -> bool:
        """Whether this part of a message was made already."""
        return self.read.event == message.event and part <= self.read.done

    def part(self, message: Message, done: int) -> None:
        """The next change is one of several of this message, and not the last."""
        self._from(Origin(self.source, self.read.position, message.event, done), message)

    def whole(self, message: Message) -> None:
        """After the next change nothing of this message, and of those before, is left."""
        self._from(Origin(self.source, message.position), message)

    def _from(self, origin: Origin, message: Message) -> None:
        self.read = origin
        # What cannot be read again has no place to go on from.
        ORIGIN.set(None if message.position is None else origin)


def _goes_with(held: list[tuple[Message, Event]], event: Event) -> bool:
    last = held[-1][1]
    is_alike = (last.time, last.stream, last.retracts) == (event.time, event.stream, event.retracts)
    return is_alike and len(held) < MOST_JOINED

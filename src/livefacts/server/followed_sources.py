"""Followed sources: what brokers, files and standard input bring, taken in while the server runs.

Each source has a thread, which gives its events to the reasoner as the commands do: the position
of a message is in the journal row of what it brought.  A source that breaks off is opened again,
behind what the journal has; a message that stands for nothing is a dead letter, with the reason.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from livefacts.errors import LivefactsError, OptionError, StoppedError
from livefacts.service.knowledge.recorder import SYNCS_LATER
from livefacts.service.sources.feed import follow, open_address
from livefacts.service.sources.message_contract import AGAIN, Message, MessageSource
from livefacts.syntax.input.rejects import Reject, Rejects

if TYPE_CHECKING:
    from livefacts.service.reasoner.durable import DurableReasoner
    from livefacts.service.streams.event_time import EventTime
    from livefacts.syntax.json_map.fact_lines import JsonMap

Tell = Callable[[int], object]
"""Tells those who follow that a change with this number is on the disk."""
PAUSES = (1, 2, 4, 8, 16, 30)
"""Seconds before a source that broke off is opened again."""
LETTERS_SHOWN = 10
AT_RISK = 0.05
"""Seconds after which what came is on the disk, even if more is coming."""
LAST_WORDS = 1.0
"""Seconds for which the end waits for an event under way."""
LOG = logging.getLogger("livefacts.server")


@dataclass(frozen=True, slots=True)
class SourceSettings:
    """Which sources are followed, each by a map, and how their times are taken."""

    sources: Sequence[tuple[str, JsonMap]] = ()
    lateness: str | int = 0
    max_ahead: str | None = "1 h"
    arrival_time: bool = False
    rejects: str | None = None
    """The file to which dead letters are appended."""


class DeadLetters(Rejects):
    """The messages of a source that stand for nothing: counted, and the last ones kept."""

    def __init__(self, path: str | None) -> None:
        super().__init__(path, most=0, grows=True)
        self.last: deque[Reject] = deque(maxlen=LETTERS_SHOWN)

    def add(self, reject: Reject) -> None:
        super().add(reject)
        self.last.append(reject)


class SourceFollower:
    """One source, and how it goes; it is followed by a thread until it is stopped."""

    def __init__(self, address: str, json_map: JsonMap, settings: SourceSettings) -> None:
        self.name = open_address(address).name  # what is no address is refused now
        self._address, self._map, self._settings = address, json_map, settings
        self.letters = DeadLetters(settings.rejects)
        self.messages = 0
        """How many have come since the server was started."""
        self._last_at: float | None = None
        self.trouble = ""
        """Why nothing comes; empty as long as all is well."""
        self.has_ended = False
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._settle: Callable[[], None] = lambda: None

    def begin(
        self,
        reasoner: DurableReasoner,
        events: EventTime,
        settle: Callable[[], None],
        ended: Callable[[], None],
    ) -> None:
        """Follow from now on; `settle` has what came on the disk.

        `ended` is called when there is nothing more to come, not when it was broken off.
        """
        self._settle = settle
        self._thread = threading.Thread(
            target=self._follow, args=(reasoner, events, ended), daemon=True, name=self.name
        )
        self._thread.start()

    def _follow(
        self, reasoner: DurableReasoner, events: EventTime, ended: Callable[[], None]
    ) -> None:
        failures = 0
        SYNCS_LATER.set(True)
        while not self._stopping.is_set():
            before = self.messages
            try:
                self._take_all(reasoner, events)
                self.has_ended = True
                if not self._stopping.is_set():
                    ended()
                return
            except StoppedError as error:
                self.has_ended = True
                return self._say(error.message)
            except LivefactsError as error:
                self._say(f"{error.message}; it is tried again")
            except Exception:
                if self._stopping.is_set():
                    return  # what it writes to may be closed by now
                LOG.exception("%s cannot be followed; it is tried again", self.name)
                self.trouble = "the server made a mistake; it is tried again"
            failures = 0 if self.messages > before else failures + 1
            self._stopping.wait(PAUSES[min(failures, len(PAUSES) - 1)])

    def _take_all(self, reasoner: DurableReasoner, events: EventTime) -> None:
        source = _Noted(open_address(self._address, self._say), self._note, self._settle)
        taken = follow(
            reasoner,
            source,
            self._map,
            events=events,
            rejects=self.letters,
            arrival_time=self._settings.arrival_time,
        )
        with closing(taken):  # type: ignore[type-var]
            for _ in taken:
                if self._stopping.is_set():
                    return

    def _note(self, message: Message | None) -> None:
        """A message has come; or the source is open, and has none yet."""
        self.trouble = ""
        if message is not None:
            self.messages += 1
            self._last_at = time.time()

    def _say(self, text: str) -> None:
        if text != self.trouble:
            LOG.warning("%s", text)
        self.trouble = "" if text.endswith(AGAIN) else text

    def stop(self) -> None:
        """Take no other event."""
        self._stopping.set()

    def close(self) -> None:
        """Wait a little for the event under way; from the end of the folder on there is none."""
        if self._thread is not None:
            self._thread.join(LAST_WORDS)
        self.letters.close()

    def figures(self) -> dict[str, Any]:
        """How it goes, as plain data."""
        at = self._last_at
        ended = "ended" if self.has_ended else "waiting" if self.trouble else "following"
        return {
            "source": self.name,
            "state": ended,
            "trouble": self.trouble,
            "messages": self.messages,
            "last": None if at is None else time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at)),
            "dead_letters": self.letters.count,
            "last_dead_letters": [
                {"place": each.file, "reason": each.reason, "text": each.text}
                for each in list(self.letters.last)
            ],
        }


class FollowedSources:
    """All sources of one server, which share its clock."""

    def __init__(self, reasoner: DurableReasoner, settings: SourceSettings) -> None:
        self._reasoner = reasoner
        self.followers = [
            SourceFollower(address, json_map, settings) for address, json_map in settings.sources
        ]
        names = Counter(each.name for each in self.followers)
        for name in names:
            if names[name] > 1:
                raise OptionError(
                    f"{name} is given {names[name]} times",
                    hint="one source has one map; a map may have several lines",
                )
        self._told = told = _Told(reasoner)
        lateness, ahead = settings.lateness, settings.max_ahead
        self._events = (
            reasoner.event_time(lateness=lateness, max_ahead=ahead, through=told)
            if self.followers
            else None
        )

    def begin(self, tell: Tell) -> None:
        """Follow all of them; called once, when those who listen can be told."""
        told, events = self._told, self._events
        if events is None:
            return
        told.tell = tell

        left, ending = set(range(len(self.followers))), threading.Lock()

        def ended(number: int) -> None:
            with ending:
                left.discard(number)
                if not left:
                    events.finish()
                told.settle()

        for number, each in enumerate(self.followers):
            each.begin(self._reasoner, events, told.settle, partial(ended, number))

    def stop(self) -> None:
        """The end is near: no other event is taken."""
        for each in self.followers:
            each.stop()

    def close(self) -> None:
        """Wait for the events under way."""
        self.stop()
        for each in self.followers:
            each.close()

    def figures(self) -> list[dict[str, Any]]:
        """How each of them goes, as plain data."""
        return [each.figures() for each in self.followers]


class _Told:
    """The reasoner as event time moves it; what is on the disk is told to others.

    What comes together goes to the disk together, before its source forgets it, and soon.
    """

    def __init__(self, reasoner: DurableReasoner) -> None:
        self._reasoner = reasoner
        self.tell: Tell = lambda seq: None
        self._seq = reasoner.seq
        self._settled = time.monotonic()

    def settle(self) -> None:
        """Have what was written on the disk, and tell of it."""
        seq = self._seq
        self._reasoner.sync()
        self._settled = time.monotonic()
        self.tell(seq)

    def _note(self, seq: int) -> None:
        self._seq = max(seq, self._seq)
        if time.monotonic() - self._settled > AT_RISK:
            self.settle()

    @property
    def now(self) -> int | None:
        return self._reasoner.now

    def push(self, facts: Any, at: Any, stream: Any = None) -> None:
        """Facts happen."""
        self._note(self._reasoner.push(facts, at=at, stream=stream).seq)

    def retract(self, facts: Any, at: Any, stream: Any = None) -> None:
        """Facts are taken back."""
        self._note(self._reasoner.retract(facts, at=at, stream=stream).seq)

    def advance(self, to: Any) -> None:
        """Time moves."""
        self._note(self._reasoner.advance(to).seq)

    def correct(self, stream: str, lateness: int) -> None:
        """Reports that late facts touch are sent again."""
        self._reasoner.correct(stream, lateness)


class _Noted:
    """A source whose messages are noted as they come, and that it is open."""

    def __init__(
        self,
        source: MessageSource,
        note: Callable[[Message | None], None],
        settle: Callable[[], None],
    ) -> None:
        self._source = source
        self._note = note
        self._settle = settle
        self.stop = source.stop

    def done(self, message: Message) -> None:
        """All up to a message is taken in: it goes to the disk, and need not come again."""
        self._settle()
        self._source.done(message)

    @property
    def name(self) -> str:
        """What the journal calls it."""
        return self._source.name

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """The same messages."""
        for number, message in enumerate(self._source.messages(position)):
            if message is not None or not number:
                self._note(message)
            yield message

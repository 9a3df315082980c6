"""Live queries: what those follow who watch a query, or read the reports of a registered one.

A query that several clients watch is followed once.  The reasoner calls when something came or
went; that is noted, and told when the change is on the disk.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

from livefacts.server.change_events import JournalTopic, RowReader, violation_texts
from livefacts.server.topics import EventBatch, LiveEvent, Topic, live_event
from livefacts.service.continuous.answers import Change
from livefacts.service.queries.result_writers import as_bindings_json
from livefacts.service.registered.report_writers import ReportWriter

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.service.continuous.watch import Watch
    from livefacts.service.registered.reports import Report
    from livefacts.service.registered.scheduled_query import Registration

MOST_OF_ONE = 60
"""So many of them for one client."""
UNHEARD = 5.0
"""Seconds after which a query that is watched and that nobody has begun to hear is let go."""
MOST_WATCHED = 100
"""So many different queries are followed at once."""


class WatchTopic(Topic[tuple[int, int | None, list[Change]]]):
    """The answers of a query, and what comes and goes."""

    def __init__(self, served: ServedReasoner, text: str) -> None:
        """Begin to follow; called in a thread, as that waits for the change under way."""
        super().__init__(0, served.settings.buffered, served.telling)
        self._reasoner = served.reasoner
        self._signed: deque[Counter[str]] = deque()
        self.watch: Watch = served.reasoner.watch(text, buffer=1, on_change=self._hear)
        seq, _, answers = self._heard.popleft()
        self.forget(seq)
        self._rows = Counter({_encoded(each): each.count for each in answers})
        self._joined: tuple[EventBatch, EventBatch] | None = None
        self.wanted_at = time.monotonic()
        self.asker = ""
        """Who wanted it first."""

    def _hear(self, changes: list[Change]) -> None:
        """Called by who changes something, while nobody else does."""
        self._heard.append((self._reasoner.seq, self._reasoner.now, changes))

    def _size(self, heard: tuple[int, int | None, list[Change]]) -> int:
        return len(heard[2])

    def _new_events(self, upto: int) -> list[LiveEvent]:
        found = []
        while self._heard and self._heard[0][0] <= upto:
            seq, now, changes = self._heard.popleft()
            rows = [
                (_encoded(each), each.count if each.op == "+" else -each.count) for each in changes
            ]
            self._signed.append(Counter(dict(rows)))
            came = ",".join(text for text, count in rows for _ in range(count))
            went = ",".join(text for text, count in rows for _ in range(-count))
            head = f'"seq": {seq}, "now": {json.dumps(now)}'
            found.append(LiveEvent(seq, f'{{{head}, "added": [{came}], "removed": [{went}]}}'))
        return found

    def _publish(self, events: Sequence[LiveEvent]) -> None:
        for _ in events:
            for text, count in self._signed.popleft().items():
                self._rows[text] += count
                if not self._rows[text]:
                    del self._rows[text]
        super()._publish(events)

    def together(self, batch: EventBatch) -> EventBatch:
        if self._joined is None or self._joined[0] is not batch:
            self._joined = batch, EventBatch([joined_event(batch.events)])
        return self._joined[1]

    async def catch_up(self, seq: int | None) -> AsyncIterator[EventBatch]:
        said = {"event": "answers", "seq": self.seq, "variables": self.watch.variables}
        answers = ",".join(self._rows.elements())
        data = f'{json.dumps(said, ensure_ascii=False)[:-1]}, "answers": [{answers}]}}'
        yield EventBatch([LiveEvent(self.seq, data, "answers")])


def joined_event(events: Sequence[LiveEvent]) -> LiveEvent:
    """One event for several of a watched query: what is different after all of them.

    >>> first = live_event(7, {"seq": 7, "now": None, "added": ["a", "b"], "removed": []})
    >>> then = live_event(9, {"seq": 9, "now": None, "added": ["c"], "removed": ["a"]})
    >>> joined_event([first, then]).data
    '{"seq": 9, "now": null, "changes": 2, "added": ["b", "c"], "removed": []}'
    """
    net: Counter[str] = Counter()
    for event in events:
        said = json.loads(event.data)
        for name, sign in (("added", 1), ("removed", -1)):
            for row in said[name]:
                net[json.dumps(row, ensure_ascii=False)] += sign
    came, went = (", ".join(each.elements()) for each in (+net, -net))
    head = live_event(0, {"seq": said["seq"], "now": said["now"], "changes": len(events)}).data
    data = f'{head[:-1]}, "added": [{came}], "removed": [{went}]}}'
    return LiveEvent(events[-1].seq, data)


def _encoded(change: Change) -> str:
    return json.dumps(as_bindings_json(change.row), ensure_ascii=False)


class ReportTopic(Topic[tuple[int, str]]):
    """The reports of a registered query; those who come later get the later ones."""

    def __init__(self, served: ServedReasoner, registration: Registration) -> None:
        # Numbers go on after a restart, when reports do, and there is no journal of them.
        super().__init__(time.time_ns() // 1_000, served.settings.buffered, served.telling)
        self.registration = registration
        self._reasoner = served.reasoner
        self._writer = ReportWriter("jsonl")
        self._number = self.seq
        registration.on_report(self._hear)

    def _hear(self, report: Report) -> None:
        """Called by who moves time, while nobody else changes anything."""
        line = self._writer.write(self.registration, report).rstrip("\n")
        self._heard.append((self._reasoner.seq, line))

    def _size(self, heard: tuple[int, str]) -> int:
        return 1

    def _new_events(self, upto: int) -> list[LiveEvent]:
        found = []
        while self._heard and self._heard[0][0] <= upto:
            self._number += 1
            found.append(LiveEvent(self._number, self._heard.popleft()[1]))
        if found:
            deque(self.registration.results(), 0)  # notes how far they were read
        return found

    async def catch_up(self, seq: int | None) -> AsyncIterator[EventBatch]:
        nothing: tuple[EventBatch, ...] = ()
        for batch in nothing:
            yield batch


class LiveTopics:
    """All that is followed on one server; made in its event loop."""

    def __init__(self, served: ServedReasoner) -> None:
        self._served = served
        self.changes = JournalTopic(served, RowReader.change)
        self.violations = JournalTopic(served, RowReader.violations, self._violations_now)
        self._watched: dict[str, WatchTopic] = {}
        self._reported: dict[str, ReportTopic] = {}
        self._making = asyncio.Lock()
        loop = asyncio.get_running_loop()
        served.when_changed.append(self._acknowledge)
        served.when_stopping.append(partial(loop.call_soon_threadsafe, self._end))
        for name, registration in served.reasoner.registered().items():
            self._reported[name] = ReportTopic(served, registration)
        self._acknowledged = served.reasoner.seq
        for topic in self._topics():
            self._begin(topic)

    def _begin(self, topic: Topic[Any]) -> None:
        topic.listeners = lambda: self.subscribers
        topic.begin()
        topic.acknowledge(self._acknowledged)

    def _topics(self) -> list[Topic[Any]]:
        return [self.changes, self.violations, *self._watched.values(), *self._reported.values()]

    def _acknowledge(self, seq: int) -> None:
        self._acknowledged = max(seq, self._acknowledged)
        for topic in self._topics():
            topic.acknowledge(seq)

    def _end(self) -> None:
        for topic in self._topics():
            topic.end("the server is about to end")

    @property
    def subscribers(self) -> int:
        """How many live answers are under way."""
        return sum(topic.subscribers for topic in self._topics())

    def _violations_now(self) -> LiveEvent:
        with self._served.snapshot(whole=True) as snapshot:
            found = [violation_texts(each) for each in snapshot.violations()]
            said = {"seq": snapshot.seq, "now": snapshot.now, "violations": found}
            return live_event(snapshot.seq, said, "violations")

    # queries

    async def watched(self, text: str, asker: str) -> Topic[Any]:
        """What those follow who watch this query; `asker` is the first one who wants it."""
        async with self._making:
            if text in self._watched:
                self._watched[text].wanted_at = time.monotonic()
                return self._watched[text]
            if len(self._watched) >= MOST_WATCHED:
                raise HTTPException(503, f"{MOST_WATCHED} different queries are watched already")
            mine = sum(topic.asker == asker for topic in self._watched.values())
            if mine >= MOST_OF_ONE:
                what = f"{MOST_OF_ONE} queries of yours are watched already"
                raise HTTPException(429, what, {"Retry-After": "5"})
            topic = await self._served.tell(lambda: WatchTopic(self._served, text))
            self._watched[text] = topic
            topic.asker = asker
            topic.when_left = partial(self._drop, text, topic)
            self._begin(topic)
            self._look_later(text)
            return topic

    def _look_later(self, text: str) -> None:
        """A client that left before it began to listen leaves nothing behind."""
        asyncio.get_running_loop().call_later(UNHEARD, self._drop_unheard, text)

    def _drop_unheard(self, text: str) -> None:
        topic = self._watched.get(text)
        if topic is None or topic.subscribers:
            return
        if time.monotonic() - topic.wanted_at < UNHEARD:
            self._look_later(text)
        else:
            self._drop(text, topic)

    def _drop(self, text: str, topic: WatchTopic) -> None:
        if self._watched.get(text) is not topic:
            return  # it was let go before
        del self._watched[text]
        topic.end("nobody listens")
        # It waits for the change under way, which must not be the loop's concern.
        threading.Thread(target=topic.watch.close, daemon=True).start()

    async def registered(self, text: str) -> ReportTopic:
        """What those follow who register this query; it goes on without them."""
        async with self._making:
            for topic in self._reported.values():
                if topic.registration.asked.text == text:
                    return topic
            made = await self._served.tell(partial(self._registered, text))
            self._reported[made.registration.name] = made
            self._begin(made)
            return made

    def _registered(self, text: str) -> ReportTopic:
        return ReportTopic(self._served, self._served.reasoner.register(text))

    def reports(self, name: str) -> ReportTopic:
        """What those follow who name a registered query."""
        if name not in self._reported:
            raise HTTPException(404, f"no query {name} is registered")
        return self._reported[name]

    def queries(self) -> list[dict[str, Any]]:
        """The registered queries."""
        return [
            {"name": name, "query": topic.registration.asked.text, "last": topic.registration.last}
            for name, topic in self._reported.items()
        ]

    async def unregister(self, name: str) -> None:
        """A registered query ends, for good."""
        topic = self.reports(name)
        await self._served.tell(topic.registration.close)
        del self._reported[name]
        topic.end("the query was ended")

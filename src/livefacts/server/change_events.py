"""Change events: rows of the journal as what is told to those who follow changes.

They are made of the texts in the row alone, so that nobody who follows touches the reasoner.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any

from livefacts.errors import InputError
from livefacts.journal import fact_texts
from livefacts.language.rule_text import write_fact
from livefacts.model.facts import Fact
from livefacts.server.topics import EventBatch, LiveEvent, Topic, live_event
from livefacts.service.change.delta import Violation
from livefacts.service.knowledge import recorder
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.rdf.patch import write_patch

if TYPE_CHECKING:
    from livefacts.journal.change_log import JournalRow
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.service.folder.history import JournalTail

PAGE = 256
"""So many rows of the journal are read at once for one who catches up."""
SYMBOL = "'"
"""Stands before the name of a symbol."""
MANY_TERMS = 50_000
LINGER = 60.0
"""Seconds for which events are kept ready for those who have left, and may come back."""


class RowReader:
    """Makes events of rows; one for each thread that reads."""

    def __init__(self) -> None:
        self._dictionary = Dictionary()

    def change(self, row: JournalRow) -> LiveEvent:
        """What a change made true, and what it ended."""
        given = row.content
        said: dict[str, Any] = {**_when(row), "kind": row.kind}
        if fact_texts.FILE in given:
            # As many facts as this are a file; who wants them asks for the version.
            said |= {"added": [], "removed": [], "large": True}
        else:
            said["added"] = [*self._texts(given, recorder.ADDED, recorder.DERIVED)]
            said["removed"] = [*self._texts(given, recorder.REMOVED)]
        return live_event(row.last, said)

    def patch(self, row: JournalRow, *, asserted: bool) -> str:
        """A change as RDF Patch: of what is true or, `asserted`, of what was asserted."""
        if fact_texts.FILE in row.content:
            raise InputError(
                f"change {row.last} is too large for a patch", hint="ask for the changes after it"
            )
        came = (recorder.ASSERTED,) if asserted else (recorder.ADDED, recorder.DERIVED)
        went = recorder.RETRACTED if asserted else recorder.REMOVED
        added, removed = self._texts(row.content, *came), self._texts(row.content, went)
        return write_patch(
            row.last, (f"{each}\n" for each in removed), (f"{each}\n" for each in added)
        )

    def violations(self, row: JournalRow) -> LiveEvent | None:
        """The violations that came and went with a change; None if there were none."""
        came, went = (row.content.get(n, ()) for n in (recorder.CAME, recorder.WENT))
        if not came and not went:
            return None
        said = {"added": [*map(_violation, came)], "removed": [*map(_violation, went)]}
        return live_event(row.last, {**_when(row), **said})

    def _texts(self, given: Mapping[str, Any], *parts: str) -> Iterator[str]:
        rows = given.get(fact_texts.ROWS, {})
        terms = given.get(fact_texts.TERMS, ())
        for part in parts:
            for shape, places in rows.get(part, {}).items():
                if int(shape) in fact_texts.WIDTHS:
                    texts = (terms[place] for place in places)
                    width = fact_texts.WIDTHS[int(shape)]
                    statements = zip(*[texts] * width, strict=True)
                    yield from (f"{' '.join(each)} ." for each in statements)
                else:
                    yield from self._facts(terms, places, int(shape))

    def _facts(self, terms: list[str], places: list[int], width: int) -> Iterator[str]:
        """Predicate facts in the rule language; only a dictionary knows what their texts mean."""
        if len(self._dictionary) > MANY_TERMS:
            self._dictionary = Dictionary()
        numbers = fact_texts.number_texts(terms, self._dictionary)
        decoded = self._dictionary.decode(numbers[places])
        for name, *arguments in zip(*[iter(decoded)] * width, strict=True):
            yield write_fact(Fact(name.name, tuple(arguments)), {})


def _when(row: JournalRow) -> dict[str, Any]:
    made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(row.time))
    now = row.content.get(recorder.NOW, row.content.get("to"))
    return {"seq": row.last, "now": now, "time": made}


def _violation(plain: tuple[str, Mapping[str, str]]) -> dict[str, Any]:
    constraint, bindings = plain
    values = {name: text.removeprefix(SYMBOL) for name, text in bindings.items()}
    return {"constraint": constraint, "bindings": values}


def violation_texts(violation: Violation) -> dict[str, Any]:
    """A violation as plain data, as in the events."""
    bindings = {name: str(term) for name, term in violation.bindings.items()}
    return {"constraint": violation.constraint, "bindings": bindings}


class JournalTopic(Topic["JournalRow"]):
    """What the journal tells: all changes, or the violations among them."""

    def __init__(
        self,
        served: ServedReasoner,
        event_of: Callable[[RowReader, JournalRow], LiveEvent | None],
        beginning: Callable[[], LiveEvent] | None = None,
    ) -> None:
        """`beginning` tells how things are, to those who have seen nothing; called in a thread."""
        super().__init__(served.reasoner.seq, served.settings.buffered, served.telling)
        self._served = served
        self._event_of = event_of
        self._beginning = beginning
        self._reader = RowReader()
        self.forget(served.reasoner.on_row(self._hear))

    def _hear(self, row: JournalRow) -> None:
        """Called by who changes something, while nobody else does."""
        if row.first <= row.last:
            self._heard.append(row)

    def acknowledge(self, seq: int) -> None:
        """Where nobody has listened for a while nothing is kept: who comes later reads the journal."""
        is_alone = not self.subscribers and time.monotonic() > self.left_at + LINGER
        if is_alone and not self._is_making:
            deque(self._rows(seq), 0)
            self.forget(seq)
        super().acknowledge(seq)

    def _rows(self, upto: int) -> Iterator[JournalRow]:
        while self._heard and self._heard[0].last <= upto:
            yield self._heard.popleft()

    def _size(self, heard: JournalRow) -> int:
        return len(heard.content.get(fact_texts.TERMS, ()))

    def _new_events(self, upto: int) -> list[LiveEvent]:
        made = (self._event_of(self._reader, row) for row in self._rows(upto))
        return [event for event in made if event is not None]

    async def check(self, seq: int | None) -> None:
        if seq is not None and (seq > self.seq or self.is_behind(seq)):
            await self._served.tell(lambda: self._served.reasoner.tail(seq))

    async def catch_up(self, seq: int | None) -> AsyncIterator[EventBatch]:
        if seq is None:
            if self._beginning is not None:
                yield EventBatch([await self._served.tell(self._beginning)])
            return
        tail = await self._served.tell(lambda: self._served.reasoner.tail(seq))
        while tail.seq < self.seq:
            last = self.seq
            events = await self._served.tell(partial(self._page, tail, last))
            if events:
                yield EventBatch(events)

    def _page(self, tail: JournalTail, last: int) -> list[LiveEvent]:
        """The next events out of the journal, up to this number; called in a thread."""
        reader, rows = RowReader(), islice(tail.rows(), min(PAGE, last - tail.seq))
        made = (self._event_of(reader, row) for row in rows)
        return [event for event in made if event is not None]

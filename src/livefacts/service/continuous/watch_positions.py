"""Watch positions: which watches have a name, and up to which change each was read.

A name, a text and a number are all that outlives a process.  What a watch has to say that goes on
from there is the difference between its answers then, which a folder can be asked for, and now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from livefacts.service.continuous.answers import Change
    from livefacts.service.continuous.watch import Watch

Note = Callable[[Mapping[str, Any]], None]


class WatchPositions:
    """The watches with a name; `note` and `note_read` keep what happens to them."""

    def __init__(self, note: Note, note_read: Callable[[str, Mapping[str, Any]], None]) -> None:
        self.known: dict[str, tuple[str, int]] = {}
        """Texts, and the numbers of the last changes that were read."""
        self._note = note
        self._note_read = note_read
        self._open: dict[str, Watch] = {}

    def set(self, name: str, text: str | None, seq: int) -> None:
        """A watch is at a position, or ends."""
        if text is None:
            self.known.pop(name, None)
        else:
            self.known[name] = text, seq

    def passed(self, name: str, seq: int) -> None:
        """A watch was read up to a change."""
        if name in self.known:
            self.known[name] = self.known[name][0], seq

    def watch(
        self, name: str, text: str, begin: Callable[[], Watch], earlier: Callable[[int], Watch]
    ) -> Watch:
        """The watch with this name; one that is new goes on from what was read before."""
        known_text, seq = self.known.get(name, (text, None))
        if known_text != text:
            raise LivefactsError(
                f"the watch {name} is of another query: {known_text}",
                hint="close() ends a watch for good; or choose another name",
            )
        if name in self._open:
            return self._open[name]
        made = begin()
        try:
            made.go_on(_missed(made, seq, earlier) if seq is not None else [])
            if seq is None:
                self._note({"name": name, "text": text, "upto": made.seq})
        except BaseException:
            made.close()
            raise
        self.set(name, text, made.seq if seq is None else seq)
        self._open[name] = made
        made.when_read = lambda upto: self._read(name, upto)
        made.when_closed = lambda: self._end(name)
        return made

    def _read(self, name: str, upto: int) -> None:
        self.passed(name, upto)
        self._note_read(f"watch {name}", {"watch": name, "upto": upto})

    def _end(self, name: str) -> None:
        if self._open.pop(name, None) is not None:
            self._note({"name": name, "text": None, "upto": 0})
            self.set(name, None, 0)


def _missed(watch: Watch, seq: int, earlier: Callable[[int], Watch]) -> list[Change]:
    """What has changed since a number; that something may have, where that is not kept."""
    from livefacts.service.continuous.watch import between, lagged

    if seq == watch.seq:
        return []
    try:
        before = earlier(seq)
    except LivefactsError:
        return [lagged(1, watch.seq)]
    return between(before, watch)

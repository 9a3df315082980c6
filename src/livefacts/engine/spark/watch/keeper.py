"""The keeper: a continuous query followed in one process of a cluster, across micro-batches.

What Spark keeps is a log: the messages of every micro-batch that concern the query, in pieces
that are never changed, and now and then a snapshot of all triples instead of what was logged
before.  The keeper itself stays in the worker's process.  When the next micro-batch comes to the
same process, nothing is read; in another one, the keeper there reads what it has missed; one
that is new, or has seen something that was never committed, reads the log from its beginning.

Every piece has a token of the attempt that has written it.  Spark commits one attempt, so a
keeper whose last token stands in the log where the keeper says has seen just what the log
says up to there.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from livefacts.engine.contract import Ids
from livefacts.engine.messages.signed_lines import Messages, canonical, scanned
from livefacts.engine.messages.standing_group import Build, StandingGroup
from livefacts.engine.messages.stream_facts import DEFAULT
from livefacts.engine.patterns.projection import Signs
from livefacts.engine.spark.watch.message_tables import change_table, in_order

if TYPE_CHECKING:
    from pandas import DataFrame as Table

PIECE = 10_000
"""Messages of one piece of the log."""
FEWEST_LOGGED = 10_000
"""Messages that are logged before it is worth while to write all triples instead."""
MOST_KEEPERS = 8
"""Keepers that a process holds ready."""
NOTHING = ""
"""The token of a keeper, or of a log, that has seen nothing."""
UNBOUND = -1
QUAD = 4
"""The places of a quad."""


@dataclass(frozen=True)
class KeptQuery:
    """A query: its text with everything that its meaning depends on, and how it is followed."""

    text: str
    names: tuple[str, ...]
    build: Build


@dataclass(frozen=True, slots=True)
class Head:
    """Where the log begins and ends, how many messages it has (all, and in its snapshot), and
    the token of its last piece."""

    first: int = 0
    next: int = 0
    lines: int = 0
    snapshot: int = 0
    token: str = NOTHING


class Keeper:
    """Follows a query; knows up to where in a log, and by which token."""

    def __init__(self, asked: KeptQuery) -> None:
        self._names = asked.names
        self._group = StandingGroup([asked.build])
        self.next = 0
        self.token = NOTHING
        self.logged: list[str] = []
        """The messages of the last batch that concern the query, each with its sign."""

    def take(self, told: Iterable[Table]) -> Table:
        """What a batch of messages changes."""
        ordered = in_order(told, "line")
        signs, lines = [sign for _, sign, _ in ordered], [line for _, _, line in ordered]
        group = self._group
        triples, kept = group.admit(_messages(lines, signs))
        self.logged = self._written(*_last(triples, kept))
        (found,) = group.follow(triples, kept)
        rows, counts = found.expanded()
        table = change_table(self._names, counts.tolist(), self._cells(rows))
        group.forget_terms()
        return table

    def replay(self, logged: str) -> None:
        """Take a piece of a log; nobody wants to know what it changes."""
        lines = logged.split("\n")
        messages = _messages([line[1:] for line in lines], [int(line[0] + "1") for line in lines])
        self._group.take(messages)

    def snapshot(self) -> list[str]:
        """The triples, or quads, from which all can be made again, as messages."""
        (rows,) = self._group.kept()
        return self._written(rows, np.ones(len(rows), np.int32))

    def _written(self, rows: Ids, signs: Signs) -> list[str]:
        if rows.shape[1] == QUAD:
            is_plain = rows[:, 3] == DEFAULT
            plain, others = rows[is_plain][:, :3], rows[~is_plain]
            return [
                *self._written(np.ascontiguousarray(plain), signs[is_plain]),
                *self._lines(others, signs[~is_plain]),
            ]
        return self._lines(rows, signs)

    def _lines(self, rows: Ids, signs: Signs) -> list[str]:
        written = self._group.dictionary.write_ntriples(rows).decode().split(" .\n")
        return [("+" if sign > 0 else "-") + line for sign, line in zip(signs, written)]  # noqa: B905

    def _cells(self, rows: Ids) -> list[list[str | None]]:
        width = len(self._names)
        flat = rows.reshape(-1)
        bound = iter(self._group.dictionary.texts(flat[flat != UNBOUND]))
        texts = [None if each == UNBOUND else next(bound) for each in flat.tolist()]
        return [texts[at * width : (at + 1) * width] for at in range(len(rows))]


def _last(triples: Ids, signs: Signs) -> tuple[Ids, Signs]:
    """The last message about each triple."""
    _, at = np.unique(triples[::-1], axis=0, return_index=True)
    chosen = len(triples) - 1 - np.sort(at)[::-1]
    return triples[chosen], signs[chosen]


_KEEPERS: OrderedDict[str, Keeper] = OrderedDict()
"""The keepers of this process, by what they follow; the one that was used last at the end."""


class KeeperLog:
    """The log of a keeper, in a map and a value that Spark keeps."""

    def __init__(self, pieces: Any, head: Any) -> None:
        self._pieces = pieces
        self._head = head

    @property
    def head(self) -> Head:
        """Where the log begins and ends."""
        return Head(*self._head.get()) if self._head.exists() else Head()

    def keeper(self, asked: KeptQuery) -> Keeper:
        """A keeper that has seen all of the log; it is out of the process's sight until put back."""
        head = self.head
        keeper = _KEEPERS.pop(asked.text, None)
        if keeper is None or not self._has_led_to(keeper, head):
            keeper = Keeper(asked)
            keeper.next = head.first
        for number in range(keeper.next, head.next):
            _, piece = self._pieces.getValue((number,))
            keeper.replay(piece)
        keeper.next, keeper.token = head.next, head.token
        return keeper

    def _has_led_to(self, keeper: Keeper, head: Head) -> bool:
        """Whether what a keeper has seen is what the log says up to there."""
        if keeper.next == head.next:
            return keeper.token == head.token
        if not head.first < keeper.next < head.next:
            return False
        token, _ = self._pieces.getValue((keeper.next - 1,))
        return bool(token == keeper.token)

    def append(self, keeper: Keeper) -> None:
        """Log what the keeper has taken."""
        if not keeper.logged:
            return
        head = self.head
        lines = head.lines + len(keeper.logged)
        if lines - head.snapshot <= max(FEWEST_LOGGED, head.snapshot):
            self._write(keeper, head.next, keeper.logged)
            self._set(replace(head, next=keeper.next, lines=lines, token=keeper.token))
            return
        kept = keeper.snapshot()
        self._write(keeper, head.next, kept)
        for number in range(head.first, head.next):
            self._pieces.removeKey((number,))
        self._set(Head(head.next, keeper.next, len(kept), len(kept), keeper.token))

    def _set(self, head: Head) -> None:
        self._head.update(astuple(head))

    def _write(self, keeper: Keeper, number: int, lines: Sequence[str]) -> None:
        keeper.token = str(uuid4())
        for at in range(0, len(lines), PIECE):
            piece = "\n".join(lines[at : at + PIECE])
            self._pieces.updateValue((number,), (keeper.token, piece))
            number += 1
        keeper.next = number


class LoggedKeeper:
    """A keeper as Spark calls it, once for every micro-batch."""

    def __init__(self, asked: KeptQuery) -> None:
        self._asked = asked

    def init(self, handle: Any) -> None:
        """Spark gives the state."""
        self._log = KeeperLog(
            handle.getMapState("pieces", "number long", "token string, text string"),
            handle.getValueState(
                "head", "first long, next long, lines long, snapshot long, token string"
            ),
        )

    def handleInputRows(self, key: Any, rows: Iterator[Table], timer: Any) -> Iterator[Table]:  # noqa: N802
        """What the messages of a micro-batch change."""
        keeper = self._log.keeper(self._asked)
        change = keeper.take(rows)
        self._log.append(keeper)
        put_back(self._asked, keeper)
        yield change

    def handleExpiredTimer(self, key: Any, timer: Any, expired: Any) -> Iterator[Table]:  # noqa: N802
        """There are no timers."""
        return iter(())

    def close(self) -> None:
        """Nothing is open."""


def put_back(asked: KeptQuery, keeper: Keeper) -> None:
    """Hold a keeper ready for the next micro-batch."""
    _KEEPERS[asked.text] = keeper
    while len(_KEEPERS) > MOST_KEEPERS:
        _KEEPERS.popitem(last=False)


def _messages(lines: Sequence[str], signs: Sequence[int]) -> Messages:
    content = "".join(f"{line} .\n" for line in lines)
    plain = scanned(content.encode(), 1)
    told = np.array(signs, np.int32)
    if plain is not None and len(plain.signs) == len(told):
        return plain._replace(signs=told)
    return _parsed(content, told)


def _parsed(content: str, signs: Signs) -> Messages:
    from pyoxigraph import DefaultGraph, RdfFormat, parse

    quads = list(parse(content, RdfFormat.N_QUADS))
    names = (quad.graph_name for quad in quads)
    graphs = [None if isinstance(name, DefaultGraph) else name for name in names]
    return canonical("".join(f"{quad.triple}\n" for quad in quads), signs, graphs=graphs)

"""The served reasoner: one reasoner in a folder, and what all requests to it share.

Queries read snapshots, in threads, beside each other and beside changes.  Changes take their
turns in other threads, so that those who wait share the way to the disk.  After each change that
is on the disk, everyone who listens is told its number.
"""

from __future__ import annotations

import asyncio
import secrets
import threading
import time
from collections import Counter, OrderedDict
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request

from livefacts.errors import LivefactsError
from livefacts.server.admission.audit import AuditLog
from livefacts.server.admission.fair_queue import FairQueue
from livefacts.server.admission.settings import ServerSettings
from livefacts.server.admission.tokens import AccessScope, Tokens
from livefacts.server.admission.visitors import Visitor, visitor_of
from livefacts.service.streams.event_time import points_of

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta
    from livefacts.service.reasoner.durable import DurableReasoner
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.service.reasoner.fact_snapshot import FactSnapshot

T = TypeVar("T")
Once = Callable[[Callable[[], "Delta"], "int | None"], "Delta"]
"""Makes a change once for the key of its request and its number there; without one, every time."""
LONGEST_KEY = 255
PAST_KEPT = 2
"""So many former states are kept, for the next question about them."""


class ServedReasoner:
    """A reasoner, its threads, its tokens and its log."""

    def __init__(
        self, reasoner: DurableReasoner, settings: ServerSettings, audit: AuditLog
    ) -> None:
        self.reasoner = reasoner
        self.settings = settings
        self.tokens = Tokens(reasoner.path)
        self._audit = audit
        self._reading = FairQueue("reader", settings.reading_threads, settings.most_waiting)
        self._writing = FairQueue("writer", settings.writing_threads, settings.most_waiting)
        self.telling = ThreadPoolExecutor(2, thread_name_prefix="teller")
        """Encodes what is told to those who follow."""
        self.started = time.monotonic()
        self.mark = secrets.token_hex(4)
        """By which this run of the server is told from others."""
        self.is_stopping = False
        """Whether the end has been asked for."""
        self.connections: set[object] = set()
        """Those that are open, but for WebSockets."""
        self.sockets: set[object] = set()
        """The WebSockets that are open."""
        self._past: OrderedDict[int, Reasoner] = OrderedDict()
        self._running: dict[tuple[str, str], threading.Event] = {}
        """The queries under way, by the id of the request and who asks."""
        self._looking_back = threading.Lock()
        self.set_aside: Counter[str] = Counter()
        """Events that clients pushed and that do not count, by reason."""
        self.when_changed: list[Callable[[int], None]] = []
        """Called in the event loop with the number of a change that is on the disk."""
        self.when_stopping: list[Callable[[], object]] = []
        """Called, perhaps by a handler of signals, when the end has been asked for."""

    # reading

    async def read(self, request: HTTPConnection, call: Callable[[], T]) -> T:
        """Make a call that changes nothing, in a thread."""
        return await self._reading.run(self.reader(request).name, call)

    def reader(self, request: HTTPConnection) -> Visitor:
        """Who asks; refused where reading is not open to them."""
        visitor = visitor_of(request, self.tokens)
        if self.settings.is_private:
            visitor.must_have(AccessScope.read)
        return visitor

    @contextmanager
    def running_query(self, request: Request) -> Iterator[threading.Event]:
        """A query that can be given up, by its client or an administrator, as long as it runs."""
        mine = request.scope["request_id"], self.reader(request).name
        stop = self._running[mine] = threading.Event()
        try:
            yield stop
        finally:
            self._running.pop(mine, None)

    def cancel(self, request: Request, request_id: str) -> bool:
        """Give up the query of a request; whether there is such a one."""
        visitor = self.reader(request)
        is_admin = visitor.token is not None and visitor.token.scope is AccessScope.admin
        found = [
            stop
            for (name, owner), stop in self._running.items()
            if name == request_id and (is_admin or owner == visitor.name)
        ]
        for stop in found:
            stop.set()
        return bool(found)

    async def tell(self, call: Callable[[], T]) -> T:
        """Make a call for those who follow live answers, in a thread that others do not need."""
        return await asyncio.get_running_loop().run_in_executor(self.telling, call)

    def snapshot(self, at: int | None = None, *, whole: bool = False) -> FactSnapshot:
        """What is true, now or after a change; called in a thread."""
        if at is None or at == self.reasoner.seq:
            return self.reasoner.snapshot(whole=whole)
        return self._as_it_was(at).snapshot(whole=whole)

    def _as_it_was(self, seq: int) -> Reasoner:
        with self._looking_back:
            if seq not in self._past:
                self._past[seq] = self.reasoner.at(seq)
                if len(self._past) > PAST_KEPT:
                    self._past.popitem(last=False)
            self._past.move_to_end(seq)
            return self._past[seq]

    # writing

    def is_too_far(self, time: int, latest: int | None) -> bool:
        """Whether a time lies further ahead of the latest one than one wrong clock may bring us."""
        most = self.settings.max_ahead
        if most is None or latest is None:
            return False
        return time > latest + points_of(most, self.reasoner.tick, rounded=True)

    def admit(self, request: Request, scope: AccessScope) -> Visitor:
        """Who makes a change, before anything of it is read; refused unless the token allows it."""
        visitor = visitor_of(request, self.tokens)
        visitor.must_have(scope)
        return visitor

    async def change(
        self, request: Request, visitor: Visitor, action: str, call: Callable[[], Delta]
    ) -> dict[str, Any]:
        """Make a change, in a thread; what it did, once it is on the disk.

        One that was made before, by the same token and with the same idempotency key, is not
        made again: what it did then is said.
        """
        once = self._once(request, visitor, action)
        return await self._change(request, visitor, action, lambda: once(call, 0))

    async def change_in_steps(
        self,
        request: Request,
        visitor: Visitor,
        action: str,
        read: Callable[[], Callable[[Once], Delta]],
    ) -> dict[str, Any]:
        """The same for several changes in one turn, of which the last says what was done.

        `read` gives what makes them, and is called before it is their turn.
        """
        once = self._once(request, visitor, action)

        def made() -> Delta:
            return self.reasoner.at_once(partial(read(), once))

        return await self._change(request, visitor, action, made)

    def _once(self, request: Request, visitor: Visitor, action: str) -> Once:
        """Makes the changes of a request in the name of its token, each once for its key."""
        key = request.headers.get("idempotency-key")
        if key is not None and not 0 < len(key) <= LONGEST_KEY:
            raise HTTPException(400, f"an idempotency key has 1 to {LONGEST_KEY} characters")

        def once(call: Callable[[], Delta], number: int | None) -> Delta:
            name = (
                None if key is None or number is None else f"{visitor.name} {action} {key} {number}"
            )
            return self.reasoner.record(call, author=visitor.name, key=name)

        return once

    async def _change(
        self, request: Request, visitor: Visitor, action: str, call: Callable[[], Delta]
    ) -> dict[str, Any]:
        def made() -> dict[str, Any]:
            with self._audited(request, visitor, action) as done:
                done.update(summary(call(), self.reasoner.now))
            return done

        try:
            done = await self._writing.run(visitor.name, made)
        except LivefactsError:
            # Time may have moved before it failed, and others may be on their way to the disk.
            seq = self.reasoner.seq
            await self.tell(self.reasoner.sync)
            self.acknowledge(seq)
            raise
        self.acknowledge(done["seq"])
        return done

    def acknowledge(self, seq: int) -> None:
        """A change is on the disk, and so are those before it; called in the event loop."""
        for tell in self.when_changed:
            tell(seq)

    @contextmanager
    def _audited(self, request: Request, visitor: Visitor, action: str) -> Iterator[dict[str, Any]]:
        done: dict[str, Any] = {}
        try:
            yield done
        except LivefactsError as error:
            self._audit.note(request, visitor, action, {"refused": type(error).__name__})
            raise
        counts = done["counts"]
        said = {"seq": done["seq"]} | {n: counts[n] for n in ("asserted", "retracted")}
        self._audit.note(request, visitor, action, said)

    # the end

    def stop(self) -> None:
        """The end is near: whoever follows live answers is told."""
        self.is_stopping = True
        for tell in self.when_stopping:
            tell()

    def close(self) -> None:
        """Let the changes under way end, and close the folder."""
        self._writing.close()
        self._reading.close()
        self.telling.shutdown()
        self.reasoner.close()

    @property
    def waiting(self) -> dict[str, int]:
        """How many requests wait for a thread."""
        return {"read": self._reading.waiting, "write": self._writing.waiting}


COUNTED = "added", "removed", "derived", "derived_removed", "asserted", "retracted", "rejected"


def summary(delta: Delta, now: int | None) -> dict[str, Any]:
    """What a change did, as plain data: its number, the time, counts, violations and hints."""
    return {
        "seq": delta.seq,
        "now": now,
        "counts": {name: delta.counts[name] for name in COUNTED},
        "violations": [str(each) for each in delta.violations],
        "resolved": [str(each) for each in delta.resolved],
        "hints": list(delta.hints),
    }

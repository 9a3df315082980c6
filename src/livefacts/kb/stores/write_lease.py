"""The lease of a writer: one at a time on a remote store, where no system gives a lock back.

Each lease has a number, and belongs to whoever is the first to put the file with the next one.  It
says who has it and until when; its owner puts that off as long as the change lasts, and says at the
end that it is free.  One that has run out belongs to the next who comes; its owner, should he still
live, finds a higher number before he commits, and gives up.  Nothing is lost by clocks that differ:
of two commits of one version a store takes one.
"""

from __future__ import annotations

import json
import os
import socket
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass

from livefacts.errors import ConflictError, LivefactsError
from livefacts.kb.stores.file_path import StorePath

FOLDER = ".lease"
SECONDS = 60.0
"""A lease runs out when it was not put off for so long."""
PUT_OFF_EVERY = 4
"""It is put off so many times before it would run out."""
DIGITS = 20
MOST_TRIES = 3
MOST_OLDER = 16
"""When there are more leases of before, they are removed."""

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Lease:
    """What the file of a lease says: whose it is, since when, and until when, in seconds."""

    owner: str
    who: str
    since: float
    until: float

    def text(self) -> bytes:
        return json.dumps(asdict(self)).encode()


class WriteLease:
    """A folder on a store that this process alone writes to, until `release`."""

    def __init__(self, path: StorePath, *, clock: Clock = time.time, renews: bool = True) -> None:
        self._path = path
        self._folder = path / FOLDER
        self._clock = clock
        self._owner = uuid.uuid4().hex
        self._number = 0
        self._older: list[str] = []
        self._lease = self._taken()
        self._over = threading.Event()
        self._renewer: threading.Thread | None = None
        if renews:
            self._renewer = threading.Thread(target=self._renew, daemon=True)
            self._renewer.start()

    # to take it

    def _taken(self) -> Lease:
        for _ in range(MOST_TRIES):
            names = sorted(name for name in self._folder.list() if name.isdigit())
            try:
                found = self._read(names[-1]) if names else None
            except FileNotFoundError:
                # Its owner has gone on to a later one.
                continue
            now = self._clock()
            if found is not None and found.until > now:
                raise self._held_by(found, now)
            self._number = int(names[-1]) + 1 if names else 1
            lease = Lease(self._owner, _who(), now, now + SECONDS)
            if self._path.store.put_if_absent(self._address(self._number), lease.text()):
                self._older = names
                return lease
        raise ConflictError(
            f"someone else has begun to write to {self._path}", hint="try again when that is done"
        )

    def _read(self, name: str) -> Lease:
        found = json.loads(self._path.store.read_put(f"{self._folder}/{name}"))
        return Lease(**found)

    def _address(self, number: int) -> str:
        return f"{self._folder}/{number:0{DIGITS}d}"

    def _held_by(self, lease: Lease, now: float) -> ConflictError:
        return ConflictError(
            f"someone else is writing to {self._path}: {lease.who}, since {now - lease.since:.0f} s",
            hint=f"wait until that is done; if it has died, its lease runs out in {lease.until - now:.0f} s",
        )

    # while it is held

    def check(self) -> None:
        """Refuse to go on if the lease has run out."""
        late = self._clock() - self._lease.until
        later = [
            name for name in self._folder.list() if name.isdigit() and int(name) > self._number
        ]
        if late > 0 or later:
            since = "and someone else has it now" if later else f"{late:.0f} s ago"
            raise ConflictError(
                f"the lease on {self._path} ran out while the change was made, {since}",
                hint="nothing was changed: try again; a process that stood still for a minute loses it",
            )

    def _renew(self) -> None:
        while not self._over.wait(SECONDS / PUT_OFF_EVERY):
            now = self._clock()
            if now > self._lease.until:
                return
            try:
                self._replace(now + SECONDS)
            except LivefactsError:
                # The store may be back before the lease has run out.
                continue

    def _replace(self, until: float) -> None:
        lease = Lease(self._owner, self._lease.who, self._lease.since, until)
        self._path.store.replace_put(self._address(self._number), lease.text())
        self._lease = lease

    def release(self) -> None:
        """Let others in."""
        if self._renewer is not None:
            self._over.set()
            self._renewer.join()
        # If the store is away, the lease runs out by itself.
        with suppress(LivefactsError):
            self._replace(0.0)
            if len(self._older) > MOST_OLDER:
                for name in self._older:
                    self._path.store.delete_folder(f"{self._folder}/{name}")


def _who() -> str:
    return f"process {os.getpid()} on {socket.gethostname()}"

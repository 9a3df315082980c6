"""Live answers that break off: nothing is lost and nothing comes twice, in every form."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.system.serving import PATIENCE, Serving, serving
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
FORMS = ("sse", "ndjson", "websocket", "poll")
TIMES = [3, pytest.param(100, marks=pytest.mark.thorough)]


def seqs(server: Serving, form: str, since: int) -> Iterator[int]:
    """The numbers of changes after this one, as they come in one form; ended by who asks."""
    if form == "websocket":
        address = f"{server.url.replace('http', 'ws', 1)}/changes?since={since}"
        # Without a bound on what it keeps: else it waits to be read, and does not notice the end.
        with connect(address, open_timeout=PATIENCE, max_queue=None) as socket:
            for message in socket:
                yield from named(json.loads(message))
        return
    kind = {"sse": "text/event-stream", "ndjson": "application/x-ndjson"}.get(form)
    if kind is None:
        prefer = {"Prefer": "wait=20"}
        told = server.get("/changes", params={"since": since}, headers=prefer).json()
        yield from (each["seq"] for each in told["events"])
        return
    headers = {"Accept": kind, "Last-Event-ID": str(since)}
    with server.client() as client, client.stream("GET", "/changes", headers=headers) as answer:
        for line in answer.iter_lines():
            text = line.removeprefix("data: ")
            if text.startswith("{"):
                yield from named(json.loads(text))


def named(said: dict[str, object]) -> Iterator[int]:
    if said.get("event") not in ("end", "lagged"):
        yield int(str(said["seq"]))


class Follower:
    """Follows changes, and breaks off again and again; what it has seen, in its order."""

    def __init__(self, form: str, since: int, seed: int) -> None:
        self.form = form
        self.seen = [since]
        self.reconnects = 0
        self._choice = random.Random(seed)

    def follow(self, server: Serving, until: int) -> None:
        """Take some events from a connection, leave it, and go on where it was."""
        while self.seen[-1] < until:
            patience = self._choice.randint(1, 5)
            try:
                for seq in seqs(server, self.form, self.seen[-1]):
                    self.seen.append(seq)
                    patience -= 1
                    if not patience or seq >= until:
                        break
            except (httpx.HTTPError, ConnectionClosed, OSError, EOFError):
                return  # the server was killed
            self.reconnects += 1


def write(server: Serving, name: str, times: int) -> int:
    last = 0
    for number in range(times):
        last = server.update(f"INSERT DATA {{ <x:{name}> <x:p> {number} }}")["seq"]
    return last


@pytest.mark.parametrize("times", TIMES)
def test_nothing_is_lost_or_doubled_over_reconnects_and_a_crash(tmp_path: Path, times: int) -> None:
    """Before the crash followers and a writer go at once; after it the followers go on."""
    with serving(tmp_path / "kb") as server:
        first = write(server, "first", 1)
        followers = [Follower(form, first, number) for number, form in enumerate(FORMS)]
        last = first + 3 * times
        threads = [threading.Thread(target=each.follow, args=(server, last)) for each in followers]
        for each in threads:
            each.start()
        assert write(server, "before", 3 * times) == last
        token = server.token
        server.kill()
        for each in threads:
            each.join()
    with serving(tmp_path / "kb", token=token) as server:
        last = write(server, "after", 3 * times)
        for follower in followers:
            follower.follow(server, last)
    for follower in followers:
        assert follower.seen == list(range(first, last + 1)), follower.form
        assert follower.reconnects >= times

"""Figures: whether the server lives and is ready, and what it does, for people and for Prometheus."""

from __future__ import annotations

import os
import time
from collections import Counter as Counts
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.followed_sources import SourceFollower

SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30)


class Meters:
    """What is counted and measured; each server has its own."""

    def __init__(self, served: ServedReasoner) -> None:
        self.registry = CollectorRegistry()
        self.requests = Counter(
            "livefacts_requests",
            "Requests that were answered",
            ["path", "method", "status"],
            registry=self.registry,
        )
        self.seconds = Histogram(
            "livefacts_request_seconds",
            "Seconds until an answer began",
            ["path"],
            buckets=SECONDS,
            registry=self.registry,
        )
        reasoner = served.reasoner
        self.follow("livefacts_facts", "Facts that are true", lambda: len(reasoner))
        self.follow("livefacts_seq", "The number of the last change", lambda: reasoner.seq)
        for kind in ("read", "write"):
            self.follow(
                f"livefacts_waiting_to_{kind}",
                "Requests that wait for a thread",
                lambda kind=kind: served.waiting[kind],
            )
        self.follow(
            "livefacts_set_aside",
            "Facts that clients pushed and that do not count",
            served.set_aside.total,
        )
        self.follow("livefacts_connections", "Open ones", lambda: len(served.connections))
        self.follow("livefacts_resident_bytes", "Memory of the process", resident_bytes)

    def follow_sources(self, followers: Sequence[SourceFollower]) -> None:
        """What comes from each source, and how many of its messages stand for nothing."""
        values: dict[tuple[str, str], Callable[[SourceFollower], float]] = {
            ("messages", "Messages since the start"): lambda each: each.messages,
            ("dead_letters", "Messages that stand for nothing"): lambda each: each.letters.count,
            ("troubled", "1 while a source is not followed"): lambda each: bool(each.trouble),
        }
        for (name, says), value in values.items():
            gauge = Gauge(f"livefacts_source_{name}", says, ["source"], registry=self.registry)
            for each in followers:
                gauge.labels(each.name).set_function(partial(value, each))

    def follow(self, name: str, says: str, value: Any) -> None:
        Gauge(name, says, registry=self.registry).set_function(value)


def resident_bytes() -> int:
    """The memory of this process; 0 where the system does not say."""
    try:
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


async def health(request: Request) -> Response:
    """The process lives."""
    return JSONResponse({"status": "alive"})


async def ready(request: Request) -> Response:
    """Queries are answered and changes are taken."""
    served: ServedReasoner = request.app.state.served
    is_ready = not served.is_stopping
    said = {"status": "ready" if is_ready else "stopping", "seq": served.reasoner.seq}
    return JSONResponse(said, 200 if is_ready else 503)


async def stats(request: Request) -> Response:
    """What is in the store, and what the server does."""
    served: ServedReasoner = request.app.state.served
    found = await served.read(request, served.reasoner.stats)
    reasoner = served.reasoner
    if "set_aside" in found:
        found["set_aside"] = Counts(found["set_aside"]) + served.set_aside
    running = {
        "seq": reasoner.seq,
        "now": reasoner.now,
        "uptime": round(time.monotonic() - served.started, 1),
        "resident_bytes": resident_bytes(),
        "waiting": served.waiting,
        "connections": len(served.connections),
        "subscribers": request.app.state.live.subscribers,
        "sources": request.app.state.sources.figures(),
    }
    return JSONResponse(plain_figures({**found, **running}))


def plain_figures(figures: Any) -> Any:
    """Figures as JSON has them: names are texts, and numbers of NumPy are numbers."""
    if isinstance(figures, dict):
        return {str(name): plain_figures(value) for name, value in figures.items()}
    if isinstance(figures, list | tuple):
        return [plain_figures(each) for each in figures]
    if figures is None or isinstance(figures, bool | int | float | str):
        return figures
    return figures.item() if hasattr(figures, "item") else str(figures)


async def metrics(request: Request) -> Response:
    """The same for Prometheus."""
    meters: Meters = request.app.state.meters
    return Response(generate_latest(meters.registry), media_type=CONTENT_TYPE_LATEST)

"""ServerSettings: what a server allows, said once."""

from __future__ import annotations

from dataclasses import dataclass

from livefacts.errors import OptionError

PORT = 7878
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """The limits of a server, and who may ask; sizes are in bytes, times in seconds."""

    query_seconds: float = 30.0
    query_bytes: int = 1 << 30
    query_rows: int = 1_000_000
    change_seconds: float = 60.0
    change_bytes: int = 2 << 30
    body_bytes: int = 64 << 20
    client_seconds: float = 30.0
    """How long a client may take to send a request, and to take a piece of the answer."""
    reading_threads: int = 4
    writing_threads: int = 4
    """Writers take turns; those who wait share the way to the disk."""
    most_waiting: int = 64
    """So many requests of one client wait at the most."""
    connections: int = 2_000
    buffered: int = 4_096
    """So many events wait for a slow reader of a live answer, before it is told that it lags."""
    max_ahead: str | None = "1 h"
    """What lies further ahead of now is set aside: one wrong clock would move time for good."""
    has_page: bool = True
    is_private: bool = False
    """Whether reading needs a token, too."""
    origins: tuple[str, ...] = ("*",)
    """The pages that may ask from a browser."""

    def __post_init__(self) -> None:
        for name in ("query_seconds", "change_seconds", "client_seconds", "body_bytes"):
            if getattr(self, name) <= 0:
                raise OptionError(f"{name} is {getattr(self, name)}", hint="give more than 0")

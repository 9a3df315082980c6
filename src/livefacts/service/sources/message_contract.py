"""The contract of messages: messages with positions, and a way to stop.

A position says how far a source has been read, up to and with a message.  It is written into
the journal together with what the message brought; after any end the source is asked for what
comes behind it.  A source that cannot go back, such as standard input, has none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import SplitResult, parse_qs

from livefacts.errors import InputError, OptionError

PATIENCE = 0.2
"""Seconds after which a source that is silent looks whether it is to stop."""
Say = Callable[[str], None]
AGAIN = "is there again"
"""How what is said ends when all is well again."""


@dataclass(frozen=True, slots=True)
class Message:
    """A message, how far its source is read with it, and a name that no other message has."""

    text: bytes
    position: str | None
    event: str
    place: str
    """Where it stands, for people."""


class MessageSource(Protocol):
    """Where messages come from."""

    @property
    def name(self) -> str:
        """What the journal calls it."""

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """The messages behind a position, as they come, until it is stopped or ends.

        None stands for a while without any.
        """

    def done(self, message: Message) -> None:
        """A message, and all before it, need never come again."""

    def stop(self) -> None:
        """End `messages` soon; may be called by any thread."""


def settings_of(url: SplitResult, known: tuple[str, ...]) -> dict[str, str]:
    """What stands behind the question mark of an address."""
    given = {name: values[-1] for name, values in parse_qs(url.query).items()}
    for name in given:
        if name not in known:
            raise OptionError(
                f"{url.scheme}:// has no setting {name}", hint=f"there are {', '.join(known)}"
            )
    return given


def missing_extra(package: str, extra: str) -> InputError:
    """The error where the package that talks to a broker is not installed."""
    return InputError(
        f"{extra}:// needs the package {package}", hint=f"pip install 'livefacts[{extra}]'"
    )

"""MQTT: the messages of a topic of a broker, each once.

The broker keeps what comes while nobody reads, for a client of this name (`?client=`), and gives
each message until it is acknowledged, which is done when the journal has it.  If the process ends in
between, the same message comes again, with the same packet number: the position has the last
ones that were journaled, and those are passed over.  It has all of which the broker may not know yet:
some have more on the way than they were told to, so that each is asked whether it has read so far.
"""

from __future__ import annotations

import hashlib
import queue
import threading
from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote
from uuid import uuid4

from livefacts.errors import InputError, OptionError
from livefacts.service.sources.message_contract import (
    AGAIN,
    PATIENCE,
    Message,
    Say,
    missing_extra,
    settings_of,
)

if TYPE_CHECKING:
    from paho.mqtt.client import Client, MQTTMessage

MOST_UNDERWAY = 20
"""Messages that are not acknowledged, at most, if the broker minds that."""
NOWHERE = "livefacts/nowhere"
"""A topic that is never subscribed to: the answer to its end says that all before it was read."""
KEPT_FOR = 7 * 24 * 3600
"""Seconds for which a broker keeps what comes while nobody reads."""
PORT = 1883
LONGEST_WAIT = 30
"""Seconds before a connection is tried again, at most."""


class MqttTopic:
    """A topic, wildcards too: `mqtt://user:password@host:1883/home/+/temperature?qos=1&client=x`."""

    def __init__(self, url: SplitResult, say: Say) -> None:
        given = settings_of(url, ("qos", "client"))
        self._topic = unquote(url.path.lstrip("/") + (f"#{url.fragment}" if url.fragment else ""))
        if url.path.endswith("/") and url.geturl().endswith("#"):
            self._topic += "#"
        if not url.hostname or not self._topic:
            raise OptionError("mqtt:// needs a host and a topic", hint="mqtt://localhost/sensors/#")
        if given.get("qos", "1") not in ("0", "1", "2"):
            raise OptionError(f"qos is 0, 1 or 2, not {given['qos']}")
        self._url, self._say = url, say
        self._qos = int(given.get("qos", "1"))
        self.name = f"mqtt://{url.hostname}:{url.port or PORT}/{self._topic}"
        digest = hashlib.sha256(self.name.encode()).hexdigest()[:12]
        self._client_name = given.get("client", f"livefacts-{digest}")
        self._come: queue.Queue[MQTTMessage | InputError | None] = queue.Queue()
        self._last: deque[str] = deque()
        """Those that were given last: all of which the broker may not know yet."""
        self._asked: tuple[int | None, int] | None = None
        """The packet that asks how far the broker has read, and how many it does not speak of."""
        self._given: deque[tuple[Message, MQTTMessage, str]] = deque()
        self._giving = threading.Lock()
        self._run, self._count = uuid4().hex[:12], 0
        self._client: Client | None = None
        self._is_gone = False

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """Each message that the position has not."""
        self._last.extend((position or "").split())
        self._client = client = self._connected()
        try:
            while True:
                try:
                    come = self._come.get(timeout=PATIENCE)
                except queue.Empty:
                    yield None
                    continue
                if come is None:
                    return
                if isinstance(come, InputError):
                    raise come
                yield from self._new(come, client)
        finally:
            client.disconnect()
            client.loop_stop()

    def _new(self, come: MQTTMessage, client: Client) -> Iterator[Message]:
        digest = hashlib.sha256(come.topic.encode() + b"\0" + come.payload).hexdigest()[:16]
        mark = f"{come.mid}-{digest}"
        with self._giving:
            if come.qos and mark in [given for _, _, given in self._given]:
                return
            if come.qos and mark in self._last:
                client.ack(come.mid, come.qos)
                return
            self._count += 1
            event = mark if come.qos else f"{self._run}-{self._count}"
            self._last.extend([mark] if come.qos else [])
            if come.qos and self._asked is not None:
                self._asked = self._asked[0], self._asked[1] + 1
            position = " ".join(self._last) if come.qos else None
            made = Message(bytes(come.payload), position, f"{come.topic}:{event}", come.topic)
            self._given.append((made, come, mark))
        yield made

    def done(self, message: Message) -> None:
        """Acknowledge it, and those before it."""
        with self._giving:
            while self._given and self._client is not None:
                made, come, _ = self._given.popleft()
                self._client.ack(come.mid, come.qos)
                if made is message:
                    break
            self._ask(self._client)

    def _ask(self, client: Client | None) -> None:
        """Ask the broker to answer when it has read all that was acknowledged, unless it is asked already."""
        if client is not None and self._asked is None and len(self._last) > MOST_UNDERWAY:
            left = sum(1 for _, come, _ in self._given if come.qos)
            self._asked = client.unsubscribe(NOWHERE)[1], left

    def _has_read(self, _client: Client, _data: Any, packet: int, *_more: Any) -> None:
        """The broker knows what was acknowledged before it was asked: that does not come again."""
        with self._giving:
            if self._asked is not None and self._asked[0] == packet:
                kept = max(self._asked[1], MOST_UNDERWAY)
                self._asked = None
                while len(self._last) > kept:
                    self._last.popleft()

    def stop(self) -> None:
        """End after what has come."""
        self._come.put(None)

    def _connected(self) -> Client:
        try:
            from paho.mqtt import client as paho
            from paho.mqtt.enums import CallbackAPIVersion
            from paho.mqtt.packettypes import PacketTypes
            from paho.mqtt.properties import Properties
        except ImportError:
            raise missing_extra("paho-mqtt", "mqtt") from None
        client = paho.Client(
            CallbackAPIVersion.VERSION2,
            client_id=self._client_name,
            protocol=paho.MQTTv5,
            manual_ack=True,
        )
        if self._url.username:
            client.username_pw_set(unquote(self._url.username), unquote(self._url.password or ""))
        client.on_connect, client.on_disconnect = self._subscribe, self._say_gone
        client.on_unsubscribe = self._has_read
        client.on_message = lambda _client, _data, come: self._come.put(come)
        client.reconnect_delay_set(1, LONGEST_WAIT)
        settings = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        settings.SessionExpiryInterval, settings.ReceiveMaximum = KEPT_FOR, MOST_UNDERWAY
        host, port = self._url.hostname or "", self._url.port or PORT
        try:
            client.connect(host, port, clean_start=False, properties=settings)
        except OSError as error:
            raise InputError(
                f"cannot reach {host}:{port}: {error}", hint="is the broker running there?"
            ) from error
        client.loop_start()
        return client

    def _subscribe(self, client: Client, _data: Any, _flags: Any, reason: Any, _more: Any) -> None:
        if reason.is_failure:
            self._come.put(InputError(f"{self.name} refuses the connection: {reason}"))
        else:
            from paho.mqtt.subscribeoptions import SubscribeOptions

            # What the broker retains is new to a new subscription alone.
            options = SubscribeOptions(self._qos, retainHandling=1)
            client.subscribe(self._topic, options=options)
            with self._giving:
                self._asked = None  # the answer went with the connection before
            if self._is_gone:
                self._is_gone = False
                self._say(f"{self.name} {AGAIN}")

    def _say_gone(self, _client: Client, _data: Any, _flags: Any, reason: Any, _more: Any) -> None:
        if reason.is_failure:
            self._is_gone = True
            # What was not acknowledged comes again, with its number: it is no new message.
            self._say(f"{self.name} is gone ({reason}); it is tried again")

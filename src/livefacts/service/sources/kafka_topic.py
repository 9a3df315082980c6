"""Kafka: the messages of a topic, partition by partition, each once.

How far each partition was read is the position, and the journal has it; Kafka itself keeps no
offsets for us, and there is no group.  A topic that nobody has read yet is read from its beginning,
or with `?from=now` from its end.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, unquote

from livefacts.errors import InputError, OptionError
from livefacts.service.sources.message_contract import (
    PATIENCE,
    Message,
    Say,
    missing_extra,
    settings_of,
)

if TYPE_CHECKING:
    from confluent_kafka import Consumer

BEGINNING, NOW = "beginning", "now"
PATIENCE_FIRST = 10
"""Seconds in which a broker has to answer at first; later it is waited for."""
MOST_AT_ONCE = 500


class KafkaTopic:
    """A topic: `kafka://host:9092/topic?from=now`."""

    def __init__(self, url: SplitResult, say: Say) -> None:
        given = settings_of(url, ("from",))
        self._topic = unquote(url.path.strip("/"))
        if not url.hostname or not self._topic:
            raise OptionError("kafka:// needs a host and a topic", hint="kafka://localhost:9092/x")
        self._first = given.get("from", BEGINNING)
        if self._first not in (BEGINNING, NOW):
            raise OptionError(f"from is {BEGINNING} or {NOW}, not {self._first}")
        self._broker = f"{url.hostname}:{url.port or 9092}"
        self._say = say
        self.name = f"kafka://{self._broker}/{self._topic}"
        self._stopped = threading.Event()

    def messages(self, position: str | None) -> Iterator[Message | None]:
        """Each message behind the position, in the order of its partition."""
        read: dict[str, int] = json.loads(position) if position else {}
        consumer = self._consumer()
        try:
            self._assign(consumer, read)
            while not self._stopped.is_set():
                come = consumer.consume(MOST_AT_ONCE, PATIENCE)
                if not come:
                    yield None
                for each in come:
                    if each.error() is not None:
                        self._report(each.error())
                        continue
                    yield self._message(each, read)
        finally:
            consumer.close()

    def _message(self, come: Any, read: dict[str, int]) -> Message:
        partition, offset = come.partition(), come.offset()
        read[str(partition)] = offset + 1
        place = f"{self._topic}:{partition}:{offset}"
        return Message(come.value() or b"", json.dumps(read), f"{self._broker}:{place}", place)

    def done(self, message: Message) -> None:
        """The journal has its offset."""

    def stop(self) -> None:
        """End soon."""
        self._stopped.set()

    def _consumer(self) -> Consumer:
        try:
            from confluent_kafka import Consumer
        except ImportError:
            raise missing_extra("confluent-kafka", "kafka") from None
        return Consumer(
            {
                "bootstrap.servers": self._broker,
                # A group is asked for by the client, and never joined: partitions are assigned.
                "group.id": "livefacts",
                "enable.auto.commit": False,
                "auto.offset.reset": "error",
                "log_level": 2,
            }
        )

    def _assign(self, consumer: Consumer, read: dict[str, int]) -> None:
        from confluent_kafka import OFFSET_BEGINNING, OFFSET_END, KafkaException, TopicPartition

        try:
            found = consumer.list_topics(self._topic, timeout=PATIENCE_FIRST).topics[self._topic]
        except KafkaException as error:
            raise InputError(
                f"cannot reach {self._broker}: {error.args[0].str()}",
                hint="is the broker running there?",
            ) from None
        if found.error is not None or not found.partitions:
            raise InputError(f"{self._broker} has no topic {self._topic}", hint="make it first")
        first = OFFSET_BEGINNING if self._first == BEGINNING else OFFSET_END
        # Partitions that are new since the last time are read from their beginning.
        unread = OFFSET_BEGINNING if read else first
        consumer.assign(
            [
                TopicPartition(self._topic, partition, read.get(str(partition), unread))
                for partition in found.partitions
            ]
        )

    def _report(self, error: Any) -> None:
        if error.name() == "_AUTO_OFFSET_RESET":
            raise InputError(
                f"{self.name} no longer has what comes next: {error.str()}",
                hint="it is kept too short; a new folder begins with what is there",
            )
        if error.fatal():
            raise InputError(f"{self.name}: {error.str()}")
        self._say(f"{self.name}: {error.str()}; it is tried again")

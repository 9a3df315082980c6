"""The MQTT data source: `format("mqtt")`, messages of a broker, kept until the stream has them.

A broker gives a message once, and Spark may ask for it again.  So messages are written to a
folder of the driver first, and acknowledged when they are on its disk; the offset is the number of
a message there.  What the stream has done with is removed from it.
"""

from __future__ import annotations

import base64
import hashlib
import json
import logging
import os
import threading
from collections.abc import Iterator
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pyspark.sql.datasource import DataSource, SimpleDataSourceStreamReader
from pyspark.sql.types import StructType

from livefacts.engine.spark.formats.folder_stream import position_in

LOG = logging.getLogger("livefacts.streams")
NAME = "mqtt"
COLUMNS = "value binary, topic string, partition int, offset long"
LISTENER = "livefacts.service.sources.mqtt_topic", "MqttTopic"
"""What listens to a broker, by name: sources of a reasoner stand above this room."""
NUMBER = "number"
PER_FILE = 10_000
MOST_ROWS = 50_000
Row = tuple[bytes, str, int, int]


class MqttSource(DataSource):
    """Topics of an MQTT broker as rows."""

    @classmethod
    def name(cls) -> str:
        """What `format` calls it."""
        return NAME

    def schema(self) -> str:
        """The columns of what is read."""
        return COLUMNS

    def simpleStreamReader(self, schema: StructType) -> SimpleDataSourceStreamReader:  # noqa: N802
        """What listens to the broker."""
        from livefacts.errors import InputError
        from livefacts.store.machine_code import user_cache_directory

        address = self.options.get("path", "")
        if not address.startswith("mqtt://"):
            raise InputError(
                "no broker to read", hint='load("mqtt://localhost/sensors/#") names one'
            )
        digest = hashlib.sha256(address.encode()).hexdigest()[:16]
        folder = self.options.get("spool") or user_cache_directory() / "mqtt" / digest
        return MqttReader(address, Path(folder))


class Spool:
    """Messages on disk, numbered, in files of some thousands."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._lock = threading.Lock()
        self.end, self.position = self._last()

    def _files(self) -> list[tuple[int, Path]]:
        found = ((int(path.stem), path) for path in self._folder.glob("*.jsonl"))
        return sorted(found)

    def _last(self) -> tuple[int, str | None]:
        """The number of the next message, and how far the broker was read."""
        number, position = 0, None
        for first, path in reversed(self._files()):
            whole = path.read_bytes()
            lines = whole[: whole.rfind(b"\n") + 1].splitlines(keepends=True)
            number = number or first + len(lines)
            if len(whole) > sum(map(len, lines)):
                # A line that was cut off was not acknowledged, and comes again.
                with path.open("r+b") as file:
                    file.truncate(sum(map(len, lines)))
            if lines:
                # The last file may have nothing but a line that was cut off.
                position = json.loads(lines[-1])["position"]
                break
        return number, position

    def add(self, value: bytes, topic: str, position: str | None) -> None:
        """Write a message down; it is on the disk when this returns."""
        text = base64.b64encode(value).decode()
        line = json.dumps({"value": text, "topic": topic, "position": position})
        with self._lock:
            first = self.end - self.end % PER_FILE
            with (self._folder / f"{first:012d}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")
                file.flush()
                os.fsync(file.fileno())
            self.end += 1

    def rows(self, start: int, end: int) -> Iterator[Row]:
        """The messages from one number to before another."""
        for first, path in self._files():
            if first + PER_FILE <= start or first >= end:
                continue
            with path.open("rb") as file:
                lines = islice(enumerate(file, first), max(0, start - first), end - first)
                for number, line in lines:
                    found = json.loads(line)
                    yield base64.b64decode(found["value"]), found["topic"], 0, number

    def drop(self, before: int) -> None:
        """Remove files all of whose messages are done with, but for the last one."""
        for first, path in self._files()[:-1]:
            if first + PER_FILE <= before:
                path.unlink()


class MqttReader(SimpleDataSourceStreamReader):
    """Reads the spool, into which a thread writes what comes."""

    def __init__(self, address: str, folder: Path) -> None:
        self._address = address
        self._folder = folder
        self._spool: Spool | None = None
        self._failure: BaseException | None = None

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        """What was kept before the stream began is part of it."""
        return {NUMBER: 0}

    def read(self, start: dict[str, Any]) -> tuple[Iterator[Row], dict[str, Any]]:
        """What has come since."""
        spool = self._listening()
        if self._failure is not None:
            raise self._failure
        first = position_in(start, NUMBER)
        end = min(spool.end, first + MOST_ROWS)
        return spool.rows(first, end), {NUMBER: max(end, first)}

    def readBetweenOffsets(self, start: dict[str, Any], end: dict[str, Any]) -> Iterator[Row]:  # noqa: N802
        """The same messages again."""
        return self._listening().rows(position_in(start, NUMBER), end[NUMBER])

    def commit(self, end: dict[str, Any]) -> None:
        """The stream has them."""
        self._listening().drop(end[NUMBER])

    def _listening(self) -> Spool:
        if self._spool is None:
            self._spool = Spool(self._folder)
            threading.Thread(target=self._listen, args=(self._spool,), daemon=True).start()
        return self._spool

    def _tell(self, trouble: str) -> None:
        if trouble:
            LOG.warning("%s: %s", self._address, trouble)

    def _listen(self, spool: Spool) -> None:
        try:
            listener = getattr(import_module(LISTENER[0]), LISTENER[1])
            topic = listener(urlsplit(self._address), self._tell)
            for message in topic.messages(spool.position):
                if message is not None:
                    spool.add(message.text, message.place, message.position)
                    topic.done(message)
        except BaseException as error:
            self._failure = error

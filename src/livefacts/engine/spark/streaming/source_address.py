"""Addresses of streams: `kafka://host/topic`, `mqtt://host/topic` or a folder, as streaming DataFrames.

Limits are set so that a backlog is taken in pieces which fit into the driver, whatever waits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, unquote, urlsplit

from livefacts.errors import InputError, LivefactsError, OptionError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ADDRESSES = "kafka://host:9092/topic, mqtt://host/topic, a folder of patches or of text"
MOST_OFFSETS = 100_000
"""Messages of Kafka in one micro-batch, at most."""
MOST_FILES = 100
CONNECTOR = (
    "--packages org.apache.spark:spark-sql-kafka-0-10_2.13:VERSION of this Spark for spark-submit, or "
    "the setting spark.jars with its jars: docs/streaming.md"
)
IS_PATCH = r"\.(rdfp|patch)(\.gz|\.zst)?$"


def source_frame(session: SparkSession, address: str) -> DataFrame:
    """The messages at an address.

    Kafka is read from its beginning, or `?from=now` from its end; `?max=` bounds a micro-batch.
    """
    url = urlsplit(address)
    match url.scheme:
        case "kafka":
            return _kafka(session, address)
        case "mqtt":
            return session.readStream.format("mqtt").load(address)
        case "" | "file" | "s3" | "s3a" | "hdfs" | "gs" | "abfss":
            return _folder(session, address.removeprefix("file://"))
    raise OptionError(f"{address} is no source of a stream", hint=f"sources are {ADDRESSES}")


def _kafka(session: SparkSession, address: str) -> DataFrame:
    url = urlsplit(address)
    topic = unquote(url.path.strip("/"))
    given = {name: values[-1] for name, values in parse_qs(url.query).items()}
    unknown = sorted(given.keys() - {"from", "max"})
    if unknown or given.get("from", "now") not in ("now", "beginning"):
        raise OptionError(f"{address}: kafka:// has the settings from=now or beginning, and max=")
    if not url.hostname or not topic:
        raise OptionError("kafka:// needs a host and a topic", hint="kafka://localhost:9092/facts")
    reader = (
        session.readStream.format("kafka")
        .option("kafka.bootstrap.servers", url.netloc if url.port else f"{url.netloc}:9092")
        .option("subscribe", topic)
        .option("startingOffsets", "latest" if given.get("from") == "now" else "earliest")
        .option("maxOffsetsPerTrigger", given.get("max", str(MOST_OFFSETS)))
        .option("includeHeaders", "true")
    )
    try:
        return reader.load()
    except Exception as error:
        if "kafka" not in str(error).lower():
            raise
        raise LivefactsError("this Spark has no connector for Kafka", hint=CONNECTOR) from error


def _folder(session: SparkSession, path: str) -> DataFrame:
    """The files of a folder: patches as patches, all others as lines of text."""
    from pyspark.sql import functions as F  # noqa: N812

    from livefacts.kb.stores.file_path import store_path

    found = store_path(path)
    if found.is_local and not found.folder.is_dir():
        raise InputError(f"there is no folder {path}", hint="make it first; it may be empty")
    patches = session.readStream.format("rdfpatch").load(path)
    reader = session.readStream.option("maxFilesPerTrigger", MOST_FILES)
    texts = reader.text(path).selectExpr(
        "value",
        # As the other source names files, so that those of one time are in the order of names.
        "regexp_replace(_metadata.file_path, '^file:/+', '/') AS file",
        "CAST(NULL AS long) AS line",
        "_metadata.file_modification_time AS time",
    )
    return patches.unionByName(texts.where(~F.col("file").rlike(IS_PATCH)))

"""Sources of a session: the formats of livefacts, made known to a session of Spark."""

from __future__ import annotations

from pyspark.sql import SparkSession

from livefacts.engine.spark.formats.delta_source import DeltaSource
from livefacts.engine.spark.formats.mqtt_source import MqttSource
from livefacts.engine.spark.formats.patch_source import RdfPatchSource
from livefacts.engine.spark.formats.timed_source import TimedRdfSource
from livefacts.engine.spark.read.rdf_data_source import RdfDataSource

SOURCES = (RdfDataSource, RdfPatchSource, TimedRdfSource, MqttSource, DeltaSource)


def register(spark: SparkSession) -> SparkSession:
    """Make the formats of livefacts known to a session: "rdf", "rdfpatch", "timed-rdf", "mqtt", "deltas".

    `livefacts.spark.session` does it itself.
    """
    for source in SOURCES:
        spark.dataSource.register(source)
    return spark

"""Formats of streams for Spark, usable without a knowledge base: data sources and sinks.

In: folders of RDF Patch and of stream files, topics of MQTT, a table of deltas.
Out: streaming DataFrames, and files of RDF Patch.

- `folder_stream`: a folder as a stream: each file once, in the order in which they came
- `patch_lines`: the rows of a patch, each of which stands on its own
- `patch_source`: `format("rdfpatch")`: files of RDF Patch in and out
- `patch_sink`: what writes them, each micro-batch once
- `timed_source`: `format("timed-rdf")`: facts with times, in every format of streams
- `mqtt_source`: `format("mqtt")`: messages of a broker, kept until the stream has them
- `delta_source`: `format("deltas")`: what a stream has added and removed
- `session_sources`: all of them, made known to a session

Design: docs/design/0027-streams-on-spark.md
"""

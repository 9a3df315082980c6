"""Streams on Spark: micro-batches of messages become changes of a knowledge base, each once.

In: a streaming DataFrame of messages, from files, Kafka or any other source of Spark.
Out: commits, one for each micro-batch; messages that cannot be read, set aside.

- `message_rows`: the messages of a micro-batch, whatever its source, in the order of their times
- `source_address`: `kafka://`, `mqtt://` or a folder, as a streaming DataFrame
- `operations`: what messages add and remove; of several operations on a fact, the last
- `delta_output`: what each change adds and removes, as rows of a Delta table
- `batch_figures`: what each micro-batch brought, as log, table, listener and metrics
- `maintained_stream`: the streaming query that makes each micro-batch one change

Design: docs/design/0027-streams-on-spark.md
"""

"""The Spark engine: a knowledge base as tables, filled and kept true by tasks of a cluster.

`pipeline` is what users talk to.  This is the only room that imports pyspark.

In: files, facts and rules that come and go.
Out: commits of a knowledge base (`kb`), reports, DataFrames of facts and deltas.

- `java`: which Java Spark is started with
- `session`: the Spark session, each setting with its reason
- `store_settings`: what its settings say of a remote store, in the words of deltalake
- `archive`: this package and what its tasks need, for executors that have none of it
- `jobs`: what every stage works with: session and tasks, tables as DataFrames, a report
- `read`: files and asked changes to rows of hash ids, in buckets
- `single`: rules that follow single triples: schema in the driver, buckets by tasks
- `joins`: general rules: semi-naive evaluation and delete-and-rederive as rounds of joins
- `local`: general rules that fit into memory: the embedded engine over the tables
- `road_choice`: which of these roads a change takes
- `optimizer`: changes folded into facts, small files into larger ones, vacuum
- `table_verification`: everything computed anew, and compared with what the tables say
- `sparql`: queries over the tables, as one DataFrame
- `sql_views`: a version as a database of views
- `watch`: continuous queries over update messages, as streaming DataFrames
- `formats`: data sources and sinks of streams, usable on their own
- `streaming`: streams of messages, each micro-batch a change
- `pipeline`: the door: ingest, materialize, update, change rules, read

Paper: DynamiTE (parallel materialization, and its maintenance).
Design: docs/design/0007-spark-and-delta.md, docs/design/0008-rules-as-joins.md,
docs/design/0026-dataframes-in-and-out.md, docs/design/0028-what-scale-costs.md
"""

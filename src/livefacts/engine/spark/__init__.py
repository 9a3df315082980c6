"""The Spark engine: a knowledge base as tables, filled and kept true by tasks of a cluster.

`pipeline` is what users talk to.  This is the only room that imports pyspark.
Paper: DynamiTE (parallel materialization, and its maintenance).

- `java`: Java for Spark: which one is taken, and where it is
- `jobs`: Jobs: what every stage of the pipeline works with: the session and its tasks, tables as DataFrames, a report
- `joins`: General rules on Spark: semi-naive evaluation and delete-and-rederive as rounds of joins of DataFrames
- `local`: General rules that fit into the driver's memory: the embedded engine over the tables of a knowledge base
- `optimizer`: Optimizing: changes are folded into facts, small files into larger ones, and room is made
- `pipeline`: The pipeline: a knowledge base in a folder, filled and kept true by Spark
- `read`: Reading: files and asked changes become rows of hash ids in buckets
- `road_choice`: Changing a knowledge base: by which road a change of facts or of rules is followed
- `session`: The Spark session: one builder, its settings, and the reason for each
- `single`: Rules that follow single triples, on Spark: the schema closed in the driver, buckets followed by tasks
- `watch`: Continuous queries on Spark: update messages in, changes of answers out, as streaming DataFrames
"""

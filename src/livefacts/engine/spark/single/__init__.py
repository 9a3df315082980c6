"""Rules that follow single triples, on Spark: the schema in the driver, buckets by tasks.

In: asserted triples by bucket, a program, or what comes and goes.
Out: facts with their support counts; signed rows of a change.

- `closure`: all conclusions, in one job of two stages
- `driver_change`: a small change, in the driver's memory
- `bucket_change`: the bodies of the tasks of a large change
- `task_change`: a large change: jobs over all buckets, one commit
- `frame_change`: a change of DataFrames, of which no row is in the driver

Paper: DynamiTE, sections 3 to 5.
Design: docs/design/0003-single-triples.md, docs/design/0007-spark-and-delta.md
"""

"""A knowledge base in a folder: tables, their log, the marker, and a reasoner's checkpoint; no Spark is needed.

In: asserted and derived facts, rules, graphs.  Out: the same at any version.  Both engines live on it: a
reasoner opens and writes it in one process, a pipeline fills it by the tasks of a cluster.

- `bucket_stages`: The stages as tasks: buckets, and what is asked, followed and published in each
- `buckets`: Exchange between stages: files in which each bucket's rows are a record batch of their own
- `checkpoint`: Between a knowledge base on disk and one process: told facts out of the tables, and back
- `clashes`: Terms apart: no two texts with the same id
- `compaction`: Merging: the small files of many changes become one, so that a later change costs as the first
- `consequences`: What follows from single triples, by table: what tasks are told, and what they do with it
- `delta_log`: The log of a Delta table: files are appended to it by one small entry, and nothing is read
- `failures`: Failures: what Spark, Arrow and Delta say when something breaks, in a sentence or two
- `graph_rows`: Named graphs in the tables: which graph tells which triple
- `id_map`: Terms in the driver's memory under two names: a dictionary's number, and the id of the tables
- `live_buckets`: The state in the driver's memory: buckets as sorted columns, and what has changed since
- `marker`: The folder of a knowledge base: what it is, who may write to it, and what is left behind
- `predicate_rows`: Predicate facts as rows: out of their tables by shape, added up, and back
- `rule_table`: The table of rules: the program as one text, in which every rule keeps its id
- `schema_closure`: Closing the schema in the driver: from schema triples to the consequences of every kind
- `tables`: The knowledge base as tables: open files, and one table that says which of them count
- `term_encoding`: Encoding: terms become 64-bit ids that need no table, wherever it happens
- `term_rows`: Terms in the tables: how texts become ids at a commit, and the files that add new ones
- `vacuum`: Vacuum: data files that no kept version needs are removed
"""

"""A knowledge base in a folder or on a remote store: Delta tables, one table of commits, a marker.

No Spark is needed.  Both engines live on it: a reasoner opens and writes it in one process, a pipeline fills it by
the tasks of a cluster.  Terms have 64-bit hash ids here.  The column `told` of the tables says
whether a fact is asserted: saved files keep the name.

In: asserted and derived facts, rules, named graphs, as rows of hash ids.
Out: the same at any version (a snapshot), and what changed between two.

- `stores`: where its files are, and every operation on them
- `marker`: what the folder is, and what was left behind
- `delta_log`: the log of one Delta table, appended to by one small entry
- `commits`: the states of all tables together, found by number and by batch
- `tables`: all tables, and `commits`, the one that says which versions count
- `file_digests`: tables that are on the disk, and digests of their files
- `failures`: what Arrow, Delta and Spark say when something breaks, in a sentence
- `term_encoding`: terms to hash ids, and the ids that keep two texts with the same hash apart
- `term_rows`: the terms that a commit adds
- `id_map`: hash ids and the numbers of a process's dictionary, both ways
- `rule_table`: the program as text, in which every rule keeps its id
- `graph_rows`: which named graph asserts which triple, as signed rows
- `predicate_rows`: predicate facts by arity
- `change_rows`: what a change writes: one signed row for each fact that it touches
- `buckets`: rows by bucket, and the blocks in which they go from stage to stage
- `schema_closure`: the schema closed in the driver, and what follows from every kind of triple
- `consequences`: these consequences as a table that tasks look up
- `bucket_stages`: the bodies of tasks: survey, follow and publish one bucket
- `live_buckets`: buckets in the driver's memory, with what has changed since
- `compaction`: the small files of many changes become one
- `vacuum`: data files that no kept version needs are removed
- `unsaved_changes`: which facts differ from the last version, as ids, with their signs
- `checkpoint`: a reasoner's state out of the tables, and back

Paper: DynamiTE, sections 3 to 5 (compressed input, derivations from single triples).
Design: docs/design/0007-spark-and-delta.md, docs/design/0014-rooms.md,
docs/design/0023-stores.md, docs/design/0024-rows-between-stages.md,
docs/design/0028-what-scale-costs.md
"""

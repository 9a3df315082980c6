"""Reading on Spark: files and asked changes become rows of hash ids in buckets.

In: paths, DataFrames of texts, facts as text or objects.
Out: asserted triples, predicate facts, named graphs and terms, each once, by bucket.

- `splits`: the pieces of input that one task reads
- `split_reader`: one split to pieces of encoded facts, and rejects
- `bucket_intake`: the tasks: read and send to buckets, then deduplicate each bucket
- `resumption`: a change that was cut off goes on after its last finished job
- `frame_columns`: the columns of facts as DataFrames
- `row_statements`: rows of texts, a column for each term, as statements
- `frame_source`: a DataFrame as one more thing that reading tasks read
- `rdf_data_source`: files of RDF as a DataFrame, `spark.read.format("rdf")`
- `rdf_reader`: what reads them in tasks
- `ingestion`: the door for files and DataFrames: one job of two stages, and one commit
- `asked_facts`: the facts that a change asks for, as ids
- `table_terms`: the dictionary in the tables, and the terms that rules add
- `predicate_change`: which predicate facts are asserted, where no rule speaks of them
- `graph_change`: which graphs assert a triple, and whether any still does

Paper: DynamiTE, section 3.1 (compress the input).
Design: docs/design/0007-spark-and-delta.md, docs/design/0026-dataframes-in-and-out.md
"""

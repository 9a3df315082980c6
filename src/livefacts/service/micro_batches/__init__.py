"""Micro-batches: streams that Spark reads, followed by a reasoner whose answers are there once.

In: a streaming DataFrame, a registered query or a program with time, and a knowledge base.
Out: a table of answers, or a file of them for each batch.

- `batch_events`: the rows of a batch as facts with times, in an order that no cut can change
- `knowledge_background`: the facts and rules of a knowledge base, followed from version to version
- `answer_rows`: what was concluded or reported, as rows
- `answer_files`: a table, or a folder of files, that has each batch once
- `stream_reasoner`: a batch taken in, its answers written, and both done once
- `keyed_groups`: a program followed for each key by itself, as values
- `keyed_stream`: these groups in the tasks of Spark
- `keyed_answers`: what they have found, written once
- `stream_pipeline`: the door: `register` and `run`
"""

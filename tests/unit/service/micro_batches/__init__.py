"""Tests of streams in micro-batches: answers that no cut and no end of a process changes.

- `test_answer_files`: answers of several streams at one place
- `cut_streams`: streams cut at random, and the same rows given to one reasoner
- `test_cuts`: answers do not depend on where a stream is cut
- `test_ended_batches`: batches that are cut off, also by kill -9, and come again
- `test_keyed_groups`: programs followed by key, beside one reasoner
- `test_stream_pipeline`: queries and programs beside a stream that Spark reads
"""

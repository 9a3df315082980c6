"""Reading: files and asked changes become rows of hash ids in buckets.

- `asked_facts`: Telling: facts of every shape on their way into a change, as ids
- `bucket_intake`: Settling: what was read is put into buckets, and each bucket takes in what is new
- `graph_change`: Changes of graphs: who tells a triple, and whether anyone still does
- `ingestion`: Ingesting: files become told triples and terms, deduplicated, in one commit
- `predicate_change`: Predicate facts in the driver: which of them are told, where no rule speaks of them
- `resumption`: Resuming: a change that was cut off goes on after the last stage that it had finished
- `split_reader`: Reading in tasks: a split of text becomes pieces of encoded facts
- `splits`: Splits: the pieces of input that one task reads
- `table_terms`: The dictionary in the tables, as rules that join need it, and the terms that they add
"""

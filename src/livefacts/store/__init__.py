"""Ids and facts at rest: what a term's number is, and which rows are there; nothing is known of rules.

In: bytes of N-Triples, terms, rows of ids.  Out: ids, rows with flags and support counts.
Paper: DynamiTE, section 3.1 (compress the input).

- `compiled`: Compiled kernels: how hot loops become machine code, where it is kept, and prefetching
- `facts`: Facts: rows of ids with flags and support counts, hash indices over them, and who asserts what in which graph
- `terms`: Terms: the dictionary between texts and ids, and the compiled N-Triples scanner that fills it
"""

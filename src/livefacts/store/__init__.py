"""The store: terms as ids and facts as rows, at rest; it knows nothing of rules.

In: bytes of N-Triples, terms, rows of ids.
Out: ids, rows with flags and support counts, terms again.

- `table_types`: the types of the arrays that kernels read, and numbered fields
- `machine_code`: how kernels become machine code, and where that is kept
- `critical_sections`: what Ctrl-C must not break in two
- `terms`: the dictionary between terms and ids, and the N-Triples scanner that fills it
- `facts`: rows of ids with flags and support counts, and hash indices over them
- `versions`: sorted columns of triples that never change, for readers

Paper: DynamiTE, section 3.1 (compress the input).
"""

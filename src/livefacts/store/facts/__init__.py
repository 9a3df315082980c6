"""Stored facts: rows of ids with flags and support counts, hash indices, and named graphs.

In: rows of ids.
Out: row numbers, and the rows that fit a key, through an index made on demand.

- `bits`: the flags of a row
- `layout`: the meaning of the cells of a row, a relation and an index
- `row_kernels`: kernels that find, make, link and remove rows
- `row_store`: the owner of the arrays: one relation per shape of fact
- `selection`: the facts of a relation that are visible, by flags and names
- `named_graphs`: which named graph asserts which triple
- `row_sets`: rows of ids, each once, and which of them are among others
- `hash_rows`: rows of 64-bit ids in bulk, for Spark tasks
- `integrity`: the check that every index finds every row

Design: docs/design/0001-rows-behind-addresses.md, docs/design/0005-derived-is-what-was-not-told.md
"""

"""Facts: rows of ids with flags and support counts, hash indices over them, and who asserts what in which graph.

- `hash_rows`: Rows of hash ids in bulk: put into buckets, brought into order, added up, followed
- `integrity`: Checking a row store: does every index find every row, and do the books agree?
- `layout`: The layout of stored facts: what the cells of a row, a relation and an index mean
- `named_graphs`: Named graphs: which graph asserts which triple
- `row_kernels`: Kernels on stored facts: find, make, link and remove rows
- `row_store`: The row store: facts as rows of ids, with hash indices on demand
- `selection`: Selecting: the facts of a relation that are looked at, by their flags and by their names
"""

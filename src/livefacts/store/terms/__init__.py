"""Terms: the dictionary between texts and ids, and the compiled N-Triples scanner that fills it.

In: bytes of N-Triples, terms.
Out: ids; and terms or texts again for ids.

- `byte_text`: reading, comparing and hashing bytes inside kernels
- `line_scanner`: where the terms of N-Triples lines start and end, as kernels
- `blank_labels`: labels of blank nodes, local to a file
- `text_table`: texts of terms in one heap, found by hash
- `dictionary`: term to id and back: the one place where that happens in a process
- `id_reader`: the same for readers, in a table that stays as it is
- `known_numbers`: the numbers and terms that ids stand for, as totals ask
- `ntriples`: lines of N-Triples and N-Quads to rows of ids
- `decoder`: many texts to terms at once
- `id_writer`: ids to text, as kernels
- `hash_ids`: 64-bit ids that need no table, for Spark and saved folders

Design: docs/design/0011-terms-that-pass-by.md
"""

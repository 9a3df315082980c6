"""Terms: the dictionary between texts and ids, and the compiled N-Triples scanner that fills it.

- `byte_text`: Text at addresses: reading, comparing, copying and hashing bytes inside kernels
- `decoder`: Decoding: the texts of terms become terms, many at once
- `dictionary`: The dictionary: terms become ids once on the way in, ids become terms once on the way out
- `hash_ids`: Ids that need no table: 64 bits of hash, three of which say what kind of term it is
- `line_scanner`: The line scanner: where the terms of N-Triples lines start and end, as kernels
- `ntriples`: N-Triples: lines of text become rows of ids, with no object per term
- `term_table`: The term table: texts of terms in one heap, found by hash, numbered in order of arrival
- `term_writer`: Kernels that write ids as text: the other direction of the term table
"""

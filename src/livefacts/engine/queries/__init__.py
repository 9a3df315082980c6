"""SPARQL over columns of ids: patterns joined set at a time, expressions a column at a time.

In: the algebra of a query (`language.algebra`), a snapshot of the facts, its terms.
Out: `Solutions`, columns of ids; terms are made of them at the very end, by the service.

- `solutions`: a bag of rows as columns, one for each variable
- `query_terms`: the terms of a query: those of the facts, and those that it computes
- `pattern_join`: triple patterns joined, in a good order of their variables
- `join_steps`: the kernel of that, an intersection of sorted columns for each variable

Readers of any thread use this: nothing here looks at the tables of the one who writes.
"""

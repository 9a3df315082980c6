"""SPARQL over columns of ids: patterns joined set at a time, expressions a column at a time.

In: the algebra of a query (`language.algebra`), a snapshot of the facts, its terms.
Out: `Solutions`, columns of ids; terms are made of them at the very end, by the service.

- `evaluation`: the walk over the algebra, in pieces
- `run_notes`: how many rows each part has given, and how long that took
- `basic_patterns`: triple patterns and property paths
- `basic_parts`: what such a pattern consists of, and what comes first
- `binding_scopes`: which parts of a group may know what the others have found
- `paths`: paths of any length
- `bounds`: time and memory that a query may take
- `solutions`: a bag of rows as columns, one for each variable
- `local_terms`: the terms of a query: those of the facts, and those that it computes
- `joins`: triple patterns joined, in a good order of their variables
- `solution_joins`: rows of two bags that agree, or that agree with none
- `row_keys`: rows of several columns as one number each
- `column_expressions`: what an expression is for all rows, column by column
- `value_columns`: what ids stand for, as numbers to compute with
- `value_lines`: what one term stands for, in a few numbers
- `literal_scan`: the same for many common literals at once, read off their texts
- `column_operators`: comparisons, arithmetic and truth on those
- `pyoxigraph_values`: all other functions, by pyoxigraph, with a limit for strings
- `term_order`: the order of terms
- `row_order`: the order of rows (ORDER BY)
- `row_groups`: groups of rows and their totals (GROUP BY)
- `fresh_values`: functions that give another value for each row

Readers of any thread use this: nothing here looks at the tables of the one who writes.

Design: docs/design/0016-queries-over-columns.md
"""

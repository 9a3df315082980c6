"""Triple patterns joined over sorted columns, variable by variable.

In: triple patterns of ids and names, rows that are given, a snapshot of the facts.
Out: rows of ids, in pieces.

- `variable_order`: which variable comes first, and which columns it is found in
- `step_tables`: such a join as tables, and its run
- `leapfrog`: the kernel of that, an intersection of sorted columns for each variable

Design: docs/design/0016-queries-over-columns.md
"""

"""The recheck: everything derived again from what is asserted, set at a time, and what differs.

It shares no kernel and no counter with the engine that it checks.

In: the stored facts and the plain rules.
Out: differences in facts, flags and support counts.

- `id_tables`: tables of ids with sorted indices, joined whole columns at a time
- `column_values`: comparisons and arithmetic on columns
- `column_joins`: rule bodies as joins of columns
- `batch_closure`: the closure, component by component
- `expected_support`: what flags and support counts should be
- `differences`: the comparison with what the engine keeps
"""

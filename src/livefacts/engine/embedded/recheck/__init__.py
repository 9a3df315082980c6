"""Verification: everything drawn again from what was asserted, set at a time, and what differs.

- `batch_closure`: Closure set at a time: the plain rules, component by component, into tables of their own
- `column_joins`: Rules set at a time: all the ways to make a body true, as columns of ids
- `column_values`: Values set at a time: comparisons and arithmetic on columns of ids
- `differences`: Verifying: everything again from what was told, by another road, and what differs
- `expected_support`: Supports anew: what the counters and flags of every fact should be
- `id_tables`: Set-at-a-time operators: tables of ids, sorted indices, joins of whole columns
"""

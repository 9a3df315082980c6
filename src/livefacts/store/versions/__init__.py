"""Versions of facts that readers see: sorted columns that never change once they are made.

In: the rows that hold when somebody first asks, then what each change adds and removes.
Out: `Snapshot`, one version of triples or of facts of one shape, which stays as it is whatever happens
meanwhile.

- `sorted_orders`: rows in an order, triples in one of four, as columns that can be searched
- `signed_runs`: rows that came and went together, in the orders that were asked for
- `snapshots`: the runs that make up one version, and how the next version comes about

The row store belongs to the one who writes; nobody else reads it.

Design: docs/design/0016-queries-over-columns.md
"""

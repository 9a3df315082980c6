"""General rules that fit into the driver's memory: the embedded engine over saved tables.

In: a commit of a knowledge base, and a size that its asserted facts must fit into.
Out: the same commits as those of joins.

- `handover`: whether a knowledge base fits, and the closure in memory
- `engine_over_tables`: the embedded engine over a state that was handed over
- `change_in_memory`: changes of that state, each one commit

Design: docs/design/0007-spark-and-delta.md
"""

"""One change of the embedded engine: strata from below, losses then gains, aggregates kept in step.

Papers: Volz et al., sections 3 and 4; Laser, section 3 (stratified negation).

- `aggregates`: Aggregates: the values of groups, kept in step with the rows they range over
- `engine`: The embedded engine: facts and a plan in one process; changes in, deltas of ids out
- `fact_base`: The fact base: facts in a store, their conclusions, and the plan that keeps them together
- `group_counts`: Counts: the number of rows in a group, without reading the rows
- `level`: A level under change: its rules lose what has gone, then gain what has come
- `stored_facts`: Stored facts by how they stand: what holds, what was asserted, and how two stores differ
"""

"""One change of the embedded engine: strata from below, losses then gains, aggregates in step.

In: rows asserted and retracted, rules that come and go.
Out: an `IdDelta`; or everything as it was, if the change is rolled back.

- `level`: one stratum under change: overdelete, rederive, insert
- `group_counts`: counts of groups, read off the support counts
- `aggregates`: the other aggregates, kept by adding and taking away
- `fact_base`: facts in a store and the plan that keeps them together: one change, two passes
- `stored_facts`: stored facts by how they stand, and how two stores differ
- `engine`: the door: a change of facts and rules, committed or rolled back

Papers: Volz et al., sections 3 and 4; Laser, section 3 (stratified negation).
Design: docs/design/0006-losses-then-gains.md, docs/design/0031-running-totals.md
"""

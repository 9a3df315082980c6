"""General rules on Spark: semi-naive evaluation and delete-and-rederive as rounds of joins.

In: plans of rules, facts as one DataFrame of all shapes.
Out: facts with two support counts; for a change, the net delta and the changed counts.

- `fact_frame`: one table for facts of all shapes
- `term_frames`: terms for joins: constants to ids, ids to values of whole columns
- `rule_queries`: plans to SQL: a join for each atom, an anti-join for each negation
- `kept_rows`: what a round has found, in files from which the next one goes on
- `rounds`: one round of the fixpoint: one query, and what it needs
- `task_engine`: the embedded engine in a task: rows of ids in, the same with their counters out
- `task_closure`: what one task can hold is closed there, in one job
- `materialization`: the closure from scratch, stratum by stratum
- `level_pass`: one pass of a change over the strata: losses, then gains
- `closure_change`: a change of facts and rules as one or two passes
- `stored_closure`: support counts out of the tables, and back
- `general_rules`: the door: close or change a knowledge base by joins

Papers: DynamiTE, section 4; Volz et al., section 4.
Design: docs/design/0008-rules-as-joins.md, docs/design/0025-rounds-of-joins.md
"""

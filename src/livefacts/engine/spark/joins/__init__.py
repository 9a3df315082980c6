"""General rules on Spark: semi-naive evaluation and delete-and-rederive as rounds of joins of DataFrames.

- `closure_change`: Maintaining: a closure after facts and rules have come and gone, and what that changed
- `fact_frame`: One table for facts of all shapes: columns of ids, told or not, and two counters
- `general_rules`: General rules in the pipeline: told facts from the tables, conclusions back into them
- `level_pass`: A pass over the levels: losses, then gains, with two counters for every fact
- `materialization`: Materializing: everything that follows, level by level, in rounds of joins
- `rounds`: Rounds: what a fixpoint on Spark needs each time around
- `rule_queries`: Lowering: plans of rules become queries over tables of facts
- `stored_closure`: A closure in the tables: counted facts out of them, and counters back into them
- `term_frames`: Terms on Spark: what rules need to know of the dictionary, and values of whole columns
"""

"""The fixpoint kernel: semi-naive evaluation, one fact at a time, over rows of ids.

A change marks rows, follows the plans of a level from every row that came or went, and counts supports.
In: rows that were asserted or retracted, bound plans.  Out: rows with their new flags.
Papers: DynamiTE, sections 2 and 5 (semi-naive evaluation, counting); Volz et al., section 3.

- `bound_plans`: Binding: plans in terms become tables of ids over one store
- `change_marks`: The stages of a change: before and after each level, between passes, its end, its undo
- `driver`: The interpreter: drives the fixpoint kernel, gives it room and answers, ends or undoes a change
- `fixpoint`: The fixpoint kernel: runs plans over rows until nothing new follows
- `grounded`: Founded facts: those that follow from one told triple, whatever else is in doubt
- `join`: Joining: the instances of one plan that use one pivot, depth first through indices
- `level_stages`: A level followed: its stages one after the other, in as few calls as the change allows
- `registers`: The machine: what the fixpoint kernel works on, and the meaning of its fields
- `support_counts`: Reasons given and taken: how a buffer of derived rows changes the stored facts
- `value_kernels`: Values in the kernel: comparisons and arithmetic on ids
- `value_memory`: Answers the kernel remembers: values of literals and results of arithmetic
"""

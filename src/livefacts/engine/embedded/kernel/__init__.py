"""The fixpoint kernel: semi-naive evaluation, one fact at a time, over rows of ids.

A change marks rows, follows the plans of a level from every row that came or went, and counts
support.  All state is in arrays, so the kernel can stop anywhere and go on.

In: rows that were asserted or retracted, bound plans.
Out: rows with their new flags and support counts.

- `bound_plans`: plans over terms become tables of ids over one store
- `registers`: the arrays that the kernel works on, and the meaning of their fields
- `value_memory`: values of literals and results of arithmetic, remembered
- `id_arithmetic`: comparisons and arithmetic on ids
- `join`: the instances of one plan that use one pivot
- `support_counts`: support given and taken by a block of derived rows
- `foundation`: derived facts that an asserted triple supports, and so need no rederiving
- `fixpoint`: the loop: take a pivot, join, store, until nothing new follows
- `change_marks`: the flags of rows before, between and after levels; commit and roll back
- `level_stages`: the stages of one level in as few calls as possible
- `driver`: the Python half: gives room and answers, commits or rolls back

Papers: DynamiTE, sections 2 and 5 (semi-naive evaluation, counting); Volz et al., section 3.
Design: docs/design/0002-one-fact-at-a-time.md, docs/design/0012-rules-made-for-axioms.md
"""

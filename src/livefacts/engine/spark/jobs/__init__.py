"""Jobs: what every stage of the pipeline works with.

In: a session, a knowledge base, a commit to start from.
Out: results of tasks in order, DataFrames of what holds at a version, a report.

- `tasks`: a function over a list of inputs, one task an input
- `shuffle`: tasks that send blocks to buckets, and the task of each bucket
- `work`: one session, one base, one commit, and jobs on them
- `frames`: tables as DataFrames, at a version, in ids or in terms
- `stage_report`: what a change did, stage by stage, with times, rows and bytes

Design: docs/design/0024-rows-between-stages.md
"""

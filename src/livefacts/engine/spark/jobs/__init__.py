"""Jobs: what every stage of the pipeline works with.

In: a session, a knowledge base, a commit to start from.
Out: results of tasks in order, DataFrames of what holds at a version, a report.

- `work`: one session, one base, one commit, and tasks run over inputs
- `frames`: tables as DataFrames, at a version, in ids or in terms
- `stage_report`: what a change did, stage by stage, with times, rows and bytes
"""

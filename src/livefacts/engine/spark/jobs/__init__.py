"""Jobs: what every stage of the pipeline works with: the session and its tasks, tables as DataFrames, a report.

- `frames`: Tables as DataFrames: what holds at a version, in ids or in terms, and what changed
- `job_report`: Reports: what a change did, stage by stage, with times, rows and bytes
- `work`: Work on a knowledge base: one session, one base, the commit it starts from, and its tasks
"""

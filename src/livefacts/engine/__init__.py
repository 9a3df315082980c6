"""Engines: a change of facts, rules or time goes in, the delta of what holds comes out.

`contract` is the door: what every engine takes, gives and promises.

- `contract`: What an engine promises: changes in, deltas of ids out
- `embedded`: The embedded engine: facts and a plan in one process, kept true by compiled kernels
- `flow`: Flow: operators over signed bags of rows, which keep the answers of continuous queries up to date
- `messages`: Messages: continuous queries over a stream of update messages, with no graph behind them
- `patterns`: Patterns: compiled kernels that match stars and joins of triple patterns, change by change
- `spark`: The Spark engine: a knowledge base as tables, filled and kept true by tasks of a cluster
"""

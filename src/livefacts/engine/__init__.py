"""Engines: a change of facts, rules or time goes in, the delta of what holds comes out.

`contract` is the door: what every engine takes, gives and promises.

In: rows of ids that are asserted and retracted, plans.
Out: deltas of ids; for queries, signed rows of answers.

- `contract`: what an engine takes, gives and promises: `Change`, `IdDelta`, the `Engine` protocol
- `embedded`: one process: compiled kernels keep every conclusion true
- `patterns`: compiled kernels that match stars and joins of triple patterns, change by change
- `flow`: the dataflow: operators over signed bags of rows, for continuous queries
- `queries`: SPARQL over one version of the facts, in columns of ids
- `messages`: continuous queries over update messages, with no graph behind them
- `spark`: a cluster: a knowledge base as tables, filled and kept true by tasks

Design: docs/design/0014-rooms.md
"""

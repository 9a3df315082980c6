"""Continuous queries: answers that change with a reasoner (`watch`) or with messages alone.

In: a SPARQL query; published deltas, or update messages.
Out: answers, and `Change`s of answers as they come and go.

- `query_plans`: a query text to a flow, or the reason why there is none
- `row_projection`: matches of patterns to the rows that a query reports
- `answers`: rows of ids, turned into terms when they are read
- `findings`: what a report has found, counted and read on demand
- `watched_query`: what keeps the answers of one watched query
- `watch`: one watch: answers, changes, callbacks, iterators, a bounded buffer
- `watch_positions`: watches with a name, and how far each was read
- `watches`: all watches of a reasoner, fed from its deltas
- `messages`: update messages in every way to write them
- `message_query`: `ContinuousQuery` and `ContinuousQueries`: messages in, answers out
- `on_spark`: the same over a DataFrame of messages

Paper: Gergatsoulis and Damigos (continuous queries with delta answers).
Design: docs/design/0010-answers-as-flows.md
"""

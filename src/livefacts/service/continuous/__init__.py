"""Continuous queries: answers that change with a reasoner (`watch`) or with messages alone.

Paper: Gergatsoulis and Damigos.

- `answers`: Answers of continuous queries: multiplied out and turned into terms when they are read
- `findings`: Findings: what a report has found, counted and read only if somebody wants that
- `message_query`: Continuous queries: answers that change with a stream of update messages, and no graph
- `messages`: Update messages: triples that come and go, from every way to write them
- `on_spark`: Continuous queries on Spark: from the text of a query to a DataFrame of changes
- `query_plans`: Plans of continuous queries: from the text to a flow, or the reason why there is none
- `row_projection`: Projecting: from the matches of a query's patterns to the rows that it reports
- `watch`: Watches: the answers of a query, and how they change while facts, rules and time do
- `watched_query`: Standing queries: what a watched query is followed by
- `watches`: Watching: all watches of a reasoner, fed from the deltas that it publishes
"""

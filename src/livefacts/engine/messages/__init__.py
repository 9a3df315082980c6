"""Continuous queries over a stream of update messages, with no graph behind them.

In: update messages: triples or quads that come and go, as text.
Out: signed rows of answers, for each query.

- `signed_lines`: where the terms of messages start and end
- `admission`: messages to ids, for those alone that fit a pattern of a query
- `stream_facts`: which triples are there, so that a change is exact
- `standing_query`: a standing query of triple patterns
- `standing_flow`: standing queries of any other form, in one dataflow
- `standing_group`: the door: all standing queries over one stream

Paper: Gergatsoulis and Damigos, section 5 (update messages).
"""

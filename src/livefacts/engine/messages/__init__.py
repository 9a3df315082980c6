"""Messages: continuous queries over a stream of update messages, with no graph behind them.

- `admission`: The gate: update messages become ids, and only those that a pattern can use get any
- `message_scan`: Messages as text: where the terms of triples start and end, and what is to happen to them
- `standing_flow`: Standing flows: queries beyond triple patterns, in one flow with the others of their group
- `standing_group`: Standing queries on one stream: messages become ids once, and reach whom they concern
- `standing_query`: Standing queries: what is asked again and again, over ids, and what it keeps
- `stream_facts`: What a stream has told: triples, or quads, that are there, and what messages change in them
"""

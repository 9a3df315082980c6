"""Registered queries: C-SPARQL and RSP-QL over windows of streams, and what they report.

Paper: Barbieri et al.

- `background`: Backgrounds: what is told for all time, as the worlds of registered queries see it
- `end_of_stream`: The end of the streams: how far queries go on when nothing more will come
- `flow_answers`: Flowing answers: any query inside windows, followed change by change
- `host`: Hosting: what a reasoner's registered queries see of it
- `limits`: Limits of registered queries: how much one change of their worlds may derive
- `moving_window`: Windows on streams: which arrivals are inside at a time, and what moving changes
- `query_preparation`: Preparing queries: from a text to something that can be asked in a world
- `registry`: Registered queries together: what happens to them, and the order of their reports
- `report_answers`: Answers of registered queries: kept true change by change, or asked anew at each report
- `report_writers`: Reports as text: tables for people, JSON lines, CSV, timed N-Quads and RDF Patch
- `reports`: Reports: what a registered query found at a time
- `scheduled_query`: A registered query: when it is due, and what it has reported
- `shared_worlds`: Sharing: queries over the same streams have one state, or one world, with what one of them needs
- `stream_state`: States: one set of facts and conclusions for windows of every length over a stream
- `timed_matches`: Matches of a query in a state, by time: what windows of every length report of them
- `world`: Worlds: the background, what some windows hold, and everything that follows
- `world_listeners`: Followed worlds: who follows one is told of its changes, and its engine has a limit
- `world_store`: World stores: a world as a store that answers any SPARQL query, kept in step with it
- `world_with_clock`: Timed worlds: worlds of queries whose rules look at time themselves
"""

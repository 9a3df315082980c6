"""The server: a reasoner in a folder, over HTTP, by standard protocols and as it changes.

In: requests; a reasoner that is durable and shared.
Out: answers, problems with what, where and a hint, live events, an audit line for each write.

- `settings`: what a server allows, said once
- `tokens`: who may do what, by secrets of which the folder knows only digests
- `visitors`: who sends a request, what they may do, and what they send
- `audit`: a line for each write
- `problems`: errors as JSON
- `negotiation`: one table of media types, for what comes and what goes
- `fair_queue`: work for a few threads, taken from the clients in turn
- `served_reasoner`: one reasoner, and what all requests to it share
- `sparql_protocol`: queries and updates
- `graph_store`: the Graph Store Protocol
- `change_paths`: RDF Patch, events of streams, rules, previews, and the way back
- `question_paths`: why something holds, what has happened, and whether it is right
- `topics`: what is followed live, encoded once for all who follow it
- `change_events`: rows of the journal as events
- `live_queries`: watched and registered queries, each followed once
- `live_answers`: a topic over HTTP: events, lines of JSON, WebSocket, long polls
- `figures`: health, readiness, figures for people and for Prometheus
- `page`: the built page for people, as files that browsers keep
- `answer_headers`: what every answer carries
- `application`: which path leads where
- `listener`: a socket, an event loop, and the signals that end them

Design: docs/design/0019-a-server-of-threads-and-snapshots.md,
docs/design/0021-a-page-without-a-framework.md
"""

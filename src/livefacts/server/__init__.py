"""The server: a reasoner in a folder, over HTTP, by standard protocols and as it changes.

In: requests; a reasoner that is durable and shared.
Out: answers, problems with what, where and a hint, live events, an audit line for each write.

- `admission`: who comes, what they may do, and whose turn it is
- `standards`: the SPARQL 1.1 Protocol and the Graph Store Protocol
- `problems`: errors as JSON
- `change_paths`: RDF Patch, rules, previews, and the way back
- `pushed_events`: events of streams, in one request or for as long as they come
- `question_paths`: why something holds, what has happened, and whether it is right
- `followed_sources`: what brokers and files bring, taken in while the server runs
- `topics`: what is followed live, encoded once for all who follow it
- `change_events`: rows of the journal as events
- `live_queries`: watched and registered queries, each followed once
- `live_answers`: a topic over HTTP: events, lines of JSON, WebSocket, long polls
- `figures`: health, readiness, figures for people and for Prometheus
- `page`: the built page for people, as files that browsers keep
- `openapi`: a description of the paths, for programs
- `answer_headers`: what every answer carries
- `application`: which path leads where
- `deadlines`: connections whose clients dawdle are closed
- `listener`: a socket, an event loop, and the signals that end them

Design: docs/design/0019-a-server-of-threads-and-snapshots.md,
docs/design/0021-a-page-without-a-framework.md
"""

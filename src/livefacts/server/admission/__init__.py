"""Admission: who comes to the server, what they may do, and whose turn it is.

In: requests, with tokens or without; calls of one reasoner.
Out: calls made in threads, in turns; refusals; an audit line for each write.

- `settings`: what a server allows, said once
- `tokens`: who may do what, by secrets of which the folder knows only digests
- `visitors`: who sends a request, what they may do, and what they send
- `audit`: a line for each write
- `fair_queue`: work for a few threads, taken from the clients in turn
- `served_reasoner`: one reasoner, and what all requests to it share

Design: docs/design/0019-a-server-of-threads-and-snapshots.md
"""

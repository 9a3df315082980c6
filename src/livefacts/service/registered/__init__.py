"""Registered queries: C-SPARQL and RSP-QL over windows of streams, and what they report.

A *world* is what a query sees: the background, what its windows hold, and everything that
follows.

In: a query text; facts that arrive and are retracted, time that moves, rules that change.
Out: a `Report` at every grid point, to be read, iterated and written.

- `background`: what is asserted for all time, or by some named graphs
- `limits`: how much one change of a world may derive
- `world`: background and windows in an engine with a clock of its own
- `stream_state`: one state for windows of every length, by arrival times
- `shared_worlds`: which queries share a state or a world
- `timed_matches`: matches of a query in a state, by time
- `match_spans`: matches that something may deny, by the windows that see them
- `window_graphs`: windows that have names, each as a graph
- `query_input`: the triples and quads that a query sees, and what has changed of them
- `window_times`: when the triples in the windows of a query arrived
- `flow_answers`: answers kept by a dataflow
- `report_answers`: answers asked anew, of a store in step with the world
- `query_preparation`: a query text to something that can be asked in a world
- `reports`: one report: rows, triples or yes and no, with its time
- `report_writers`: reports as tables, JSON lines, CSV, N-Quads and RDF Patch
- `scheduled_query`: one query: when it is due, and what it has reported
- `saved_queries`: one query at one moment, as a value
- `end_of_stream`: how far queries go on when nothing more will come
- `stream_rows`: what a report puts on the stream that its query makes
- `registry`: all queries: the order of reports, corrections, streams made of queries

Paper: Barbieri et al., sections 2, 3 and 6.
Design: docs/design/0009-facts-that-expire.md
"""

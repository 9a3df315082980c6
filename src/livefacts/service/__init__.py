"""The service: what users talk to: `Reasoner`, its changes, queries, streams and explanations.

In: text and Python objects.
Out: `Delta`, answers, reports, explanations.

- `change`: facts in every way to write them, to rows of ids; an engine's delta, to a `Delta`
- `merging`: groups of owl:sameAs kept as two stand-ins each
- `streams`: facts at time points, windows, and the time that moves on
- `queries`: SPARQL over everything that is true
- `knowledge`: the state of a reasoner, and the draft that changes it
- `folder`: that state saved, read again, and its history
- `reasoner`: the door: what users call
- `continuous`: answers that change with a reasoner or with messages alone
- `registered`: C-SPARQL and RSP-QL over windows of streams
- `sources`: messages from outside, read as they come, each once
- `micro_batches`: streams that Spark reads, followed by a reasoner whose answers are there once
- `explanations`: why a fact holds, or what is missing
"""

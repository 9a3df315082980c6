"""What users talk to: `Reasoner`, its changes, queries, streams and explanations.

In: text and Python objects.  Out: `Delta`, answers, reports, explanations.

- `change`: One change on its way: texts and objects become rows of ids, and an engine's delta becomes a `Delta`
- `continuous`: Continuous queries: answers that change with a reasoner (`watch`) or with messages alone
- `explanations`: Explanations: why a fact holds, or what is missing, as text, data, HTML and graphs
- `merging`: Merging: groups of equal things (owl:sameAs) are kept as two of each, and answered for all
- `queries`: SPARQL queries over everything that is true
- `reasoner`: The reasoner: the one object that users and the command line talk to, its state, and how a change is made
- `registered`: Registered queries: C-SPARQL and RSP-QL over windows of streams, and what they report
- `streams`: Streams: facts that happen at time points, windows over them, and the time that moves on
"""

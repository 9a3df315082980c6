"""SPARQL queries over everything that is true.

In: a query text; the deltas that a reasoner publishes.
Out: `Rows`, `Answer` or `Triples`, as objects and in the formats of the standards.

- `variants`: the different ways in which facts write a value that the store keeps once
- `query_store`: a pyoxigraph store of what is true, and the queries put to it
- `query_view`: a reasoner's query store, filled when it is first asked
- `results`: what a query answers, as objects and as text
"""

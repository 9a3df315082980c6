"""SPARQL queries over everything that is true.

- `query_store`: Queries: SPARQL over everything that is true, through a pyoxigraph store kept in step
- `query_view`: The query view: a reasoner's query store, filled when it is first asked and kept in step by deltas
- `results`: Results: what a query answers, as objects and as text
- `variants`: Variants: the different ways in which facts write a value that the query store keeps once
"""

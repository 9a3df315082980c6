"""SPARQL queries over everything that is true.

In: a query text; the deltas that a reasoner publishes.
Out: `Rows`, `Answer` or `Triples`, as objects and in the formats of the standards.

- `fact_versions`: what readers see of a reasoner, one version after the other
- `question`: one query, asked of one version
- `results`: what a query answers, as objects and as text

Design: docs/design/0016-queries-over-columns.md
"""

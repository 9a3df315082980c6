"""SPARQL queries over everything that is true.

In: a query text; the deltas that a reasoner publishes.
Out: `Rows`, `Answer` or `Triples`, as objects and in the formats of the standards.

- `fact_versions`: what readers see of a reasoner, one version after the other
- `part_versions`: the facts of every shape in parts: asserted, derived, violating
- `question`: one query, asked of one version
- `results`: what a query answers, as objects and as text
- `result_writers`: the same in the formats of the standards, piece by piece
- `plan_source`: what is kept of a query to tell how it was answered
- `plan_outline`: its plan, read off its algebra and what was noted
- `plan_joins`: how its triple patterns were joined, or would be
- `sparql_words`: its parts as SPARQL writes them
- `plan_tree`: the plan as text, as data and as a graph

Design: docs/design/0016-queries-over-columns.md
"""

"""SPARQL over the tables of a knowledge base: the algebra of a query as one DataFrame.

In: a query, a knowledge base at a commit.
Out: a DataFrame with a column for each variable, terms as N-Triples text, null for unbound.

- `query_frame`: the answers of a query, in each of its forms
- `algebra_frames`: the walk over the algebra
- `group_frames`: groups of rows, and their totals
- `pattern_frames`: triple patterns and property paths
- `triple_source`: the triples that a pattern sees: all of them, or those of named graphs
- `solution_frame`: a bag of rows as a DataFrame of ids; how two of them are joined
- `term_columns`: ids to texts and back, by Spark alone
- `value_tasks`: expressions, totals and orders, computed in tasks by the functions of `engine.queries`

Design: docs/design/0022-sparql-on-spark.md
"""

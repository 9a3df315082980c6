"""The dataflow: operators over signed bags of rows keep the answers of continuous queries.

In: changes of triples, in ids; flow plans.
Out: signed rows of answers.

- `bags`: signed bags of rows, which steps pass on
- `triple_changes`: a change in the shapes in which triple patterns look at it
- `triple_filters`: one triple pattern, which keeps nothing
- `pattern_matches`: several triple patterns together, by compiled code
- `first_rows`: what a step is filled with, in columns until it is asked for
- `join_workers`: joins, semi-joins and anti-joins
- `reachability`: property paths: what seeds reach along edges
- `group_totals`: aggregates, by adding and taking away
- `conditions`: filters that ids alone decide
- `large_integers`: calculations beyond the 64 bits of pyoxigraph
- `string_bounds`: how long a string can get, before it is built
- `pattern_bounds`: how much work a regular expression can make, before it is matched
- `evaluator`: all other expressions, by pyoxigraph in batches
- `workers`: the state of each other step
- `nodes`: steps at work, shared by the queries that have them in common
- `dataflow`: the door: the steps of all queries over one graph
- `memory_use`: how many bytes the steps keep

Paper: Gergatsoulis and Damigos (delta answers); beyond it all of SPARQL.
Design: docs/design/0010-answers-as-flows.md, docs/design/0031-running-totals.md
"""

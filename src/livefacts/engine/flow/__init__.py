"""Flow: operators over signed bags of rows, which keep the answers of continuous queries up to date.

In: changes of triples, in ids.  Out: signed rows of answers.
Paper: Gergatsoulis and Damigos (continuous queries with delta answers), beyond it all of SPARQL.

- `bags`: Bags of rows: what the steps of a flow pass on
- `conditions`: Decisions: conditions on rows that need no evaluator
- `dataflow`: The dataflow: the steps of all continuous queries over one graph, kept up to date together
- `evaluator`: Expressions over rows of ids: every function of SPARQL, evaluated by pyoxigraph in batches
- `group_totals`: Totals of groups: aggregates that are kept up to date by adding and taking away
- `join_workers`: Joins of a flow: rows that agree, and rows whose key is, or is not, among others
- `memory_use`: Footprints: the memory of what steps keep, container by container, each object once
- `nodes`: Nodes of a dataflow: steps at work, and families of those that differ in a constant alone
- `pattern_matches`: Pattern matches: the matches of several triple patterns together, as rows of a flow
- `reachability`: Reaching: the nodes that edges lead to, from seeds, while edges and seeds come and go
- `triple_changes`: Changes of triples, in the shapes in which triple patterns look at them
- `triple_filters`: Triple filters: the triples that match one pattern, as rows; nothing is kept
- `workers`: Workers: what carries out the steps of a flow, each with the state that it needs
"""

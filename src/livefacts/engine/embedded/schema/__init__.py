"""The single-triple path: what follows from one triple once the schema is closed.

In: rules split by `plan.rules.schema_split`, schema triples.
Out: a table from kinds of triples to consequences, which the kernel hands out.

- `chase`: the consequences of a symbolic triple under a closed schema
- `kind_table`: the table in which the kernel finds what follows from a triple
- `ways_back`: from consequences to the asserted triples that they follow from
- `cycles`: rules that conclude schema triples from what the schema concludes
- `single_path`: the schema closed apart, widened as kinds turn out to belong to it

Paper: DynamiTE, section 3.2 (rule types 1 to 3).
Design: docs/design/0003-single-triples.md, docs/design/0012-rules-made-for-axioms.md
"""

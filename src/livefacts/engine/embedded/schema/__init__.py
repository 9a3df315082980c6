"""The single-triple path: rules that follow from one triple once the schema is closed.

In: rules split by `plan.rules.schema_split`, schema triples.  Out: a table from kinds of triples to consequences.
Paper: DynamiTE, section 3.2 (rule types 1 to 3).

- `chase`: What follows from one triple: the chase of a symbolic triple under a closed schema
- `cycles`: Leaning rules: those that conclude schema triples from what the schema itself concludes
- `kind_table`: Kinds of triples: the table in which the kernel finds what follows from a triple
- `single_path`: The single-triple path: a schema closed apart, and what follows from every other triple
- `ways_back`: Ways back: how consequences of single triples are led back to asserted triples, by kind
"""

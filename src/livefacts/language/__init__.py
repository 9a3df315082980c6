"""The rule language, queries and axioms as data: what every reader of text makes, and every planner takes.

In: nothing; a program is a value, and changing one makes another.  Out: `Program`, `Rule`,
`Select`, `Registration`, `Axiom`.

- `algebra`: The algebra of SPARQL as data: graph patterns, property paths, and what is asked of them
- `axioms`: OWL axioms as data: what an ontology says about classes, properties and individuals
- `checks`: Checks of a program: safe, stratified, relevant, exchangeable; and warnings about what is hardly meant
- `expressions`: Expressions of queries: variables, constants, and calls of operators and functions
- `formula`: Formulas: what rule bodies and heads are made of
- `graph_pattern`: Queries as data: one group of triple patterns with comparisons, and what is asked of it
- `program`: Programs: sets of rules, as values
- `registration`: Registered queries: what a C-SPARQL or RSP-QL text asks for, as data
- `rule_text`: Rules and programs as text of the rule language
- `windows`: Windows: which part of a stream a literal looks at
"""

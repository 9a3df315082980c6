"""Plans of continuous queries: from the algebra of SPARQL to a flow of operators over signed rows.

Paper: Gergatsoulis and Damigos (decomposition of a graph pattern into parts that share no variable).

- `decomposition`: Decomposition: a graph pattern cut into parts that share no variable
- `flow`: Flows: plans of continuous queries, as operators that pass on signed bags of rows
- `flow_builder`: From the algebra of a query to a flow
- `flow_text`: A flow in words, for people and for tests, and as a picture
- `fusion`: Shorter flows: triple patterns that are matched together, columns that are chosen once
- `pattern_plan`: The plan of a standing pattern: its parts and what each has to keep, in words and as a picture
- `relations`: Relations: steps of a flow with names for their columns, and how they are combined
- `triple_patterns`: Triple patterns and property paths as relations
"""

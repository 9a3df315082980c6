"""Plans of continuous queries: from the SPARQL algebra to a dataflow of operators over signed rows.

In: `Query`, graph patterns.
Out: `FlowPlan`; for messages without a graph, the parts of a pattern and what each keeps.

- `decomposition`: a graph pattern cut into ground, star and connected parts
- `pattern_plan`: the plan of a pattern over messages, as text and as a picture
- `flow`: the operators of a dataflow, as data
- `relations`: steps with named columns, and how they are combined
- `triple_patterns`: triple patterns and property paths as relations
- `flow_builder`: the algebra to a flow
- `fusion`: patterns that are matched together, columns that are chosen once
- `flow_text`: a flow as text and as a picture

Paper: Gergatsoulis and Damigos, sections 4 to 6 (decomposition, delta answers).
Design: docs/design/0010-answers-as-flows.md
"""

"""Explanations: why a fact holds, or what is missing, as text, data, HTML and graphs.

- `explanation`: Explanations: why a fact holds, or how near it is to holding, in terms
- `graphviz`: Explanations as graphs for Graphviz: facts are boxes, rule instances are ovals
- `list_folds`: Lists in explanations: what rules do to walk along a list of RDF is folded to the list itself
- `plain_data`: Explanations as plain data: steps in a list, which refer to each other by number
- `proof_reader`: Proof reading: proofs and near misses in ids become explanations in terms
- `questions`: Asking why: from what a user writes as a fact to its explanation
- `time_words`: Time in explanations: what the hidden facts of windows and clocks say, in words
- `tree_text`: Explanations as trees of lines, as text and as HTML that folds
- `wording`: Words of explanations: facts, premises and rules as people read them
"""

"""Explanations: why a fact holds, or what is missing, as text, data, HTML and graphs.

In: a fact as users write it.
Out: an `Explanation`, in terms, and its forms.

- `questions`: from what a user writes as a fact to its explanation
- `proof_reader`: proofs and near misses in ids to explanations in terms
- `proof_trees`: the explanation: steps, premises, attempts
- `list_folds`: walks along RDF lists, folded to the list itself
- `time_words`: hidden facts of windows and clocks, in words
- `wording`: facts, premises and rules as people read them
- `tree_text`: trees of lines, as text and as HTML
- `plain_data`: steps in a list that refer to each other by number
- `graphviz`: a graph of facts and rule instances
"""

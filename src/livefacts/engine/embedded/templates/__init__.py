"""Templates: rules that read axioms, specialised for the axioms asserted (partial evaluation).

In: a program, changes of facts.
Out: the same change with the rules made for the axioms that come and go.

- `asserted_axioms`: the facts that templates read, and how templates match them
- `instances`: the rules made for these axioms
- `axiom_engine`: an engine that follows instances, and falls back to the rules as written

Paper: Volz et al., sections 2.2 and 4.
Design: docs/design/0012-rules-made-for-axioms.md
"""

"""Templates: rules that read axioms are specialised for the axioms that are asserted (partial evaluation).

- `instances`: Specialising: the axioms that are told, and the rules for them
- `template_engine`: The specialised engine: rules that read the schema are followed as rules about it
- `asserted_axioms`: Axioms: the facts that templates read, and the ways in which templates match them
"""

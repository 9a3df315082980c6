"""The reasoner: its state, the draft by which one change is made, and what users call.

In: calls of users and of the command line.
Out: `Delta`s, facts, violations, answers, saved folders.

- `violations`: the facts of constraints, as what they mean
- `state`: facts, rules, graphs, streams and queries of a reasoner, which change together
- `draft`: one change: read, checked, planned, applied and published; or made for a while (a trial)
- `updates`: SPARQL Update as one change
- `saved_folder`: the state out of a folder, and back as its next version
- `axiom_index`: which rules each axiom of an ontology became
- `ontology`: the rules of an OWL file, and axioms that come and go
- `maintenance`: maintenance programs made from rule text, filled and read
- `profile`: what each rule has cost
- `progress`: a bar for long loads
- `verification`: the report of `verify`
- `reasoner`: the door: `Reasoner`
- `clocked_program`: a program followed through time, with what changes at every time point
"""

"""The reasoner: the one object that users and the command line talk to, its state, and how a change is made.

- `axiom_index`: The axioms of a program in mind: what each became, so that a change reads those that change
- `clocked_program`: Following a program through time: a clock that hands on what changes at every time point
- `draft`: One change on its way: read, checked, planned, applied and published
- `maintenance`: Maintenance programs for people: made from rule text, printed, filled and read
- `ontology`: Ontologies for users: the rules of an OWL file, and axioms that come and go
- `profile`: Profiles: what each rule has looked at, found and cost since the reasoner was made
- `progress`: Progress: a bar on standard error for loads that take longer than a second
- `reasoner`: The reasoner: the one object that users, the command line and services talk to
- `saving`: Saving: a reasoner opened from a folder, and written back to it as the next version
- `state`: The parts that a reasoner consists of, which change together: facts, rules, graphs, streams
- `trial`: Changes for a while: a reasoner as it would be, and then as it was
- `updates`: Updates: SPARQL Update, as one change of what is told
- `verification`: Reports of `verify`: is everything that the reasoner keeps as it should be?
- `violations`: Violations: the facts of constraints, as what they mean
"""

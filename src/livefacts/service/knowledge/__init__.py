"""Knowledge: the state of a reasoner, and the draft by which one change of it is made.

In: facts, rules, files, axioms, SPARQL updates.
Out: `Delta`s, and the next state.

- `state`: facts, rules, graphs, streams and queries of a reasoner, which change together
- `draft`: one change: read, checked, planned, applied and published; or made for a while (a trial)
- `violations`: the facts of constraints, as what they mean
- `recorder`: what a change writes into the journal of a folder, and when that is synced
- `axiom_index`: which rules each axiom of an ontology became
- `ontology`: the rules of an OWL file, and axioms that come and go
- `file_load`: files, and graphs of rdflib, as one change
- `progress`: a bar for long loads
- `updates`: SPARQL Update as one change

Design: docs/design/0018-journal.md
"""

"""The reasoner: its state, the draft by which one change is made, and what users call.

In: calls of users and of the command line.
Out: `Delta`s, facts, violations, answers, saved folders.

- `violations`: the facts of constraints, as what they mean
- `fact_snapshot`: one committed version, to be read by any thread while others come
- `state`: facts, rules, graphs, streams and queries of a reasoner, which change together
- `recorder`: what a change writes into the journal of a folder, and when that is synced
- `draft`: one change: read, checked, planned, applied and published; or made for a while (a trial)
- `file_load`: files, and graphs of rdflib, as one change
- `updates`: SPARQL Update as one change
- `saved_folder`: the state out of a folder, and back as its next version
- `checkpoints`: when versions are written, beside the running writer, and which history goes
- `replay`: rows of a journal into a state again
- `creation`: what a folder was made with, compared with what is given now
- `history`: what has happened, and how things were, out of a journal
- `axiom_index`: which rules each axiom of an ontology became
- `ontology`: the rules of an OWL file, and axioms that come and go
- `maintenance`: maintenance programs made from rule text, filled and read
- `profile`: what each rule has cost
- `progress`: a bar for long loads
- `verification`: the report of `verify`
- `turns`: its calls, one after the other, whichever thread they come from
- `reasoner`: the door: `Reasoner`
- `durable`: a reasoner that lives in a folder
- `clocked_program`: a program followed through time, with what changes at every time point

Design: docs/design/0018-journal.md
"""

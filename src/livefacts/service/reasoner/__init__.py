"""The reasoner: what users call, with each call in its turn.

In: calls of users and of the command line.
Out: `Delta`s, facts, violations, answers, saved folders.

- `fact_snapshot`: one committed version, to be read by any thread while others come
- `maintenance`: maintenance programs made from rule text, filled and read
- `profile`: what each rule has cost
- `verification`: the report of `verify`
- `turns`: its calls, one after the other, whichever thread they come from
- `facade`: the door: `Reasoner`
- `durable`: a reasoner that lives in a folder
- `exchange`: what other libraries of Python get of it
- `rdflib_store`: a reasoner as a store of rdflib
- `clocked_program`: a program followed through time, with what changes at every time point

Design: docs/design/0018-journal.md
"""

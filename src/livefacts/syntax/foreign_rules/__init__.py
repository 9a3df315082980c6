"""Rules of other systems, read into the rule language.

In: rules in the syntax of SHACL 1.2 Rules, N3, Jena, RDFox or SWRL.
Out: a program, and every statement that could not be said here, with its place and the reason.

- `statements`: a text cut into statements, each parsed by itself (the grammar lies beside it)
- `formula_maker`: what the languages have in common: terms, triples, expressions, negated groups
- `shacl`: `RULE { … } WHERE { … }` of SHACL 1.2
- `notation3`: `{ … } => { … }` of N3
- `jena`: `[name: (…) -> (…)]` of Jena
- `datalog`: `[…] :- […], FILTER(…)` of RDFox
- `swrl`: the rules in an OWL ontology
- `shapes`: SHACL Core as constraints
- `dialects`: which language a text is in, and the door: `read_foreign`
"""

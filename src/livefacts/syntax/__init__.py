"""The syntax: text to data and back, one room for each language, errors with their places.

In: files, texts, bytes.
Out: rows of ids, programs, queries, axioms, patches; and text again.

- `input`: where bytes come from, and what is rejected with its place
- `rdf`: RDF documents and RDF Patch
- `rulelang`: the rule language: one text to one program
- `foreign_rules`: rules as SHACL, N3, Jena, RDFox and SWRL write them, to one program
- `rule_sets`: any way to name rules (ready name, file, text, ontology) to one program
- `sparql`: SPARQL, SPARQL Update, C-SPARQL and RSP-QL
- `owl`: OWL ontologies to axioms, and axioms to rules
- `json_map`: which facts a message of JSON stands for
- `stream_files`: facts with the times at which they happen
"""

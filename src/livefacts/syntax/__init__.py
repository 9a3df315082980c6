"""Text to data, and back: each language has one room, and the places of its mistakes.

In: files, texts, bytes.  Out: rows of ids, programs, queries, axioms, patches.

- `input`: Where bytes come from, and what is said of those that cannot be read
- `owl`: OWL ontologies: triples to axioms, and axioms to rules
- `rdf`: RDF documents and RDF Patch: text to rows of ids, and back
- `rule_sets`: The rule language: texts, files and ready rule sets to programs
- `rulelang`: The rule language: from text to `Program`, with mistakes told in words
- `sparql`: SPARQL, C-SPARQL and RSP-QL: text to algebra, by way of rdflib's grammar, and mistakes in words
- `stream_files`: Stream files: facts with the times at which they happen, line by line
"""

"""OWL ontologies: triples to axioms, and axioms to rules.

Paper: Volz et al., section 2.2 (description logic programs).

- `annotations`: What an ontology says that means nothing to a reasoner: annotations, and axioms about them
- `axiom_ids`: Names of rules that come from axioms: what kind of axiom, and what it speaks of
- `axiom_reader`: An ontology as RDF to axioms, triple by triple
- `class_expressions`: Class expressions in rules: as conditions of a body, and as what a rule concludes
- `datatypes`: Datatypes of OWL in rules: when a literal is in a data range, and when it is certainly not
- `literal_values`: Values of literals: which datatypes have values in common, and which literals are one value
- `logic_programs`: OWL axioms to rules: the description logic programs of Volz, Staab and Motik
- `manchester`: Axioms in words: the Manchester notation, in which people write and read ontologies
- `notation`: Which notation an ontology is in, by its first bytes
- `ontology_files`: Ontologies to rules: an OWL file in any RDF format, and the program that says the same
- `ontology_graph`: The triples of an ontology, by subject: lists, class expressions and kinds of properties
- `ontology_program`: The program of an ontology, and the same as text that people read
- `vocabulary`: The words of RDF, RDF Schema and OWL: their namespaces are closed
"""

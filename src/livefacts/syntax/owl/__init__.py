"""OWL ontologies: triples to axioms, and axioms to rules (description logic programs).

In: an ontology in any RDF format.
Out: a program, the same as text, and a report of every axiom that rules cannot say.

- `notation`: which notation a file is in, by its first bytes
- `vocabulary`: the closed namespaces of RDF, RDF Schema and OWL
- `ontology_graph`: the triples by subject; lists and class expressions put together again
- `annotations`: what means nothing to a reasoner
- `axiom_reader`: triples to axioms
- `class_expressions`: a class expression as the body, and as the head, of rules
- `literal_values`: which datatypes share values, and when two literals are one value
- `datatypes`: data ranges as conditions of rules
- `logic_programs`: axioms to rules, constraints and facts; gaps with their reasons
- `axiom_ids`: the names of rules that come from axioms
- `manchester`: axioms in the Manchester notation, for people
- `ontology_program`: the program of an ontology, with a comment for each axiom
- `ontology_files`: the door: an ontology file to its report

Paper: Volz et al., section 2.2 (description logic programs).
"""

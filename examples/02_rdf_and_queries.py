"""RDF: a small library under the rules of RDFS, asked in SPARQL, and how the answers were found."""

import livefacts as lf

LIBRARY = """
@prefix ex: <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .

ex:Novel rdfs:subClassOf ex:Book .
ex:wrote rdfs:domain ex:Author ; rdfs:range ex:Book ; rdfs:subPropertyOf ex:made .

ex:virginia ex:wrote ex:orlando .
ex:orlando a ex:Novel .
"""

reasoner = lf.Reasoner(rules="rdfs")
reasoner.add(LIBRARY)

answers = reasoner.query("""
    PREFIX ex: <http://example.org/>
    SELECT ?maker ?book WHERE { ?maker a ex:Author ; ex:made ?book . ?book a ex:Book }
""")
for row in answers:
    print(row["maker"], "made", row["book"])

print(answers.plan)

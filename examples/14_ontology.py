"""An ontology compiled to rules: what it says, what rules cannot say, and axioms that change."""

import livefacts as lf

PREFIXES = """
    @prefix ex: <http://example.org/> .
    @prefix owl: <http://www.w3.org/2002/07/owl#> .
    @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
VINEYARD = (
    PREFIXES
    + """
    ex:Wine rdfs:subClassOf ex:Drink,
        [ a owl:Restriction ; owl:onProperty ex:madeBy ; owl:allValuesFrom ex:Winery ],
        [ a owl:Restriction ; owl:onProperty ex:madeFrom ; owl:someValuesFrom ex:Grape ] .
    ex:RedWine owl:equivalentClass [ owl:intersectionOf ( ex:Wine
        [ a owl:Restriction ; owl:onProperty ex:colour ; owl:hasValue ex:red ] ) ] .
    ex:Drink owl:disjointWith ex:Winery .
    ex:partOf a owl:TransitiveProperty .
    ex:grownIn owl:propertyChainAxiom ( ex:grownIn ex:partOf ) .
"""
)

report = lf.rules_from_owl(VINEYARD)
print(report.rules)
print(report)

r = lf.Reasoner(rules=report.program)
r.add(
    PREFIXES
    + """
    ex:merlot a ex:Wine ; ex:colour ex:red ; ex:madeBy ex:estate ; ex:grownIn ex:slope .
    ex:slope ex:partOf ex:valley . ex:valley ex:partOf ex:province .
"""
)


def show(title: str, delta: lf.Delta) -> None:
    print(title)
    for sign, facts in (("+", delta.added), ("-", delta.removed)):
        for fact in sorted(str(fact).replace("http://example.org/", "") for fact in facts):
            print(f"  {sign} {fact}")


show(
    "an axiom goes: places are no longer part of what their wholes are part of",
    r.change_ontology(remove=PREFIXES + "ex:partOf a owl:TransitiveProperty ."),
)
show(
    "an axiom comes: whoever makes wine is an employer",
    r.change_ontology(add=PREFIXES + "ex:Winery rdfs:subClassOf ex:Employer ."),
)
d = r.add(PREFIXES + "ex:port a ex:Wine ; ex:madeBy ex:merlot .")
for violation in d.violations:
    print("contradiction:", violation.constraint)
print(r.verify())

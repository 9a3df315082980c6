"""What OWL 2 says that its constructs mean, where several of them meet.

Each case is written after the definitions of the constructs in the standard: premises, what
follows from them, and what does not.  Where all of it is about individuals, the ontology as
rules must agree with OWL 2 RL.
"""

from __future__ import annotations

from dataclasses import dataclass

import pytest
from tests.golden.test_owl import PREFIXES, triples_of

import livefacts as lf


@dataclass(frozen=True, slots=True)
class Case:
    """A situation; `wrong` says whether it contradicts itself."""

    premises: str
    follows: str = ""
    not_so: str = ""
    wrong: bool = False
    as_rules: bool = True


CASES = {
    "two classes that contain each other have the same members": Case(
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A . :x a :A . :y a :B .",
        ":x a :B . :y a :A .",
        ":x owl:sameAs :y .",
    ),
    "two classes that contain each other are equivalent": Case(
        ":A rdfs:subClassOf :B . :B rdfs:subClassOf :A .",
        ":A owl:equivalentClass :B .",
        as_rules=False,
    ),
    "a member of all parts is a member of the intersection, wherever that is from": Case(
        ":M owl:equivalentClass [ owl:intersectionOf ( :P :Q ) ] . :R rdfs:subClassOf :P ."
        ":p rdfs:range :Q . :x a :R . :y :p :x . :z a :R .",
        ":x a :M .",
        ":z a :M .",
    ),
    "a member of an intersection is a member of its parts": Case(
        ":M owl:equivalentClass [ owl:intersectionOf ( :P :Q ) ] . :x a :M .", ":x a :P , :Q ."
    ),
    "a member of one part is a member of the union, and not of another part": Case(
        ":U owl:equivalentClass [ owl:unionOf ( :P :Q :R ) ] . :x a :Q .",
        ":x a :U .",
        ":x a :P . :x a :R .",
    ),
    "a member of a union is in no part for that": Case(
        ":U owl:equivalentClass [ owl:unionOf ( :P :Q ) ] . :x a :U .", "", ":x a :P . :x a :Q ."
    ),
    "whoever has some value of a class is classified by it": Case(
        "[ a owl:Restriction ; owl:onProperty :child ; owl:someValuesFrom :Doctor ] rdfs:subClassOf :Proud ."
        ":child a owl:ObjectProperty . :Surgeon rdfs:subClassOf :Doctor ."
        ":x :child :y . :y a :Surgeon . :v :child :w .",
        ":x a :Proud .",
        ":v a :Proud .",
    ),
    "that there is a value names none": Case(
        ":Parent rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :child ; owl:someValuesFrom :Person ] ."
        ":child a owl:ObjectProperty . :x a :Parent . :x :child :y .",
        "",
        ":y a :Person .",
    ),
    "all values are of the class, also those of subproperties": Case(
        ":V rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :eats ; owl:allValuesFrom :Plant ] ."
        ":eats a owl:ObjectProperty . :nibbles rdfs:subPropertyOf :eats ."
        ":x a :V ; :nibbles :y . :z :nibbles :w .",
        ":y a :Plant .",
        ":w a :Plant .",
    ),
    "a value that all members have tells who they are, and the other way round": Case(
        ":Red owl:equivalentClass [ a owl:Restriction ; owl:onProperty :colour ; owl:hasValue :red ] ."
        ":colour a owl:ObjectProperty ; rdfs:domain :Thing1 . :x a :Red . :y :colour :red .",
        ":x :colour :red . :x a :Thing1 . :y a :Red .",
    ),
    "what is listed is a member, and members of one listed are the same as it": Case(
        ":One owl:equivalentClass [ owl:oneOf ( :a ) ] . :Two owl:equivalentClass [ owl:oneOf ( :b :c ) ] .",
        ":a a :One . :b a :Two . :c a :Two .",
        ":b a :One . :b owl:sameAs :c .",
    ),
    "disjointness reaches down to subclasses": Case(
        ":A owl:disjointWith :B . :C rdfs:subClassOf :A . :D rdfs:subClassOf :B . :x a :C , :D .",
        wrong=True,
    ),
    "being in two classes is no contradiction by itself": Case(":x a :A , :B ."),
    "nothing is in a class and in its complement": Case(
        ":N owl:complementOf :A . :B rdfs:subClassOf :A . :x a :B , :N .", wrong=True
    ),
    "of classes that are all disjoint, any two are": Case(
        "[ a owl:AllDisjointClasses ; owl:members ( :A :B :C ) ] . :x a :A , :C .", wrong=True
    ),
    "a class without members has none": Case(
        ":A rdfs:subClassOf owl:Nothing . :x a :A .", wrong=True
    ),
    "a chain leads on through a property that is transitive": Case(
        ":in a owl:TransitiveProperty . :born owl:propertyChainAxiom ( :born :in ) ."
        ":x :born :a . :a :in :b . :b :in :c .",
        ":x :born :b , :c . :a :in :c .",
        ":x :in :a .",
    ),
    "the inverse of a functional property identifies": Case(
        ":email a owl:ObjectProperty , owl:FunctionalProperty ; owl:inverseOf :emailOf ."
        ":m :emailOf :x . :x :email :n .",
        ":m owl:sameAs :n .",
    ),
    "a symmetric property says both, a subproperty of it only what it says": Case(
        ":near a owl:SymmetricProperty . :under rdfs:subPropertyOf :near . :x :under :y .",
        ":x :near :y . :y :near :x .",
        ":y :under :x .",
    ),
    "an asymmetric property holds one way": Case(
        ":parent a owl:AsymmetricProperty ; owl:inverseOf :child . :x :parent :y . :x :child :y .",
        wrong=True,
    ),
    "an irreflexive property relates nothing to itself, over a chain either": Case(
        ":before a owl:IrreflexiveProperty ; owl:propertyChainAxiom ( :next :next ) ."
        ":x :next :y . :y :next :x .",
        wrong=True,
    ),
    "disjoint properties stay apart, and so do their subproperties": Case(
        ":loves owl:propertyDisjointWith :hates . :adores rdfs:subPropertyOf :loves ."
        ":x :adores :y ; :hates :y .",
        wrong=True,
    ),
    "of properties that are all disjoint, any two are": Case(
        "[ a owl:AllDisjointProperties ; owl:members ( :p :q :r ) ] . :x :p :y ; :r :y .",
        wrong=True,
    ),
    "members of a class that agree in its key are one": Case(
        ":Person owl:hasKey ( :first :born ) . :first a owl:ObjectProperty . :born a owl:ObjectProperty ."
        ":x a :Person ; :first :ann ; :born :may . :y a :Person ; :first :ann ; :born :may ."
        ":z a :Person ; :first :ann ; :born :june . :w :first :ann ; :born :may .",
        ":x owl:sameAs :y .",
        ":x owl:sameAs :z . :x owl:sameAs :w .",
    ),
    "what is different has no common value of an identifying property": Case(
        ":seat a owl:ObjectProperty , owl:InverseFunctionalProperty . :x :seat :s . :y :seat :s ."
        "[ a owl:AllDifferent ; owl:distinctMembers ( :x :y :z ) ] .",
        wrong=True,
    ),
    "at most one value makes two of them one": Case(
        ":Mono rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :spouse ; "
        'owl:maxCardinality "1"^^xsd:nonNegativeInteger ] . :spouse a owl:ObjectProperty .'
        ":x a :Mono ; :spouse :y , :z . :v :spouse :a , :b .",
        ":y owl:sameAs :z .",
        ":a owl:sameAs :b .",
    ),
    "at most one value of a class leaves the others alone": Case(
        ":Kennel rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :houses ; "
        'owl:maxQualifiedCardinality "1"^^xsd:nonNegativeInteger ; owl:onClass :Dog ] .'
        ":houses a owl:ObjectProperty . :k a :Kennel ; :houses :rex , :max , :tom . :rex a :Dog . :max a :Dog .",
        ":rex owl:sameAs :max .",
        ":rex owl:sameAs :tom .",
    ),
    "no value where none may be": Case(
        ":Island rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :borders ; "
        'owl:maxCardinality "0"^^xsd:nonNegativeInteger ] . :borders a owl:ObjectProperty .'
        ":x a :Island ; :borders :y .",
        wrong=True,
    ),
    "what is denied may not follow": Case(
        "[ a owl:NegativePropertyAssertion ; owl:sourceIndividual :x ; owl:assertionProperty :knows ; "
        "owl:targetIndividual :y ] . :knows a owl:ObjectProperty . :loves rdfs:subPropertyOf :knows . :x :loves :y .",
        wrong=True,
    ),
    "what holds of one name holds of the other, as subject and as object": Case(
        ":x owl:sameAs :y . :x :p :a . :b :p :x . :x a :C .",
        ":y :p :a . :b :p :y . :y a :C . :y owl:sameAs :x .",
        as_rules=False,
    ),
    "equivalent properties have one meaning, domains included": Case(
        ":p owl:equivalentProperty :q . :q rdfs:domain :D . :x :p :y .", ":x :q :y . :x a :D ."
    ),
    "the domain of a property is not that of a property above it": Case(
        ":p rdfs:subPropertyOf :q . :p rdfs:domain :D . :x :q :y .", "", ":x a :D . :x :p :y ."
    ),
    "what is not said to be different may be the same, and is not said to be": Case(
        ":p a owl:ObjectProperty , owl:FunctionalProperty . :x :p :a . :y :p :b .",
        "",
        ":x owl:differentFrom :y . :a owl:sameAs :b .",
    ),
}


def agree(reasoner: lf.Reasoner, case: Case) -> bool:
    """Whether a reasoner that knows the premises concludes what it should, and no more."""
    return (
        all(triple in reasoner for triple in triples_of(case.follows))
        and not any(triple in reasoner for triple in triples_of(case.not_so))
        and bool(reasoner.violations()) == case.wrong
    )


@pytest.fixture(scope="module")
def reasoner() -> lf.Reasoner:
    return lf.Reasoner(rules="owl-rl")


@pytest.mark.parametrize("name", CASES)
def test_owl_rl_concludes_what_the_standard_says(name: str, reasoner: lf.Reasoner) -> None:
    premises = triples_of(CASES[name].premises)
    before = set(reasoner)
    reasoner.add(premises)
    assert agree(reasoner, CASES[name])
    reasoner.remove(premises)
    assert set(reasoner) == before


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.as_rules])
def test_an_ontology_as_rules_concludes_what_the_standard_says(name: str) -> None:
    report = lf.rules_from_owl(PREFIXES + CASES[name].premises)
    assert agree(lf.Reasoner(rules=report.program), CASES[name])

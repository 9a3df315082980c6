"""Random ontologies: axioms of all kinds on both sides, as tuples and as Turtle."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

from tests.oracle.ontologies import Axiom, Class, Fact

EX = "http://example.org/"
OWL = "http://www.w3.org/2002/07/owl#"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
CLASSES = tuple("ABCDE")
PROPERTIES = tuple("pqr")
INDIVIDUALS = tuple(f"i{n}" for n in range(6))
ASSERTED = tuple(f"j{n}" for n in range(2))
"""Individuals of which the ontology itself tells, so that facts are told in one place only."""
EVERYBODY = INDIVIDUALS + ASSERTED
TRAITS = (
    *("Symmetric", "Transitive", "Functional", "InverseFunctional"),
    *("Asymmetric", "Irreflexive", "Reflexive"),
)
PREFIXES = f"""
@prefix ex: <{EX}> .
@prefix owl: <{OWL}> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
DECLARED = PREFIXES + " ".join(f"ex:{name} a owl:ObjectProperty ." for name in PROPERTIES)


def random_axiom(rng: random.Random) -> Axiom:
    """An axiom, most often about classes."""
    cls, individual = rng.choice, lambda: rng.choice(EVERYBODY)
    match rng.randrange(16):
        case 0 | 1 | 2 | 3 | 4:
            return "sub", random_class(rng, 2, left=True), random_class(rng, 2, left=False)
        case 5 | 6:
            one, other = cls(CLASSES), random_class(rng, 2, left=rng.random() < 0.7)
            return "equiv", *(sorted((one, other)) if isinstance(other, str) else (one, other))
        case 7:
            return "disjoint", *sorted(rng.sample(CLASSES, 2))
        case 8:
            return "domain", random_property(rng), random_class(rng, 1, left=False)
        case 9:
            return "range", random_property(rng), random_class(rng, 1, left=False)
        case 10:
            links = tuple(random_property(rng) for _ in range(rng.choice((1, 1, 2, 3))))
            return "chain", links, rng.choice(PROPERTIES)
        case 11:
            return "inverse", *sorted(rng.sample(PROPERTIES, 2))
        case 12:
            return "trait", rng.choice(TRAITS), rng.choice(PROPERTIES)
        case 13:
            keys = tuple(sorted(rng.sample(PROPERTIES, rng.choice((1, 2)))))
            return "key", random_class(rng, 1, left=True), keys
        case 14:
            return "is", rng.choice(ASSERTED), random_class(rng, 1, left=False)
        case _:
            kinds: list[Axiom] = [
                ("fact", rng.choice(ASSERTED), rng.choice(PROPERTIES), individual()),
                ("denied", individual(), rng.choice(PROPERTIES), individual()),
                ("same", *sorted(rng.sample(ASSERTED, 2))),
                ("different", *sorted(rng.sample(EVERYBODY, 2))),
            ]
            return rng.choice(kinds)


def loose_axiom(rng: random.Random) -> Axiom:
    """An axiom of an ontology that declares no properties: often, what it means hangs on others."""
    property, other = rng.choice(PROPERTIES), rng.choice(PROPERTIES)
    kinds: list[Axiom] = [
        ("annotation", property),
        ("fact", rng.choice(ASSERTED), property, rng.choice(EVERYBODY)),
        ("fact", rng.choice(ASSERTED), property, rng.choice(EVERYBODY)),
        (rng.choice(("domain", "range")), property, rng.choice(CLASSES)),
        ("chain", (property,), other),
    ]
    return rng.choice(kinds) if rng.random() < 0.5 else random_axiom(rng)


def random_class(rng: random.Random, depth: int, *, left: bool) -> Class:
    """A class expression, mostly of the kinds that its side can have."""
    if depth == 0 or rng.random() < 0.35:
        return rng.choice(CLASSES)
    inner = lambda: random_class(rng, depth - 1, left=left)  # noqa: E731
    property = random_property(rng)
    common: list[Class] = [
        ("and", _several(inner(), inner())),
        ("value", property, rng.choice(EVERYBODY)),
        ("self", property),
    ]
    conditions: list[Class] = [
        ("or", _several(inner(), inner())),
        ("some", property, inner()),
        ("some", property, "Thing"),
        ("min", 1, property, inner()),
        ("oneof", tuple(sorted(rng.sample(EVERYBODY, 2)))),
    ]
    conclusions: list[Class] = [
        ("only", property, inner()),
        ("max", rng.choice((0, 1, 2)), property, random_class(rng, depth - 1, left=True)),
        ("exactly", 1, property, rng.choice((*CLASSES, "Thing"))),
        ("not", random_class(rng, depth - 1, left=True)),
        ("or", _several(("not", rng.choice(CLASSES)), inner())),
        ("oneof", (rng.choice(EVERYBODY),)),
        ("some", property, ("oneof", (rng.choice(EVERYBODY),))),
        "Nothing",
    ]
    fitting = conditions if (left if rng.random() < 0.9 else not left) else conclusions
    return rng.choice(common + fitting)


def _several(*members: Class) -> tuple[Class, ...]:
    return tuple(sorted(set(members), key=repr))


def random_property(rng: random.Random) -> Any:
    name = rng.choice(PROPERTIES)
    return ("inv", name) if rng.random() < 0.15 else name


def random_fact(rng: random.Random) -> Fact:
    subject = rng.choice(INDIVIDUALS)
    if rng.random() < 0.5:
        return subject, "type", rng.choice(CLASSES)
    return subject, rng.choice(PROPERTIES), rng.choice(EVERYBODY)


# as text


def turtle(axioms: Iterable[Axiom]) -> str:
    """Axioms as an ontology."""
    return PREFIXES + "\n".join(map(_axiom, axioms))


def triples(facts: Iterable[Fact]) -> str:
    """Facts as N-Triples."""
    return "\n".join(f"<{EX}{s}> <{predicate(p)}> <{EX}{o}> ." for s, p, o in facts)


def predicate(word: str) -> str:
    return {"type": RDF_TYPE, "same": OWL + "sameAs"}.get(word, EX + word)


def _axiom(axiom: Axiom) -> str:
    match axiom:
        case "sub", sub, sup:
            return f"{_cls(sub)} rdfs:subClassOf {_cls(sup)} ."
        case "equiv", first, second:
            return f"{_cls(first)} owl:equivalentClass {_cls(second)} ."
        case "disjoint", first, second:
            return f"{_cls(first)} owl:disjointWith {_cls(second)} ."
        case ("domain" | "range") as kind, property, cls:
            if isinstance(property, tuple):
                return f"{_property(property)} rdfs:{kind} {_cls(cls)} ."
            return f"ex:{property} rdfs:{kind} {_cls(cls)} ."
        case "chain", (str(only),), sup:
            return f"ex:{only} rdfs:subPropertyOf ex:{sup} ."
        case "chain", properties, sup:
            return f"ex:{sup} owl:propertyChainAxiom ({' '.join(map(_property, properties))}) ."
        case "inverse", first, second:
            return f"ex:{first} owl:inverseOf ex:{second} ."
        case "annotation", property:
            return f"ex:{property} a owl:AnnotationProperty ."
        case "trait", trait, property:
            return f"ex:{property} a owl:{trait}Property ."
        case "key", cls, properties:
            return f"{_cls(cls)} owl:hasKey ({' '.join(map(_property, properties))}) ."
        case "is", individual, cls:
            return f"ex:{individual} a {_cls(cls)} ."
        case "denied", subject, property, value:
            return (
                f"[] a owl:NegativePropertyAssertion ; owl:sourceIndividual ex:{subject} ; "
                f"owl:assertionProperty ex:{property} ; owl:targetIndividual ex:{value} ."
            )
        case "same", first, second:
            return f"ex:{first} owl:sameAs ex:{second} ."
        case "different", first, second:
            return f"ex:{first} owl:differentFrom ex:{second} ."
        case _:
            return "ex:{} ex:{} ex:{} .".format(*axiom[1:])


def _cls(cls: Class) -> str:
    match cls:
        case "Thing" | "Nothing":
            return f"owl:{cls}"
        case str():
            return f"ex:{cls}"
        case ("and" | "or") as kind, members:
            name = {"and": "intersectionOf", "or": "unionOf"}[kind]
            return f"[ a owl:Class ; owl:{name} ({' '.join(map(_cls, members))}) ]"
        case "not", member:
            return f"[ a owl:Class ; owl:complementOf {_cls(member)} ]"
        case "oneof", members:
            return f"[ a owl:Class ; owl:oneOf ({' '.join(f'ex:{m}' for m in members)}) ]"
        case "some", property, filler:
            return _restriction(property, f"owl:someValuesFrom {_cls(filler)}")
        case "only", property, filler:
            return _restriction(property, f"owl:allValuesFrom {_cls(filler)}")
        case "value", property, individual:
            return _restriction(property, f"owl:hasValue ex:{individual}")
        case "self", property:
            return _restriction(property, "owl:hasSelf true")
        case bound, number, property, "Thing":
            name = {"min": "minC", "max": "maxC", "exactly": "c"}[bound] + "ardinality"
            return _restriction(property, f"owl:{name} {number}")
        case bound, number, property, filler:
            name = {"min": "minQ", "max": "maxQ", "exactly": "q"}[bound] + "ualifiedCardinality"
            return _restriction(property, f"owl:{name} {number} ; owl:onClass {_cls(filler)}")
        case _:
            raise AssertionError(cls)


def _restriction(property: Any, what: str) -> str:
    return f"[ a owl:Restriction ; owl:onProperty {_property(property)} ; {what} ]"


def _property(property: Any) -> str:
    return (
        f"[ owl:inverseOf ex:{property[1]} ]" if isinstance(property, tuple) else f"ex:{property}"
    )

"""Annotations: what an ontology says that means nothing to a reasoner, and axioms about them.

A triple whose predicate no axiom speaks of is an annotation, until one does.  What is said of an
annotation property alone (its domain, its range, what it is more special than) has no meaning in
OWL's direct semantics.  All of it is set aside and stays known, since other axioms may give it a
meaning when they come, or take it when they go.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from pyoxigraph import NamedNode

from livefacts.language.axioms import (
    Axiom,
    Declaration,
    Domain,
    EntityKind,
    PropertyAssertion,
    Range,
    SubPropertyOf,
    properties_in,
)
from livefacts.model.namespaces import OWL, RDF, RDFS, XSD

VOCABULARY = (RDF, RDFS, OWL, XSD)
EXTREMES = {
    NamedNode(OWL + f"{end}{kind}Property")
    for end in ("top", "bottom")
    for kind in ("Object", "Data")
}
BUILT_IN = frozenset(
    NamedNode(name)
    for name in (
        *(RDFS + each for each in ("label", "comment", "seeAlso", "isDefinedBy")),
        *(OWL + each for each in ("deprecated", "versionInfo", "priorVersion")),
        *(OWL + each for each in ("backwardCompatibleWith", "incompatibleWith")),
    )
)
Properties = Collection[NamedNode]


def annotation_properties(axioms: Iterable[Axiom]) -> frozenset[NamedNode]:
    """What is declared to annotate, and not to be a property of individuals as well."""
    kinds: dict[EntityKind, set[NamedNode]] = {kind: set() for kind in EntityKind}
    for axiom in axioms:
        if isinstance(axiom, Declaration):
            kinds[axiom.kind].add(axiom.name)
    annotating = kinds[EntityKind.ANNOTATION_PROPERTY] | BUILT_IN
    return frozenset(
        annotating - kinds[EntityKind.OBJECT_PROPERTY] - kinds[EntityKind.DATA_PROPERTY]
    )


def made_known(axiom: Axiom, annotating: Properties) -> set[NamedNode]:
    """The properties whose values are facts because of this axiom."""
    if isinstance(axiom, PropertyAssertion) or _annotates(axiom, annotating):
        return set()
    return {each for each in properties_in(axiom) if not each.value.startswith(VOCABULARY)}


def known_properties(axioms: Iterable[Axiom], annotating: Properties) -> set[NamedNode]:
    """The properties whose values are facts because of these axioms."""
    return {property for axiom in axioms for property in made_known(axiom, annotating)}


def is_aside(axiom: Axiom, annotating: Properties, known: Properties) -> bool:
    """Whether an axiom means nothing, where these annotate and the values of those are facts."""
    if isinstance(axiom, PropertyAssertion) and not axiom.denied:
        return axiom.property not in known and axiom.property not in EXTREMES
    return _annotates(axiom, annotating)


def _annotates(axiom: Axiom, annotating: Properties) -> bool:
    match axiom:
        case Declaration(_, kind):
            return kind is EntityKind.ANNOTATION_PROPERTY
        case SubPropertyOf((property,), _) | Domain(property, _) | Range(property, _):
            return property in annotating
        case _:
            return False


def set_annotations_apart(
    axioms: Iterable[Axiom], known: Properties = ()
) -> tuple[list[Axiom], list[Axiom]]:
    """The axioms that mean something, and those set aside; the values of `known` are facts."""
    axioms = list(axioms)
    annotating = annotation_properties(axioms)
    known = known_properties(axioms, annotating).union(known)
    parts: tuple[list[Axiom], list[Axiom]] = ([], [])
    for axiom in axioms:
        parts[is_aside(axiom, annotating, known)].append(axiom)
    return parts

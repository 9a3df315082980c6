"""Axioms of OWL as data: what an ontology says about classes, properties and individuals.

A class expression is a name (an IRI) or one of the dataclasses below; the same serves for
data ranges, whose members are literals.  Nothing here is a blank node: an axiom is a value,
equal to another one that says the same in the same words, whatever the order of its members.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from enum import StrEnum
from typing import TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

Individual: TypeAlias = NamedNode | Literal | BlankNode
"""What may be a member of a class, or the value of a property."""


@dataclass(frozen=True, slots=True)
class Inverse:
    """`inverse hasMaker`: a property read from its object to its subject."""

    property: NamedNode


Property: TypeAlias = NamedNode | Inverse


@dataclass(frozen=True, slots=True)
class And:
    """`A and B`: what belongs to all of them."""

    members: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """`A or B`: what belongs to one of them at least."""

    members: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`not A`: what does not belong to it."""

    member: ClassExpression


@dataclass(frozen=True, slots=True)
class OneOf:
    """`{ann, ben}`: these and no others."""

    members: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class Some:
    """`p some A`: what has a value of p that is an A."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Only:
    """`p only A`: what has no values of p but those that are an A."""

    property: Property
    filler: ClassExpression


@dataclass(frozen=True, slots=True)
class Has:
    """`p value v`: what has this value of p."""

    property: Property
    value: Individual


@dataclass(frozen=True, slots=True)
class HasSelf:
    """`p Self`: what is a value of p of its own."""

    property: Property


@dataclass(frozen=True, slots=True)
class Count:
    """`p min 2 A`, `p max 1 A`, `p exactly 1 A`: how many values of p are an A."""

    bound: Bound
    number: int
    property: Property
    filler: ClassExpression


class Bound(StrEnum):
    """How a number of values is bounded."""

    MIN = "min"
    MAX = "max"
    EXACTLY = "exactly"


@dataclass(frozen=True, slots=True)
class Restricted:
    """`xsd:integer[>= 18]`: the values of a datatype within bounds (facets)."""

    datatype: NamedNode
    facets: tuple[tuple[NamedNode, Literal], ...]


@dataclass(frozen=True, slots=True)
class Unreadable:
    """What stands where a class should, and is none; `reason` says why."""

    reason: str


ClassExpression: TypeAlias = (
    NamedNode
    | And
    | Or
    | Not
    | OneOf
    | Some
    | Only
    | Has
    | HasSelf
    | Count
    | Restricted
    | Unreadable
)


@dataclass(frozen=True, slots=True)
class SubClassOf:
    """Every member of one class is a member of the other."""

    sub: ClassExpression
    sup: ClassExpression


@dataclass(frozen=True, slots=True)
class EquivalentClasses:
    """All these classes have the same members."""

    members: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class DisjointClasses:
    """No two of these classes have a member in common."""

    members: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class DisjointUnion:
    """A class is made of parts that have no member in common."""

    whole: ClassExpression
    parts: tuple[ClassExpression, ...]


@dataclass(frozen=True, slots=True)
class SubPropertyOf:
    """A chain of properties, most often of one, leads to where the other property leads."""

    chain: tuple[Property, ...]
    sup: Property


@dataclass(frozen=True, slots=True)
class EquivalentProperties:
    """All these properties have the same values."""

    members: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class InverseProperties:
    """One property is the other one, read backwards."""

    members: tuple[Property, Property]


@dataclass(frozen=True, slots=True)
class DisjointProperties:
    """No two of these properties have a value in common."""

    members: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class Domain:
    """What has a value of the property belongs to the class."""

    property: Property
    cls: ClassExpression


@dataclass(frozen=True, slots=True)
class Range:
    """Every value of the property belongs to the class."""

    property: Property
    cls: ClassExpression


class Trait(StrEnum):
    """What a property can be."""

    FUNCTIONAL = "Functional"
    INVERSE_FUNCTIONAL = "InverseFunctional"
    REFLEXIVE = "Reflexive"
    IRREFLEXIVE = "Irreflexive"
    SYMMETRIC = "Symmetric"
    ASYMMETRIC = "Asymmetric"
    TRANSITIVE = "Transitive"


@dataclass(frozen=True, slots=True)
class HasTrait:
    """A property is functional, transitive, symmetric, …"""

    property: Property
    trait: Trait


@dataclass(frozen=True, slots=True)
class HasKey:
    """Two members of the class that agree in all these properties are the same."""

    cls: ClassExpression
    properties: tuple[Property, ...]


@dataclass(frozen=True, slots=True)
class DatatypeDefinition:
    """A name for a data range."""

    datatype: NamedNode
    range: ClassExpression


class EntityKind(StrEnum):
    """What a name can be declared to be, where that changes the meaning of axioms."""

    OBJECT_PROPERTY = "ObjectProperty"
    DATA_PROPERTY = "DatatypeProperty"
    DATATYPE = "Datatype"
    ANNOTATION_PROPERTY = "AnnotationProperty"


@dataclass(frozen=True, slots=True)
class Declaration:
    """A name stands for a property (of individuals, literals or annotations) or a datatype."""

    name: NamedNode
    kind: EntityKind


@dataclass(frozen=True, slots=True)
class ClassAssertion:
    """An individual belongs to a class."""

    individual: Individual
    cls: ClassExpression


@dataclass(frozen=True, slots=True)
class PropertyAssertion:
    """An individual has a value of a property; or, denied, it has not."""

    individual: Individual
    property: NamedNode
    value: Individual
    denied: bool = False


@dataclass(frozen=True, slots=True)
class SameIndividuals:
    """These names stand for one individual."""

    members: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class DifferentIndividuals:
    """Each of these names stands for another individual."""

    members: tuple[Individual, ...]


@dataclass(frozen=True, slots=True)
class Misstated:
    """A triple that begins an axiom and does not make one; `reason` says why."""

    triple: Triple
    reason: str
    properties: tuple[NamedNode, ...] = ()
    """The properties that the triple speaks of."""


Axiom: TypeAlias = (
    SubClassOf
    | EquivalentClasses
    | DisjointClasses
    | DisjointUnion
    | SubPropertyOf
    | EquivalentProperties
    | InverseProperties
    | DisjointProperties
    | Domain
    | Range
    | HasTrait
    | HasKey
    | DatatypeDefinition
    | Declaration
    | ClassAssertion
    | PropertyAssertion
    | SameIndividuals
    | DifferentIndividuals
    | Misstated
)


ABOUT_PROPERTIES = SubPropertyOf | EquivalentProperties | InverseProperties | DisjointProperties


def properties_in(part: object) -> Iterator[NamedNode]:
    """The properties that an axiom, or an expression in it, speaks of.

    >>> p, a = NamedNode("http://example.org/p"), NamedNode("http://example.org/A")
    >>> list(properties_in(SubClassOf(a, Only(Inverse(p), a)))) == [p]
    True
    """
    if isinstance(part, Declaration):
        is_property = part.kind in (EntityKind.OBJECT_PROPERTY, EntityKind.DATA_PROPERTY)
        yield from (part.name,) if is_property else ()
    elif is_dataclass(part):
        for field in fields(part):
            value = getattr(part, field.name)
            members = value if isinstance(value, tuple) else (value,)
            if isinstance(part, ABOUT_PROPERTIES) or field.name in ("property", "properties"):
                yield from (m.property if isinstance(m, Inverse) else m for m in members)
            else:
                for member in members:
                    yield from properties_in(member)

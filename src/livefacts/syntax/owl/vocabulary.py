"""The vocabulary of RDF, RDF Schema and OWL: all words of their namespaces.

A name in one of them that is none of these words is a mistake, most often of spelling:
`owl:disjontWith` says nothing, and whoever wrote it believes that it does.
"""

from __future__ import annotations

import re

from livefacts.model.namespaces import DECLARED, OWL, RDF, RDFS, XSD

FACETS = (
    *(
        XSD + name
        for name in [
            "minInclusive",
            "maxInclusive",
            "minExclusive",
            "maxExclusive",
            "length",
            "minLength",
            "maxLength",
            "pattern",
            "totalDigits",
            "fractionDigits",
            "whiteSpace",
        ]
    ),
    RDF + "langRange",
)
"""What bounds the values of a datatype."""
WORDS = {
    RDF: """
    type first rest nil value subject predicate object reifies langRange language direction
    Property List Statement Bag Seq Alt CompoundLiteral
    langString dirLangString PlainLiteral XMLLiteral HTML JSON
    """,
    RDFS: """
    subClassOf subPropertyOf domain range label comment seeAlso isDefinedBy member
    Class Resource Literal Datatype Container ContainerMembershipProperty
    """,
    OWL: """
    AllDifferent AllDisjointClasses AllDisjointProperties Annotation AnnotationProperty
    AsymmetricProperty Axiom Class DataRange DatatypeProperty DeprecatedClass
    DeprecatedProperty FunctionalProperty InverseFunctionalProperty IrreflexiveProperty
    NamedIndividual NegativePropertyAssertion Nothing ObjectProperty Ontology
    OntologyProperty ReflexiveProperty Restriction SymmetricProperty Thing
    TransitiveProperty real rational
    allValuesFrom annotatedProperty annotatedSource annotatedTarget assertionProperty
    backwardCompatibleWith bottomDataProperty bottomObjectProperty cardinality complementOf
    datatypeComplementOf deprecated differentFrom disjointUnionOf disjointWith
    distinctMembers equivalentClass equivalentProperty hasKey hasSelf hasValue imports
    incompatibleWith intersectionOf inverseOf maxCardinality maxQualifiedCardinality members
    minCardinality minQualifiedCardinality onClass onDataRange onDatatype onProperties
    onProperty oneOf priorVersion propertyChainAxiom propertyDisjointWith
    qualifiedCardinality sameAs someValuesFrom sourceIndividual targetIndividual targetValue
    topDataProperty topObjectProperty unionOf versionIRI versionInfo withRestrictions
    """,
}
KNOWN = {space: frozenset(words.split()) for space, words in WORDS.items()}
NUMBERED = re.compile(r"_[1-9][0-9]*")
"""The places of a container: rdf:_1, rdf:_2, …"""


def misspelling(iri: str) -> str | None:
    """What is wrong with a name that only looks like a word of these languages.

    >>> misspelling("http://www.w3.org/2002/07/owl#disjontWith")
    'owl:disjontWith is no word of OWL; did you mean owl:disjointWith?'
    """
    for prefix, space in DECLARED.items():
        word = iri.removeprefix(space)
        if space in KNOWN and word != iri and not _is_known(space, word):
            near = _nearest(word, KNOWN[space])
            hint = f"; did you mean {prefix}:{near}?" if near else ""
            return f"{prefix}:{word} is no word of {LANGUAGES[space]}{hint}"
    return None


LANGUAGES = {RDF: "RDF", RDFS: "RDF Schema", OWL: "OWL"}


def _is_known(space: str, word: str) -> bool:
    return word in KNOWN[space] or (space == RDF and NUMBERED.fullmatch(word) is not None)


def _nearest(word: str, words: frozenset[str]) -> str:
    import difflib  # only here: it is slow to import, and few ontologies are misspelled

    lowered = {each.lower(): each for each in sorted(words)}
    near = difflib.get_close_matches(word.lower(), lowered, n=1)
    return lowered[near[0]] if near else ""

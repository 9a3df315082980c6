"""The schema split: rules that follow one triple at a time once the schema is closed.

A schema atom speaks of the RDFS or OWL vocabulary: its predicate is one of that
vocabulary's, or it is rdf:type with such a class.  A rule belongs to the split when all
of its premises but at most one are schema atoms: then, under a closed schema, every
other triple has a fixed set of consequences.  A rule without any schema atom belongs only
if its premise is any triple at all.  Whether the data keep the schema apart
(nobody declares a subproperty of rdfs:subClassOf) is for the engine to find out: a rule of
the rest with a variable predicate in its head could conclude schema triples.

Paper: DynamiTE, section 3.2 (rule types 1 to 3), for any program.
"""

from __future__ import annotations

from collections.abc import Iterable

from pyoxigraph import NamedNode

from livefacts.language.formula import Atom, TripleAtom, Variable
from livefacts.language.program import Rule
from livefacts.model.namespaces import OWL, RDF, RDFS
from livefacts.plan.rules.memo import by_address

VOCABULARIES = (RDFS, OWL)
TYPE = NamedNode(RDF + "type")
RESOURCE = NamedNode(VOCABULARIES[0] + "Resource")
OF_INSTANCES = frozenset(NamedNode(VOCABULARIES[1] + name) for name in ("sameAs", "differentFrom"))
"""Words of the vocabularies that speak of any two things."""


def is_schema(atom: Atom) -> bool:
    """Whether every triple that fits the atom belongs to the schema."""
    if not isinstance(atom, TripleAtom):
        return False
    if atom.predicate == TYPE:
        return is_schema_class(atom.object)
    if not isinstance(atom.predicate, NamedNode) or atom.predicate in OF_INSTANCES:
        return False
    return atom.predicate.value.startswith(VOCABULARIES)


def is_schema_class(term: object) -> bool:
    """Whether having this class makes a resource part of the schema."""
    return (
        isinstance(term, NamedNode)
        and term.value.startswith((*VOCABULARIES, RDF))
        and term != RESOURCE
    )


@by_address
def follows_single_triples(rule: Rule) -> bool:
    """Whether a rule belongs to the split."""
    if not all(isinstance(atom, TripleAtom) for atom in (rule.head, *rule.body)):
        return False
    generic = [atom for atom in rule.body if not is_schema(atom)]  # type: ignore[arg-type]
    if len(generic) == len(rule.body):
        return len(generic) == 1 and isinstance(generic[0].predicate, Variable)  # type: ignore[union-attr]
    return len(generic) <= 1


def is_worth_splitting(single: Iterable[Rule]) -> bool:
    """Whether rules of the split have an instance premise among them."""
    return any(not is_schema(atom) for rule in single for atom in rule.body)  # type: ignore[arg-type]

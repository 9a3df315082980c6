"""Ontologies for users: the rules of an OWL file, with a report of what they leave out."""

from __future__ import annotations

from livefacts.syntax.owl import OFF, RULES, OntologyReport, OntologySource, rules_of

__all__ = ["OFF", "RULES", "OntologyReport", "rules_from_owl"]


def rules_from_owl(source: OntologySource, *, same_as: str = OFF) -> OntologyReport:
    """The rules of an ontology: `.rules` as text, `.program`, and what is `.inexpressible`.

    `source` is a path or pattern, the text of an ontology, or a list of these, which is read
    as one.  Any RDF format will do; nothing is fetched from the network.  With
    `same_as="rules"` what holds of one name holds of all that are the same.
    """
    return rules_of(source, same_as=same_as)

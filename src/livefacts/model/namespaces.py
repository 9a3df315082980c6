"""Namespaces: the well-known ones, and the prefixes that need no declaration."""

from __future__ import annotations

from pyoxigraph import NamedNode

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
XSD = "http://www.w3.org/2001/XMLSchema#"
OWL = "http://www.w3.org/2002/07/owl#"
DECLARED = {"rdf": RDF, "rdfs": RDFS, "xsd": XSD, "owl": OWL}
EXTENSION = "urn:livefacts:"
"""What aggregates are called that SPARQL does not have: `<urn:livefacts:stddev>(?v)`."""
RDF_TYPE = NamedNode(RDF + "type")

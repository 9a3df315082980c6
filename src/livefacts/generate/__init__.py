"""Data to try things on: universities in the shape of LUBM, graphs of known closure, ontologies,
and streams: of positions, and those that Laser was measured with.

Every generator yields N-Triples as bytes, in pieces of whole lines, and keeps no more
than one piece in memory; ontologies and timed streams (JSON lines) also yield their rules.  The same arguments give the
same bytes on every machine.
"""

from livefacts.generate.graphs import chain, random_graph, tree
from livefacts.generate.ontologies import Ontology
from livefacts.generate.positions import city, positions
from livefacts.generate.timedstreams import TimedStream
from livefacts.generate.universities import NAMESPACE, university

__all__ = [
    "NAMESPACE",
    "Ontology",
    "TimedStream",
    "chain",
    "city",
    "positions",
    "random_graph",
    "tree",
    "university",
]

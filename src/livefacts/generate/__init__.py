"""Data to try things on: universities in the shape of LUBM, graphs of known closure, ontologies,
and streams: of positions, and those that Laser was measured with.

Every generator yields N-Triples as bytes, in pieces of whole lines, and keeps no more
than one piece in memory; ontologies and timed streams (JSON lines) also yield their rules.  The same arguments give the
same bytes on every machine.

- `graphs`: chains, trees and random graphs, whose closure is known
- `ontologies`: a tree of classes with instances and properties
- `positions`: people who move between places, and the map of those places
- `timed_streams`: atoms at every time point, and the rules that look at them
- `universities`: people, courses and publications in the shape of LUBM
- `university_schema`: the classes, properties, domains and ranges of those
"""

from livefacts.generate.graphs import chain, random_graph, tree
from livefacts.generate.ontologies import GeneratedOntology
from livefacts.generate.positions import city, positions
from livefacts.generate.timed_streams import TimedStream
from livefacts.generate.universities import NAMESPACE, university

__all__ = [
    "NAMESPACE",
    "GeneratedOntology",
    "TimedStream",
    "chain",
    "city",
    "positions",
    "random_graph",
    "tree",
    "university",
]

"""Generators: data to try things on, graphs of known closure, ontologies, and streams.

Every generator yields N-Triples as bytes, in pieces of whole lines, and keeps no more
than one piece in memory; ontologies and timed streams (JSON lines) also yield their rules.
The same arguments give the same bytes on every machine.

In: a size and a seed.
Out: bytes of N-Triples, lines of JSON, rules as text.

- `graphs`: chains, trees and random graphs, whose closure is known
- `university_schema`: the classes, properties, domains and ranges of universities
- `universities`: people, courses and publications in the shape of LUBM
- `ontologies`: a tree of classes with instances and properties
- `positions`: people who move between places, and the map of those places
- `sensors`: a city of sensors, its rules, and what they show each second
- `timed_streams`: atoms at every time point, and the rules that look at them

Papers: DynamiTE, section 6 (LUBM); Volz et al., section 5; Laser, section 4.
"""

from livefacts.generate.graphs import chain, random_graph, tree
from livefacts.generate.ontologies import GeneratedOntology
from livefacts.generate.positions import city, positions
from livefacts.generate.sensors import SensorCity
from livefacts.generate.timed_streams import TimedStream
from livefacts.generate.universities import NAMESPACE, university

__all__ = [
    "NAMESPACE",
    "GeneratedOntology",
    "SensorCity",
    "TimedStream",
    "chain",
    "city",
    "positions",
    "random_graph",
    "tree",
    "university",
]

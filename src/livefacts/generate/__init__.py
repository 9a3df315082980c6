"""Data to try things on: universities in the shape of LUBM, and graphs of known closure.

Every generator yields N-Triples as bytes, in pieces of whole lines, and keeps no more
than one piece in memory.  The same arguments give the same bytes on every machine.
"""

from livefacts.generate.graphs import chain, random_graph, tree
from livefacts.generate.universities import NAMESPACE, university

__all__ = ["NAMESPACE", "chain", "random_graph", "tree", "university"]

"""Positions: a stream of people who move between places, and the map of those places.

Rooms are in houses, houses in quarters, quarters in towns.  At every second some people are
seen in a room; who is seen is a commuter.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

NAMESPACE = "http://livefacts.example/city#"
STREAM = "http://livefacts.example/positions"
RDF_TYPE = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
INTEGER = "http://www.w3.org/2001/XMLSchema#integer"
LEVELS = ("town", "quarter", "house", "room")
BRANCHES = 5


def positions(seconds: int, people: int, rate: int, seed: int = 0) -> Iterator[bytes]:
    """Timed N-Quads: every second, `rate` of the people are seen in a room each."""
    pick = random.Random(seed)
    rooms = BRANCHES ** len(LEVELS)
    for second in range(seconds):
        lines = [
            f"{_node('person', person)} {_iri('isIn')} {_node('room', pick.randrange(rooms))} "
            f'<{STREAM}> "{second}"^^<{INTEGER}> .\n'
            for person in pick.sample(range(people), min(rate, people))
        ]
        yield "".join(lines).encode()


def city() -> Iterator[bytes]:
    """N-Triples: what is in what, and that who is in something is a commuter."""
    yield f"{_iri('isIn')} <{RDFS}domain> {_iri('Commuter')} .\n".encode()
    yield f"{_iri('Commuter')} <{RDFS}subClassOf> {_iri('Person')} .\n".encode()
    for depth, level in enumerate(LEVELS):
        above = LEVELS[depth - 1]
        lines = []
        for number in range(BRANCHES ** (depth + 1)):
            here = _node(level, number)
            lines.append(f"{here} <{RDF_TYPE}> {_iri(level.capitalize())} .\n")
            if depth:
                lines.append(f"{here} {_iri('partOf')} {_node(above, number // BRANCHES)} .\n")
        yield "".join(lines).encode()


def _iri(name: str) -> str:
    return f"<{NAMESPACE}{name}>"


def _node(kind: str, number: int) -> str:
    return f"<{NAMESPACE}{kind}{number}>"

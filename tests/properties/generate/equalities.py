"""Random ontologies in which much is the same: things, classes, properties, cells of lists.

Equalities come and go one by one and many at once; some are of a thing with itself, with a
literal or with a blank node, and some axioms are about owl:sameAs itself.
"""

from __future__ import annotations

from pyoxigraph import BlankNode, Literal, NamedNode, Triple
from tests.oracle.owl import SAME, SUBPROPERTY, TYPE, XSD, owl, rdfs
from tests.properties.generate.ontologies import (
    BENT,
    CLASSES,
    COMMON,
    CONFLICTS,
    EQUALITY,
    EX,
    PROPERTIES,
    THINGS,
    Step,
    Words,
    named,
)

MANY = THINGS + named("fghijk")
CELLS = [NamedNode(f"{EX}cell{number}") for number in range(1, 5)]
STRANGE = [
    Literal("x"),
    Literal("01", datatype=NamedNode(XSD + "integer")),
    Literal(1),
    BlankNode("b1"),
    SAME,
]


def _same(words: Words) -> Triple:
    pick = words.pick
    sort = pick.choice([MANY] * 6 + [CLASSES, PROPERTIES, CELLS])
    x, y = pick.choice(sort), pick.choice(sort)
    return Triple(x, SAME, pick.choice(STRANGE) if pick.random() < 0.05 else y)


def _others(words: Words) -> list[Triple]:
    """What is told to be the same as itself, or as a literal, and so stays itself."""
    pick = words.pick
    itself = [Triple(x, SAME, x) for x in pick.sample(MANY, 2)]
    values = [Triple(t.subject, SAME, pick.choice(STRANGE)) for t in itself]
    return itself + values


def _about_equality(words: Words) -> list[Triple]:
    """What makes owl:sameAs mean more than it does."""
    p = words.one(PROPERTIES)
    return words.pick.choice(
        [
            [Triple(SAME, SUBPROPERTY, p)],
            [Triple(p, SUBPROPERTY, SAME)],
            [Triple(SAME, TYPE, owl("TransitiveProperty"))],
            [Triple(SAME, TYPE, owl("FunctionalProperty"))],
            [Triple(SAME, rdfs("domain"), words.one(CLASSES))],
            [Triple(SAME, owl("inverseOf"), p)],
        ]
    )


def _fact(words: Words) -> Triple:
    if words.pick.random() < 0.3:
        return Triple(words.one(MANY), TYPE, words.described())
    return Triple(words.one(MANY), words.one(PROPERTIES), words.one(MANY))


def draw_equals(seed: int, steps: int = 6) -> list[Step]:
    """The changes of a random ontology in which much is told to be the same."""
    words = Words(f"equals {seed}")
    pick = words.pick
    sorts = pick.sample(COMMON, 4) + pick.sample(CONFLICTS, 2) + pick.sample(EQUALITY, 3)
    sorts += BENT if pick.random() < 0.2 else []
    sorts += [_about_equality] if pick.random() < 0.2 else []
    axioms = [triple for _ in range(6) for triple in pick.choice(sorts)(words)]
    facts = [_fact(words) for _ in range(10)]
    equals = [_same(words) for _ in range(pick.choice((4, 7, 10, 14)))]
    equals += _others(words) if pick.random() < 0.3 else []
    return _life(words, axioms, facts, equals, steps)


def draw_following(seed: int, steps: int = 6) -> list[Step]:
    """The changes of a random ontology in which it follows of much that it is the same."""
    words = Words(f"following {seed}")
    pick = words.pick
    sorts = pick.sample(COMMON, 3) + pick.sample(EQUALITY, 2)
    axioms = [triple for _ in range(4) for triple in pick.choice(sorts)(words)]
    few, likely = pick.sample(MANY, 3), pick.sample(PROPERTIES, 2)
    axioms.append(Triple(likely[0], TYPE, owl("FunctionalProperty")))
    axioms.append(Triple(likely[1], TYPE, owl("InverseFunctionalProperty")))
    facts = [_fact(words) for _ in range(5)]
    facts += [Triple(pick.choice(few), pick.choice(likely), words.one(MANY)) for _ in range(12)]
    facts += [Triple(words.one(MANY), pick.choice(likely), pick.choice(few)) for _ in range(6)]
    equals = [_same(words) for _ in range(pick.choice((0, 1, 3)))]
    return _life(words, axioms, facts, equals, steps)


def _life(
    words: Words, axioms: list[Triple], facts: list[Triple], equals: list[Triple], steps: int
) -> list[Step]:
    """Steps in which some of each come, and some of all go."""
    pick = words.pick
    asserted: set[Triple] = set()
    life = []
    for _ in range(steps):
        added = [
            triple
            for some in (axioms, facts, equals)
            for triple in pick.sample(some, min(len(some), pick.choice((0, 1, 2, len(some)))))
        ]
        known = sorted(asserted, key=str)
        removed = pick.sample(known, len(known) * pick.choice((0, 0, 1, 2)) // 4)
        same = [triple for triple in known if triple.predicate == SAME]
        removed += [pick.choice(same)] if same and pick.random() < 0.4 else []
        life.append(Step(added, removed))
        asserted = (asserted - set(removed)) | set(added)
    return life

"""Triple blocks: what a pattern or template says of its subjects, as atoms.

Lists, brackets and reified triples become atoms about nodes of their own, whose names come
from where they stand in the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from livefacts.language.algebra import (
    BLANK,
    Alternative,
    InversePath,
    NoneOf,
    Path,
    PathAtom,
    PredicatePath,
    Repeated,
    Sequence,
    TripleTerm,
    ground,
)
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.namespaces import RDF, RDF_TYPE
from livefacts.syntax.sparql.lexemes import Lexeme, QueryMistakeError

FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("first", "rest", "nil"))
REIFIES = NamedNode(RDF + "reifies")

Atom = TripleAtom | PathAtom
Verb = Variable | Path
Properties = list[tuple[Verb, list["BlockObject"]]]


class BlockNode(NamedTuple):
    """A term of a triple, and what the text says of it on the way."""

    slot: Any
    atoms: tuple[Atom, ...] = ()


class Annotation(NamedTuple):
    """What is said of the triple itself: the node that stands for it, and properties of that."""

    node: Any
    properties: Properties


class BlockObject(NamedTuple):
    """An object, and the annotations of the triple that it ends."""

    node: BlockNode
    annotations: list[Annotation]


# terms


def plain(children: list[Any]) -> Any:
    return children[0].value


variable = constant = name = plain


def nil(children: list[Any]) -> Any:
    return NIL


def anonymous(children: list[Any]) -> Any:
    return _fresh(children[0])


def triple_term(children: list[Any]) -> Any:
    subject, verb, value = children
    return _triple_term(subject, verb, value)


def collection(children: list[Any]) -> BlockNode:
    opening, *nodes = children
    cells: list[Any] = [_fresh(opening, f".{number}") for number in range(len(nodes))]
    atoms: list[Atom] = []
    for cell, following, node in zip(cells, [*cells[1:], NIL], nodes, strict=True):
        slot, more = _node(node)
        atoms += [TripleAtom(cell, FIRST, slot), TripleAtom(cell, REST, following), *more]
    return BlockNode(cells[0], tuple(atoms))


def blank_list(children: list[Any]) -> BlockNode:
    opening, properties = children
    slot = _fresh(opening)
    return BlockNode(slot, tuple(_said_of(slot, properties)))


def reified(children: list[Any]) -> BlockNode:
    opening, subject, verb, value, reifier = children
    subject, value = _node(subject), _node(value)
    slot = _fresh(opening) if reifier is None else reifier.node
    term = _triple_term(subject.slot, verb, value.slot)
    return BlockNode(slot, (*subject.atoms, *value.atoms, TripleAtom(slot, REIFIES, term)))


def reifier(children: list[Any]) -> Annotation:
    mark, slot = children
    return Annotation(_fresh(mark) if slot is None else slot, [])


def annotation(children: list[Any]) -> Annotation:
    mark, properties = children
    return Annotation(_fresh(mark), properties)


def _fresh(at: Lexeme, more: str = "") -> Variable:
    """A node without a label, named after its place: no label begins with a dot."""
    return Variable(f"{BLANK}.{at.start_pos}{more}")


def _node(node: Any) -> BlockNode:
    return node if isinstance(node, BlockNode) else BlockNode(node)


def _triple_term(subject: Any, verb: Any, value: Any) -> Any:
    return ground(TripleTerm(subject, _simple(verb), value))


def _simple(verb: Any) -> Any:
    if isinstance(verb, Variable):
        return verb
    if not isinstance(verb, PredicatePath):
        raise QueryMistakeError("a path inside of a triple term", 0, "name one predicate")
    return verb.predicate


# triples


def triples(children: list[Any]) -> list[Atom]:
    return [atom for atoms in children for atom in atoms]


def same_subject(children: list[Any]) -> list[Atom]:
    subject, properties = children
    slot, atoms = _node(subject)
    return [*atoms, *_said_of(slot, properties or [])]


def property_list(children: list[Any]) -> Properties:
    pairs = zip(children[::2], children[1::2], strict=True)
    return [(verb, objects) for verb, objects in pairs if verb is not None]


def object_list(children: list[Any]) -> list[BlockObject]:
    return children


def described(children: list[Any]) -> BlockObject:
    node, *annotations = children
    return BlockObject(_node(node), list(_merged(annotations)))


def _merged(annotations: list[Annotation]) -> Iterator[Annotation]:
    """Annotations in braces are about the reifier right before them, if one is."""
    before: Annotation | None = None
    for each in annotations:
        if before is not None and each.properties:
            each = Annotation(before.node, each.properties)
            before = None
        elif before is not None:
            yield before
        if each.properties:
            yield each
        else:
            before = each
    if before is not None:
        yield before


def _said_of(subject: Any, properties: Properties) -> Iterator[Atom]:
    for verb, objects in properties:
        for (slot, atoms), said in objects:
            yield _atom(subject, verb, slot)
            yield from atoms
            for node, more in said:
                yield TripleAtom(node, REIFIES, _triple_term(subject, verb, slot))
                yield from _said_of(node, more)


def _atom(subject: Any, verb: Verb, value: Any) -> Atom:
    if isinstance(verb, Variable):
        return TripleAtom(subject, verb, value)
    if isinstance(verb, PredicatePath):
        return TripleAtom(subject, verb.predicate, value)
    return PathAtom(subject, verb, value)


# paths


def alternative(children: list[Any]) -> Path:
    return Alternative(tuple(children))


def sequence(children: list[Any]) -> Path:
    return Sequence(tuple(children))


def inverse(children: list[Any]) -> Path:
    return InversePath(children[0])


negated_inverse = inverse


def repeated(children: list[Any]) -> Path:
    """A path that repeats what is repeated is repeated once: `((p)+)?` is `p*`."""
    path, mark = children[0], children[1].text
    if isinstance(path, Repeated):
        return Repeated(path.path, mark if path.mark == mark else "*")
    return Repeated(path, mark)


def predicate(children: list[Any]) -> Path:
    return PredicatePath(RDF_TYPE if children[0].value is None else children[0].value)


def negated_set(children: list[Any]) -> Path:
    """`!(a|^b)` is `!(a)|^(!(b))`."""
    members: list[Any] = [each for each in children if each is not None]
    forward = [each.predicate for each in members if isinstance(each, PredicatePath)]
    backward: list[Any] = [each for each in members if isinstance(each, InversePath)]
    if not backward:
        return NoneOf(tuple(forward))
    behind = InversePath(NoneOf(tuple(each.path.predicate for each in backward)))
    return Alternative((NoneOf(tuple(forward)), behind)) if forward else behind

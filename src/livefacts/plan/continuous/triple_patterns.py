"""Triple patterns and property paths as relations.

Patterns are joined one after the other, those that share a variable with what is there
first.  `a/b` becomes two patterns with a variable between them, `^a` a pattern the other
way round, `a|b` the pairs of either, each once.  `a+` and `a*` are followed from seeds only: from a
constant end, or from what the patterns before have found; from everything if there is
neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from livefacts.language.algebra import (
    Alternative,
    Basic,
    InversePath,
    NoneOf,
    Path,
    PathAtom,
    PredicatePath,
    Repeated,
)
from livefacts.language.algebra import Sequence as PathSequence
from livefacts.language.expressions import Call, Constant
from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import Reach
from livefacts.plan.continuous.relations import Relation, Relations

Atom = TripleAtom | PathAtom


def basic(relations: Relations, pattern: Basic, given: Relation | None) -> Relation:
    """Rows that match all patterns, and agree with the given ones."""
    atoms = [simple for atom in pattern.atoms for simple in _flat(relations, atom)]
    nodes = {
        slot.name
        for atom in atoms
        if isinstance(atom, TripleAtom)
        for slot in (atom.subject, atom.object)
        if isinstance(slot, Variable)
    }
    found = given
    apart = relations.apart
    while atoms:
        atom = _next(atoms, () if found is None else found.columns)
        atoms.remove(atom)
        right = _matched(relations, atom, found, nodes)
        found = right if found is None else relations.joined(found, right)
    if found is None:
        return relations.graphs()
    named = {
        slot.name for atom in pattern.atoms for slot in atom.slots if isinstance(slot, Variable)
    }
    wanted = named | set(given.columns if given else ()) | set(apart)
    return relations.chosen(found, [name for name in found.columns if name in wanted])


def _next(atoms: Sequence[Atom], known: Sequence[str]) -> Atom:
    """The pattern to join next: connected first, triples before paths, then more constants."""

    def rank(atom: Atom) -> tuple[bool, bool, int]:
        names = [slot.name for slot in atom.slots if isinstance(slot, Variable)]
        is_connected = not known or any(name in known for name in names) or not names
        return not is_connected, isinstance(atom, PathAtom), len(set(names))

    return min(atoms, key=rank)


def _flat(relations: Relations, atom: Atom) -> Iterator[Atom]:
    """The pattern without sequences and inverses on the outside."""
    if isinstance(atom, TripleAtom):
        yield atom
        return
    match atom.path:
        case PredicatePath():
            yield TripleAtom(atom.subject, atom.path.predicate, atom.object)
        case InversePath():
            yield from _flat(relations, PathAtom(atom.object, atom.path.path, atom.subject))
        case PathSequence():
            inner = [Variable(relations.fresh()) for _ in atom.path.paths[1:]]
            ends: list[Slot] = [atom.subject, *inner, atom.object]
            for path, start, end in zip(atom.path.paths, ends, ends[1:], strict=False):
                yield from _flat(relations, PathAtom(start, path, end))
        case _:
            yield atom


def _matched(
    relations: Relations, atom: Atom, before: Relation | None, nodes: set[str]
) -> Relation:
    if isinstance(atom, TripleAtom):
        return relations.triples(atom)
    if not isinstance(atom.path, Repeated):
        return path(relations, atom)
    for end in (atom.subject, atom.object):
        if before is not None and isinstance(end, Variable) and end.name in before.certain:
            seeds = relations.once(relations.chosen(before, (end.name, *relations.apart)))
            seeds = relations.renamed(seeds, ("seed", *relations.apart))
            if end.name not in nodes and atom.path.mark != "+":
                keys = {"seed": "node", **{name: name for name in relations.apart}}
                seeds = relations.kept(seeds, all_nodes(relations), keys, present=True)
            return _from_seeds(relations, atom, seeds, forward=end is atom.subject)
    return path(relations, atom)


def path(relations: Relations, atom: PathAtom) -> Relation:
    """Pairs of ends that a path connects; columns are the variables among its ends."""
    match atom.path:
        case Alternative():
            return relations.gathered([_between(relations, atom, p) for p in atom.path.paths])
        case NoneOf():
            return _none_of(relations, atom, atom.path.predicates)
        case Repeated():
            return _repeated(relations, atom)
        case _:
            return _between(relations, atom, atom.path)


def _between(relations: Relations, atom: PathAtom, inner: Path) -> Relation:
    """Another path between the same ends."""
    return basic(relations, Basic((PathAtom(atom.subject, inner, atom.object),)), None)


def _none_of(relations: Relations, atom: PathAtom, predicates: tuple[Term, ...]) -> Relation:
    name = relations.fresh()
    found = relations.triples(TripleAtom(atom.subject, Variable(name), atom.object))
    listed = tuple(Constant(predicate) for predicate in predicates)
    found = relations.filtered(found, Call("NOT IN", (Variable(name), *listed)))
    return relations.chosen(found, [each for each in found.columns if each != name])


def all_nodes(relations: Relations) -> Relation:
    """Every subject and object of the graph, once."""
    triples = relations.triples(TripleAtom(Variable("s"), Variable("p"), Variable("o")))
    apart = relations.apart
    ends = [
        relations.renamed(relations.chosen(triples, (end, *apart)), ("node", *apart))
        for end in "so"
    ]
    return relations.once(relations.gathered(ends))


def _repeated(relations: Relations, atom: PathAtom) -> Relation:
    if not isinstance(atom.subject, Variable):
        seeds = _constant(relations, atom.subject)
        return _from_seeds(relations, atom, seeds, forward=True)
    if not isinstance(atom.object, Variable):
        seeds = _constant(relations, atom.object)
        return _from_seeds(relations, atom, seeds, forward=False)
    assert isinstance(atom.path, Repeated), "only repeated paths are followed from seeds"
    if atom.path.mark != "+":
        seeds = relations.renamed(all_nodes(relations), ("seed", *relations.apart))
    else:
        edges = _edges(relations, atom.path.path, forward=True)
        seeds = relations.once(relations.chosen(edges, ("from", *relations.apart)))
        seeds = relations.renamed(seeds, ("seed", *relations.apart))
    return _from_seeds(relations, atom, seeds, forward=True)


def _constant(relations: Relations, end: Term) -> Relation:
    """A constant as a seed, in each of the graphs that are kept apart."""
    seeds = relations.listed(("seed",), ((end,),))
    if not relations.apart:
        return seeds
    seeds = relations.joined(seeds, relations.graphs())
    return relations.chosen(seeds, ("seed", *relations.apart))


def _edges(relations: Relations, inner: Path, forward: bool) -> Relation:
    """The pairs that a path connects in one go, each once, in the direction of travel."""
    ends = PathAtom(Variable("from"), inner, Variable("to"))
    found = basic(relations, Basic((ends,)), None)
    apart = relations.apart
    order = ("from", "to", *apart) if forward else ("to", "from", *apart)
    found = relations.once(relations.chosen(found, order))
    return relations.renamed(found, ("from", "to", *apart))


def _from_seeds(relations: Relations, atom: PathAtom, seeds: Relation, forward: bool) -> Relation:
    """The pairs of a repeated path that begin at the seeds, or end there."""
    assert isinstance(atom.path, Repeated), "only repeated paths are followed from seeds"
    apart = relations.apart
    edges = _edges(relations, atom.path.path, forward)
    if atom.path.mark == "?":
        moved = relations.joined(seeds, relations.renamed(edges, ("seed", "node", *apart)))
    else:
        names = ("seed", "node", *apart)
        step = relations.flow.step(Reach(bool(apart)), (edges.step, seeds.step), len(names))
        moved = Relation(step, names, frozenset(names))
    if atom.path.mark != "+":
        staying, _ = relations.copied(seeds, ("seed",))
        staying = relations.renamed(staying, ("seed", *apart, "node"))
        moved = relations.once(relations.gathered([staying, moved]))
    ends = (atom.subject, atom.object) if forward else (atom.object, atom.subject)
    return _ended(relations, moved, ends)


def _ended(relations: Relations, pairs: Relation, ends: tuple[Slot, Slot]) -> Relation:
    """Pairs whose columns are named, or must be a constant, as the ends of a path say."""
    for name, end in zip(("seed", "node"), ends, strict=True):
        if not isinstance(end, Variable):
            pairs = relations.joined(pairs, relations.listed((name,), ((end,),)))
    first, second = ends
    if isinstance(first, Variable) and first == second:
        same = Call("sameTerm", (Variable("seed"), Variable("node")))
        pairs = relations.filtered(pairs, same)
        pairs = relations.chosen(pairs, ("seed", *relations.apart))
        return relations.renamed(pairs, (first.name, *relations.apart))
    named = {
        n: e.name for n, e in zip(("seed", "node"), ends, strict=True) if isinstance(e, Variable)
    }
    pairs = relations.chosen(pairs, (*named, *relations.apart))
    return relations.renamed(pairs, (*named.values(), *relations.apart))

"""List folds: what rules do to walk along an RDF list is folded to the list itself.

Rules about lists go from cell to cell by hidden predicates (`_cell`, `_path`).  In a proof for
people they make way for what they rest on: the list, written as `(a b c)`, and the facts that
are not about its cells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from pyoxigraph import NamedNode, Triple

from livefacts.model.facts import Fact, Term
from livefacts.model.namespaces import RDF
from livefacts.service.explanations.proof_trees import Compared, Premise, Step

FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("first", "rest", "nil"))
HIDDEN = "_"


@dataclass(slots=True)
class Lists:
    """What a proof says of lists: the item of each cell, and the cell behind it."""

    items: dict[Term, Term] = field(default_factory=dict)
    rests: dict[Term, Term] = field(default_factory=dict)

    def take(self, triple: Triple) -> None:
        """A triple about a cell."""
        (self.items if triple.predicate == FIRST else self.rests)[triple.subject] = triple.object

    def whole(self) -> list[list[Term]]:
        """The lists that were walked along, from their heads to their ends."""
        heads = self.items.keys() - set(self.rests.values())
        return [self._from(head) for head in self.items if head in heads]

    def _from(self, cell: Term) -> list[Term]:
        found: list[Term] = []
        while cell in self.items and len(found) < len(self.items):
            found.append(self.items[cell])
            cell = self.rests.get(cell, NIL)
        return found


def fold_lists(premises: Sequence[Premise]) -> tuple[list[Premise], Lists]:
    """Premises without the steps that walk along lists, and the lists."""
    lists, kept, seen = Lists(), list[Premise](), set[int]()
    if not any(map(_is_walk, premises)):
        return list(premises), lists
    waiting = list(reversed(premises))
    while waiting:
        premise = waiting.pop()
        if id(premise) in seen:
            continue
        seen.add(id(premise))
        if isinstance(premise, Step) and _is_hidden(premise):
            inner = [each for each in premise.premises if not isinstance(each, Compared)]
            waiting += reversed(inner)
        elif isinstance(premise, Step) and _is_of_cell(premise):
            assert isinstance(premise.fact, Triple), "a cell is spoken of in triples"
            lists.take(premise.fact)
        else:
            kept.append(premise)
    return _once(kept), lists


def _once(premises: Iterable[Premise]) -> list[Premise]:
    """Premises without those that say the same again."""
    found: dict[object, Premise] = {}
    for premise in premises:
        found.setdefault(premise.fact if isinstance(premise, Step) else id(premise), premise)
    return list(found.values())


def _is_walk(premise: Premise) -> bool:
    """Whether a premise is a hidden fact that rests on cells of lists."""
    return isinstance(premise, Step) and _is_hidden(premise) and _rests_on_cells(premise)


def _is_hidden(step: Step) -> bool:
    return isinstance(step.fact, Fact) and step.fact.name.startswith(HIDDEN)


def _is_of_cell(step: Step) -> bool:
    return isinstance(step.fact, Triple) and step.fact.predicate in (FIRST, REST)


def _rests_on_cells(step: Step) -> bool:
    """Whether a hidden step comes, through hidden steps alone, to a cell of a list."""
    waiting, seen = [step], set[int]()
    while waiting:
        inner = waiting.pop()
        if id(inner) in seen:
            continue
        seen.add(id(inner))
        for premise in inner.facts():
            if _is_of_cell(premise):
                return True
            if _is_hidden(premise):
                waiting.append(premise)
    return False

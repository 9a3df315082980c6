"""Graphviz text of explanations: facts are boxes, rule instances are ovals.

Arrows go from premises to conclusions.  Asserted facts are filled, what is missing is dashed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count

from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    Attempt,
    Compared,
    Explanation,
    Premise,
    PremiseState,
    Step,
)
from livefacts.service.explanations.wording import Words

ASSERTED = 'style=filled fillcolor="#dde8f4"'
CONDITION = "shape=plaintext"
MISSING = 'style=dashed color="#b03030" fontcolor="#b03030"'
STYLES = {
    PremiseState.TRUE: "",
    PremiseState.OPEN: "style=dotted",
    PremiseState.MISSING: MISSING,
    PremiseState.FALSE: MISSING,
}


def as_dot(explanation: Explanation) -> str:
    """The graph, in the language of `dot`."""
    words = Words(explanation.prefixes, explanation.written)
    return digraph("explanation", _Graph(words).lines(explanation))


def digraph(name: str, lines: Iterable[str]) -> str:
    """A graph of boxes, drawn from the bottom up."""
    head = [f"digraph {name} {{", "  rankdir=BT", "  node [shape=box]"]
    return "\n".join([*head, *(f"  {line}" for line in lines), "}"]) + "\n"


class _Graph:
    """Writes nodes and arrows, and knows which nodes are there."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._numbers = count(1)
        self._nodes: dict[int, str] = {}

    def lines(self, explanation: Explanation) -> Iterator[str]:
        if explanation.proof is None:
            yield f"fact [{labelled(self._words.fact(explanation.fact))} {MISSING}]"
            for attempt in explanation.attempts:
                yield from self._attempt(attempt)
            return
        if explanation.proof.is_asserted:
            yield from self._node_of(explanation.proof)
        for step in explanation.steps():
            yield from self._step(step)

    def _step(self, step: Step) -> Iterator[str]:
        assert step.rule is not None, "what was asserted is no step"
        yield from self._node_of(step)
        oval = f"n{next(self._numbers)}"
        yield f"{oval} [{labelled(self._words.rule_name(step.rule))} shape=oval]"
        yield f"{oval} -> {self._nodes[id(step)]}"
        yield from self._premises(step.premises, oval)

    def _premises(self, premises: Sequence[Premise], target: str) -> Iterator[str]:
        for premise in premises:
            match premise:
                case Step():
                    yield from self._node_of(premise)
                    yield f"{self._nodes[id(premise)]} -> {target}"
                case Absent(atom):
                    text = f"no fact matches {self._words.formula(atom)}"
                    yield from self._new(text, CONDITION, target)
                case Compared(comparison):
                    yield from self._new(self._words.formula(comparison), CONDITION, target)
                case Aggregated():
                    yield from self._aggregated(premise, target)

    def _aggregated(self, premise: Aggregated, target: str) -> Iterator[str]:
        text = f"{self._words.formula(premise.aggregate)}\n{self._words.term(premise.value)}"
        node = f"n{next(self._numbers)}"
        yield f"{node} [{labelled(text)} shape=octagon]"
        yield f"{node} -> {target}"
        for row in premise.rows:
            yield from self._premises(row.premises, node)

    def _attempt(self, attempt: Attempt) -> Iterator[str]:
        oval = f"n{next(self._numbers)}"
        yield f"{oval} [{labelled(self._words.rule_name(attempt.rule))} shape=oval]"
        yield f"{oval} -> fact [style=dashed]"
        for premise in attempt.premises:
            text = self._words.formula(premise.formula)
            yield from self._new(text, STYLES[premise.state], oval)

    def _node_of(self, step: Step) -> Iterator[str]:
        """The node of a fact, the first time it is met."""
        if id(step) not in self._nodes:
            node = self._nodes[id(step)] = f"n{next(self._numbers)}"
            style = f" {ASSERTED}" if step.is_asserted else ""
            yield f"{node} [{labelled(self._words.fact(step.fact))}{style}]"

    def _new(self, text: str, style: str, target: str) -> Iterator[str]:
        node = f"n{next(self._numbers)}"
        yield f"{node} [{labelled(text)} {style}]"
        yield f"{node} -> {target}"


def labelled(text: str) -> str:
    """The label of a node or an arrow."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'label="{escaped}"'

"""The plan of a graph pattern over messages: its parts and what each keeps, as text and picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from livefacts.language.formula import Slot, TripleAtom, Variable
from livefacts.language.graph_pattern import BasicQuery
from livefacts.model.facts import shown
from livefacts.plan.continuous.decomposition import Part, Shape, decompose, is_loosely_connected

LONGEST = 32
"""Characters of a label in a picture."""


@dataclass(frozen=True, slots=True)
class PatternPlan:
    """How a query is followed; `print` shows it in words.

    >>> x, y = Variable("x"), Variable("y")
    >>> print(PatternPlan(BasicQuery("SELECT", (TripleAtom(x, y, x),), selected=(x, y))))
    1 part, connected
    part 1: ?x ?y are tied together; keeps the triples that fit, and joins them
      ?x ?y ?x
    """

    query: BasicQuery

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts that share no variable."""
        return decompose(self.query.patterns)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield _summary(self.parts)
        for number, part in enumerate(self.parts, start=1):
            yield f"part {number}: {_described(part)}"
            yield from (f"  {_written(pattern)}" for pattern in part.patterns)
        if self._counts_rows():
            selected = " ".join(map(str, self.query.selected)) or "nothing"
            yield f"every answer once: keeps how often each {selected} is found"

    def _counts_rows(self) -> bool:
        asked = set(self.query.selected)
        return (self.query.distinct or self.query.form == "ASK") and any(
            not asked.issuperset(part.variables) for part in self.parts
        )

    def to_dot(self) -> str:
        """The pattern as a picture for Graphviz: one box a part."""
        lines = ["digraph pattern {", "  rankdir=LR; node [fontname=Helvetica];"]
        for number, part in enumerate(self.parts, start=1):
            lines.append(f"  subgraph cluster_{number} {{")
            lines.append(f'    label="part {number}: {part.shape.value}";')
            lines += [f"    {line}" for line in _drawn(part, number)]
            lines.append("  }")
        return "\n".join([*lines, "}", ""])


def _summary(parts: Sequence[Part]) -> str:
    if len(parts) == 1:
        return f"1 part, {parts[0].shape.value}"
    kind = "loosely connected" if is_loosely_connected(parts) else "with parts to join"
    return f"{len(parts)} parts, {kind}; answers are their product"


def _described(part: Part) -> str:
    many = len(part.patterns)
    bits = "1 bit" if many == 1 else f"{many} bits"
    if part.shape is Shape.GROUND:
        return f"ground; keeps {bits}"
    if part.shape is Shape.STAR:
        return f"a star around {part.variables[0]}; keeps {bits} for each centre"
    names = " ".join(map(str, part.variables))
    return f"{names} are tied together; keeps the triples that fit, and joins them"


def _written(pattern: TripleAtom) -> str:
    return " ".join(str(s) if isinstance(s, Variable) else shown(s) for s in pattern.slots)


def _drawn(part: Part, number: int) -> Iterator[str]:
    nodes: dict[Slot, str] = {}
    for pattern in part.patterns:
        for slot in (pattern.subject, pattern.object):
            if slot not in nodes:
                nodes[slot] = f"n{number}_{len(nodes)}"
                shape = "ellipse" if isinstance(slot, Variable) else "box"
                yield f"{nodes[slot]} [label={_label(slot)}, shape={shape}];"
        label = _label(pattern.predicate)
        yield f"{nodes[pattern.subject]} -> {nodes[pattern.object]} [label={label}];"


def _label(slot: Slot) -> str:
    text = str(slot) if isinstance(slot, Variable) else shown(slot)
    if text.startswith("<"):
        text = text[1:-1].rstrip("/#").replace("#", "/").rpartition("/")[2] or text
    text = text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

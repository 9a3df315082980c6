"""Strata: which rules must be complete before which, by the dependency graph of the rules.

A rule depends on another when the other's head can match one of its body atoms.  This
is decided on patterns, constants at every position included: `[?x, a, ex:Cat]` and
`[?x, a, ex:Dog]` have nothing to do with each other, `[?x, ?p, ?y]` has with both.
Rules that depend on each other form a strongly connected component; a component may not
depend on itself through `not` or an aggregate, and what it negates or aggregates lies in a
lower stratum, which the code calls a level.

The graph has a node for every rule and every pattern, and between head and body
patterns one node for all pairs that agree on the same constants.  It therefore grows
with the number of rules, not with the number of pairs of rules.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from textwrap import shorten
from typing import TypeAlias

from livefacts.errors import UnstratifiedError
from livefacts.language.checks.components import shortest_path, strong_components
from livefacts.language.formula import (
    Aggregate,
    Atom,
    Formula,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule

Relation: TypeAlias = tuple[str, int]
Shape: TypeAlias = tuple[bool, ...]
"""At which positions a pattern has a constant."""

TRIPLES: Relation = ("", 3)


@dataclass(frozen=True, slots=True)
class Pattern:
    """An atom as far as dependencies are concerned: None stands for any variable."""

    relation: Relation
    constants: tuple[Slot | None, ...]

    @property
    def shape(self) -> Shape:
        return tuple(constant is not None for constant in self.constants)

    def meeting(self, mine: Shape, other: Shape) -> tuple[Slot | None, ...]:
        """The constants at the positions where both shapes have one."""
        return tuple(
            c for c, here, there in zip(self.constants, mine, other, strict=True) if here and there
        )


@dataclass(frozen=True, slots=True)
class Strata:
    """The levels and components of a program.

    `levels` are as few as negation and aggregation demand; a level is complete before
    the next begins.  `components` are the sets of rules that depend on each other, each
    after those it depends on.
    """

    levels: tuple[tuple[Rule, ...], ...]
    components: tuple[tuple[Rule, ...], ...]
    _recursive: Mapping[Rule, tuple[Atom, ...]] = field(repr=False)

    @property
    def recursive_rules(self) -> Iterable[Rule]:
        """The rules that depend on their own conclusions, and perhaps some that did."""
        return self._recursive.keys()

    def is_recursive(self, rule: Rule) -> bool:
        """Whether the rule depends on its own conclusions, through whichever rules."""
        return rule in self._recursive

    def recursive_atoms(self, rule: Rule) -> tuple[Atom, ...]:
        """The body atoms through which the rule depends on its own conclusions."""
        return self._recursive.get(rule, ())


def stratify(rules: Iterable[Rule]) -> Strata:
    """The strata of these rules; a cycle through `not` or an aggregate is an error."""
    rules = tuple(rules)
    graph = _graph(rules)
    components = strong_components(graph.successors)
    component_of = _positions(components, len(graph.successors))
    _refuse_cycles(rules, graph, component_of)
    levels = _levels(len(rules), graph, components, component_of)
    parts = ([rules[n] for n in sorted(nodes) if n < len(rules)] for nodes in components)
    return Strata(
        tuple(_by_level(rules, levels)),
        tuple(tuple(part) for part in parts if part),
        _recursive_rules(rules, graph, components, component_of),
    )


def body_atoms(body: Iterable[Formula]) -> Iterator[tuple[Atom, bool]]:
    """The atoms that a body looks up, each with whether only the complete answer will do."""
    for formula in body:
        match formula:
            case TripleAtom() | PredicateAtom():
                yield formula, False
            case Negation(atom):
                yield atom, True
            case Timed(atom=atom):
                yield atom, formula.negated or formula.denied
            case Aggregate(body=inner):
                for atom, _ in body_atoms(inner):
                    yield atom, True


def pattern_of(atom: Atom) -> Pattern:
    if isinstance(atom, TripleAtom):
        relation, slots = TRIPLES, atom.slots
    else:
        relation, slots = (atom.name, len(atom.arguments)), atom.arguments
    return Pattern(relation, tuple([None if isinstance(s, Variable) else s for s in slots]))


@dataclass(slots=True)
class _Graph:
    """Nodes are numbers, the first ones the rules; edges lead to what depends on a node."""

    successors: list[list[int]]
    completed: set[tuple[int, int]] = field(default_factory=set)
    """The edges from a body pattern to a rule that needs its complete answer."""
    nodes: dict[Hashable, int] = field(default_factory=dict)

    def node(self, key: Hashable) -> int:
        number = self.nodes.setdefault(key, len(self.successors))
        if number == len(self.successors):
            self.successors.append([])
        return number


def _graph(rules: tuple[Rule, ...]) -> _Graph:
    graph = _Graph([[] for _ in rules])
    heads: dict[Pattern, None] = {}
    bodies: dict[Pattern, None] = {}
    for number, rule in enumerate(rules):
        if rule.head is not None:
            head = pattern_of(rule.head)
            heads[head] = None
            graph.successors[number].append(graph.node(("head", head)))
        for atom, completely in body_atoms(rule.body):
            body = pattern_of(atom)
            bodies[body] = None
            node = graph.node(("body", body))
            graph.successors[node].append(number)
            if completely:
                graph.completed.add((node, number))
    _connect(graph, heads, bodies)
    return graph


def _connect(graph: _Graph, heads: Iterable[Pattern], bodies: Iterable[Pattern]) -> None:
    head_shapes, body_shapes = _shapes(heads), _shapes(bodies)
    for head in heads:
        for shape in body_shapes.get(head.relation, ()):
            key = head.relation, head.shape, shape, head.meeting(head.shape, shape)
            graph.successors[graph.node(("head", head))].append(graph.node(key))
    for body in bodies:
        for shape in head_shapes.get(body.relation, ()):
            key = body.relation, shape, body.shape, body.meeting(body.shape, shape)
            graph.successors[graph.node(key)].append(graph.node(("body", body)))


def _shapes(patterns: Iterable[Pattern]) -> dict[Relation, dict[Shape, None]]:
    shapes: dict[Relation, dict[Shape, None]] = {}
    for pattern in patterns:
        shapes.setdefault(pattern.relation, {})[pattern.shape] = None
    return shapes


def _positions(components: list[list[int]], nodes: int) -> list[int]:
    position = [0] * nodes
    for number, members in enumerate(components):
        for node in members:
            position[node] = number
    return position


def _levels(
    rules: int, graph: _Graph, components: list[list[int]], component_of: list[int]
) -> list[int]:
    """The level of each rule: one more than the highest rule that it needs complete."""
    # What no rule concludes is complete from the start, below the first level.
    level = [0 if members[0] < rules else -1 for members in components]
    for number, members in enumerate(components):
        for node in members:
            for successor in graph.successors[node]:
                above = level[number] + ((node, successor) in graph.completed)
                level[component_of[successor]] = max(level[component_of[successor]], above)
    return [level[component] for component in component_of[:rules]]


def _by_level(rules: tuple[Rule, ...], levels: list[int]) -> list[tuple[Rule, ...]]:
    grouped: dict[int, list[Rule]] = {}
    for rule, level in zip(rules, levels, strict=True):
        grouped.setdefault(level, []).append(rule)
    return [tuple(grouped[level]) for level in sorted(grouped)]


def _recursive_rules(
    rules: tuple[Rule, ...],
    graph: _Graph,
    components: list[list[int]],
    component_of: list[int],
) -> dict[Rule, tuple[Atom, ...]]:
    recursive = {}
    for number, rule in enumerate(rules):
        component = component_of[number]
        if len(components[component]) > 1:
            recursive[rule] = tuple(
                atom
                for atom, _ in body_atoms(rule.body)
                if component_of[graph.node(("body", pattern_of(atom)))] == component
            )
    return recursive


def _refuse_cycles(rules: tuple[Rule, ...], graph: _Graph, component_of: list[int]) -> None:
    for node, number in sorted(graph.completed, key=lambda edge: edge[1]):
        if component_of[node] == component_of[number]:
            raise _cycle_error(rules, graph, node, number)


def _cycle_error(
    rules: tuple[Rule, ...], graph: _Graph, node: int, number: int
) -> UnstratifiedError:
    rule = rules[number]
    formula, how = _completed_formula(rule, graph, node)
    cycle = [
        rules[n]
        for n in shortest_path(number, node, graph.successors.__getitem__)
        if n < len(rules)
    ]
    shown = "\n".join(f"    {_shown(member)}" for member in cycle)
    return UnstratifiedError(
        f"{_called(rule)} depends on its own {how}, in a circle of "
        f"{'one rule' if len(cycle) == 1 else f'{len(cycle)} rules'}:\n{shown}",
        place=formula.place if formula.place.line else rule.place,
        hint="each rule feeds the next, and the last feeds the first; break the circle, "
        f"for instance by taking the {how} over a predicate that none of them concludes",
    )


def _completed_formula(rule: Rule, graph: _Graph, node: int) -> tuple[Formula, str]:
    for formula in rule.body:
        for atom, completely in body_atoms([formula]):
            if completely and graph.node(("body", pattern_of(atom))) == node:
                return formula, ("aggregate" if isinstance(formula, Aggregate) else "negation")
    raise AssertionError("a completed edge comes from a negation or an aggregate")


def _shown(rule: Rule) -> str:
    where = f"  ({rule.place.file}:{rule.place.line})" if rule.place.line else ""
    text = rule.place.text[rule.place.column - 1 :].strip() or _called(rule)
    return f"{rule.id or 'rule'}: {shorten(text, 100, placeholder=' …')}{where}"


def _called(rule: Rule) -> str:
    match rule.head:
        case PredicateAtom(name):
            return name
        case TripleAtom(s, p, o):
            return f"[{s}, {p}, {o}]"
        case None:
            return "false"

"""Random cases: themes and random rules that fit together, facts for them, and steps."""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pyoxigraph import BlankNode, NamedNode, Triple
from tests.oracle import closure
from tests.oracle.naive import atoms_of, levels, overlap
from tests.properties.generate.cases import Case, Step
from tests.properties.generate.rule_themes import THEMES, object_for, sums_at_the_edges
from tests.properties.generate.rules import RuleMaker
from tests.properties.generate.vocabulary import (
    NODE_PROPERTIES,
    PREDICATES,
    TYPE,
    VALUE_PROPERTIES,
    Vocabulary,
    draw_vocabulary,
    integer,
    plain_vocabulary,
)

from livefacts.language.formula import Arithmetic, Atom, Comparison, Slot, TripleAtom, Variable
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Term


def draw_case(seed: int, *, plain: bool = False) -> Case:
    """The case of a seed.  A plain one has nodes and small integers only."""
    pick = random.Random(f"{'plain' if plain else 'case'} {seed}")
    words = plain_vocabulary(pick) if plain else draw_vocabulary(pick)
    rules, facts = _draw_rules(pick, words, plain)
    facts += _draw_facts(pick, words, rules)
    pick.shuffle(facts)
    case = _in_steps(f"seed {seed}", rules, facts, pick)
    return replace(
        case,
        single_path=pick.random() < 0.7,
        as_text=pick.random() < 0.3,
        asks=pick.random() < 0.3,
        in_graphs=pick.random() < 0.3,
        refuses=any(rule.is_constraint for rule in rules) and pick.random() < 0.5,
        limit=pick.choice((0, 3, 10)) if pick.random() < 0.1 else None,
    )


def _draw_rules(
    pick: random.Random, words: Vocabulary, plain: bool
) -> tuple[list[Rule], list[Triple | Fact]]:
    rules: list[Rule] = []
    facts: list[Triple | Fact] = []
    themes = [theme for theme in THEMES if theme is not sums_at_the_edges or not plain]
    for theme in pick.sample(themes, pick.choice((0, 1, 1, 2, 2, 3))):
        more, asserted = theme(pick, words)
        if fits(rules + more):
            rules, facts = rules + more, facts + asserted
    maker = RuleMaker(pick, words, plain=plain)
    for _ in range(pick.choice((2, 3, 5, 8))):
        maker.heads = [r.head for r in rules if r.head is not None]
        rule = maker.rule()
        if fits([*rules, rule]):
            rules.append(rule)
    return rules, facts


def fits(rules: Sequence[Rule]) -> bool:
    """Whether the rules are stratified and arithmetic in recursion is bounded."""
    derivations = [rule for rule in rules if not rule.is_constraint]
    try:
        levels(derivations)
    except ValueError:
        return False
    return not any(
        computes(rule) and is_recursive(rule, derivations) and not is_bounded(rule)
        for rule in derivations
    )


def computes(rule: Rule) -> bool:
    """Whether the rule can make a number that was not there."""
    return any(isinstance(p, Comparison) and isinstance(p.right, Arithmetic) for p in rule.body)


def is_bounded(rule: Rule) -> bool:
    """Whether every number that the rule makes moves towards a bound of the rule."""
    parts = [part for part in rule.body if isinstance(part, Comparison)]
    bounds = {(p.left, p.operator) for p in parts if not isinstance(p.right, Variable)}
    return all(
        (part.left, {"+": "<=", "-": ">="}.get(part.right.operator)) in bounds
        and part.right.right in (integer(1), integer(2))
        for part in parts
        if isinstance(part.right, Arithmetic)
    )


def is_recursive(rule: Rule, rules: Sequence[Rule]) -> bool:
    """Whether the rule can feed itself, through others or directly."""
    reached: list[Rule] = []
    waiting = [rule]
    while waiting:
        head = waiting.pop().head
        fed = [r for r in rules if head is not None and _reads(r, head) and r not in reached]
        reached += fed
        waiting += fed
    return rule in reached


def _reads(rule: Rule, head: Atom) -> bool:
    return any(overlap(atom, head) for atom, _ in atoms_of(rule.body))


def _draw_facts(
    pick: random.Random, words: Vocabulary, rules: Iterable[Rule]
) -> list[Triple | Fact]:
    """A few facts for each atom that a rule reads, most of them with its constants."""
    atoms = {atom for rule in rules for atom, _ in atoms_of(rule.body)}
    return [
        fact
        for atom in sorted(atoms, key=str)
        for _ in range(pick.choice((0, 2, 3, 4)))
        if (fact := _instance(atom, pick, words)) is not None
    ]


def _instance(atom: Atom, pick: random.Random, words: Vocabulary) -> Triple | Fact | None:
    if isinstance(atom, TripleAtom):
        return _triple_like(atom, pick, words)
    if atom.name not in PREDICATES:
        return None
    sorts = PREDICATES[atom.name]
    drawn = [words.any_of(sort, pick) for sort in sorts]
    kept = zip(atom.arguments, drawn, strict=True)
    return Fact(atom.name, tuple(_either(slot, term, pick) for slot, term in kept))


def _either(slot: Slot, term: Term, pick: random.Random) -> Term:
    return term if isinstance(slot, Variable) or pick.random() < 0.3 else slot


def _triple_like(atom: TripleAtom, pick: random.Random, words: Vocabulary) -> Triple:
    own = (TYPE, *NODE_PROPERTIES, *VALUE_PROPERTIES)
    property = atom.predicate if isinstance(atom.predicate, NamedNode) else pick.choice(own)
    subject = _either(atom.subject, pick.choice(words.subjects), pick)
    if not isinstance(subject, NamedNode | BlankNode):
        subject = pick.choice(words.subjects)
    object = _either(atom.object, object_for(property, pick, words), pick)
    return Triple(subject, property, object)  # type: ignore[arg-type]


def _in_steps(
    name: str, rules: Sequence[Rule], facts: Sequence[Triple | Fact], pick: random.Random
) -> Case:
    """Facts in one to four steps, some twice; sometimes rules come late as well."""
    named = [replace(rule, id=f"rule{n}") for n, rule in enumerate(rules, 1)]
    count = pick.choice((1, 2, 3, 4))
    late = pick.choice((0, 0, 0, 1, 2)) if count > 1 else 0
    early, later = named[: len(named) - late], named[len(named) - late :]
    asserted = tuple(f for f in facts if not _has_blank(f) and pick.random() < 0.1)
    piles = _piles(facts, count, pick)
    piles[-1] += _conclusions(rules, facts, pick)
    steps = [Step(tuple(pile)) for pile in piles]
    for rule in later:
        at = pick.randrange(1, count)
        steps[at] = replace(steps[at], rules=(*steps[at].rules, rule))
    return Case(name, replace(Program().plus(early), facts=asserted), tuple(steps))


def _piles(
    facts: Sequence[Triple | Fact], count: int, pick: random.Random
) -> list[list[Triple | Fact]]:
    """The facts in piles; one in seven is told twice."""
    piles: list[list[Triple | Fact]] = [[] for _ in range(count)]
    for fact in facts:
        for _ in range(pick.choice((1, 1, 1, 1, 1, 1, 2))):
            piles[pick.randrange(count)].append(fact)
    return piles


def _has_blank(fact: Triple | Fact) -> bool:
    return "_:" in str(fact)


def _conclusions(
    rules: Sequence[Rule], facts: Sequence[Triple | Fact], pick: random.Random
) -> list[Triple | Fact]:
    """Sometimes a few conclusions, to be told as well."""
    if pick.random() < 0.7:
        return []
    derived = sorted(closure(Program().plus(rules), facts) - set(facts), key=str)
    return pick.sample(derived, min(len(derived), 2))

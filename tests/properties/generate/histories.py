"""Random histories: facts and rules come and go, in changes drawn from a stock.

The rules and facts of a random case are the stock.  Each change adds some of it and takes
some of what is there away: a few facts, many at once, one rule for another, and now and
then what makes no difference: a fact told twice, one removed that was never told, a rule
removed and added in one change.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from pyoxigraph import NamedNode, Quad, Triple
from tests.oracle import closure
from tests.oracle.naive import atoms_of, overlap
from tests.properties.generate.cases import fewer
from tests.properties.generate.change_themes import TURNING_POINTS
from tests.properties.generate.programs import draw_case, fits, is_recursive
from tests.properties.generate.rule_themes import schema
from tests.properties.generate.vocabulary import EX, draw_vocabulary

from livefacts.language.formula import Aggregate, Atom, PredicateAtom, TripleAtom
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_rule
from livefacts.model.facts import Fact

Statement = Triple | Quad | Fact
Statements = frozenset[Statement]
GRAPHS = tuple(NamedNode(EX + name) for name in ("g1", "g2"))
MOST_FACTS = 24
TURN = "turn"
"""How the names of rules begin that come with a turning point."""
PLAIN = {"refuses": False, "asks": False, "limit": None}


@dataclass(frozen=True, slots=True)
class Change:
    """What one step adds and removes; a `Quad` speaks of a named graph."""

    added: Statements = frozenset()
    removed: Statements = frozenset()
    rules_added: tuple[Rule, ...] = ()
    rules_removed: tuple[Rule, ...] = ()

    def __str__(self) -> str:
        parts = [f"- {fact}" for fact in self.removed] + [f"+ {fact}" for fact in self.added]
        parts += [f"- {write_rule(rule)}" for rule in self.rules_removed]
        return "\n".join(parts + [f"+ {write_rule(rule)}" for rule in self.rules_added])

    def asserted_after(self, asserted: Statements) -> Statements:
        return (asserted - self.removed) | self.added

    def rules_after(self, rules: Sequence[Rule]) -> tuple[Rule, ...]:
        kept = [rule for rule in rules if rule not in self.rules_removed]
        return (*kept, *(rule for rule in self.rules_added if rule not in kept))


@dataclass(frozen=True, slots=True)
class History:
    """Rules to start with, the changes that follow, and how the reasoner is to take them."""

    name: str
    start: tuple[Rule, ...]
    changes: tuple[Change, ...]
    single_path: bool = True
    refuses: bool = False
    asks: bool = False
    limit: int | None = None

    def __str__(self) -> str:
        way = (
            f"single_path={self.single_path}, refuses={self.refuses}, asks={self.asks}, "
            f"limit={self.limit}"
        )
        steps = (f"# step {number}\n{change}" for number, change in enumerate(self.changes, 1))
        return "\n".join([f"# {self.name}: {way}", *map(write_rule, self.start), *steps])


@dataclass(frozen=True, slots=True)
class Stock:
    """The rules and statements that the changes of a history are drawn from."""

    rules: tuple[Rule, ...]
    statements: tuple[Statement, ...]


def draw_history(seed: int, steps: int = 10, *, graphs: bool = False) -> History:
    """A random history over the rules and facts of a random case; with named graphs if asked."""
    case, pick = draw_case(seed), random.Random(f"history {seed}")
    rules, facts = case.rules, [*dict.fromkeys(case.facts)][:MOST_FACTS]
    if pick.random() < 0.3:
        rules, facts = _with_turning_point(pick, rules, facts)
    facts += _some_conclusions(pick, rules, facts)
    stock = Stock(rules, tuple(_in_graphs(pick, facts) if graphs and case.in_graphs else facts))
    start = tuple(r for r in rules if pick.random() < (0.5 if r.id.startswith(TURN) else 0.85))
    return History(
        f"seed {seed}",
        start,
        draw_changes(pick, stock, start, steps),
        single_path=case.single_path,
        refuses=case.refuses and pick.random() < 0.5,
        asks=pick.random() < 0.15,
        limit=pick.choice((3, 10, 30)) if pick.random() < 0.05 else None,
    )


def draw_schema_history(seed: int, rules: Sequence[Rule], steps: int = 50) -> History:
    """Triples of a small schema and of its instances come and go under fixed rules."""
    pick = random.Random(f"schema {seed}")
    words = draw_vocabulary(pick)
    facts = [fact for _ in range(3) for fact in schema(pick, words)[1]]
    stock = Stock((), tuple(dict.fromkeys(facts)))
    changes = draw_changes(pick, stock, (), steps)
    return History(f"schema {seed}", tuple(rules), changes)


def _with_turning_point(
    pick: random.Random, rules: tuple[Rule, ...], facts: list[Triple | Fact]
) -> tuple[tuple[Rule, ...], list[Triple | Fact]]:
    """More rules and facts, in the place of some that were drawn before."""
    more, asserted = pick.choice(TURNING_POINTS)(pick, draw_vocabulary(pick))
    known = {rule.key() for rule in rules}
    named = [
        replace(rule, id=f"{TURN}{n}") for n, rule in enumerate(more) if rule.key() not in known
    ]
    for kept in (rules, rules[: len(rules) // 2], ()):
        if fits([*kept, *named]):
            return (*kept, *named), [*dict.fromkeys((*asserted, *facts))][:MOST_FACTS]
    return rules, facts


def _some_conclusions(
    pick: random.Random, rules: Iterable[Rule], facts: Sequence[Triple | Fact]
) -> list[Triple | Fact]:
    """Conclusions that are told as well, so that facts are held up twice."""
    derived = sorted(closure(Program().plus(rules), facts) - set(facts), key=str)
    return pick.sample(derived, min(len(derived), pick.choice((0, 1, 3, 5))))


def _in_graphs(pick: random.Random, facts: Iterable[Triple | Fact]) -> Iterator[Statement]:
    """The facts, and some of the triples in named graphs, instead or as well."""
    for fact in facts:
        quads = [
            Quad(fact.subject, fact.predicate, fact.object, graph)
            for graph in GRAPHS
            if isinstance(fact, Triple) and pick.random() < 0.3
        ]
        yield from quads
        if not quads or pick.random() < 0.6:
            yield fact


def draw_changes(
    pick: random.Random, stock: Stock, start: tuple[Rule, ...], steps: int
) -> tuple[Change, ...]:
    asserted: Statements = frozenset()
    rules, changes = start, []
    for number in range(steps):
        change = _draw_change(pick, stock, asserted, rules, is_first=number == 0)
        asserted, rules = change.asserted_after(asserted), change.rules_after(rules)
        changes.append(change)
    return tuple(changes)


def _draw_change(
    pick: random.Random, stock: Stock, asserted: Statements, rules: tuple[Rule, ...], is_first: bool
) -> Change:
    there = [fact for fact in stock.statements if fact in asserted]
    absent = [fact for fact in stock.statements if fact not in asserted]
    if is_first:
        return Change(frozenset(_sample(pick, absent, 4 * len(absent) // 5)))
    kind = pick.choices(("both", "go", "come", "rules", "much", "all", "idle"), KINDS)[0]
    match kind:
        case "both":
            added, removed = pick.randrange(4), pick.randrange(1, 4)
        case "go" | "come":
            added, removed = (
                (0, pick.randrange(1, 4)) if kind == "go" else (pick.randrange(1, 5), 0)
            )
        case "rules":
            return _draw_rules(pick, stock, there, absent, rules)
        case "much":
            added, removed = pick.randrange(2), len(there) // 2
        case "all":
            added, removed = len(absent), pick.randrange(2)
        case _:
            return _draw_idle(pick, there, absent, rules)
    used = [fact for fact in there if _is_used(fact, rules)]
    going = used if used and pick.random() < 0.7 else there
    return Change(_sample(pick, absent, added), _sample(pick, going, removed))


def _is_used(statement: Statement, rules: Iterable[Rule]) -> bool:
    """Whether the statement may be a premise of one of the rules."""
    atom = _atom_of(statement)
    return any(overlap(atom, read) for rule in rules for read, _ in atoms_of(rule.body))


def _denied(statements: Iterable[Statement], rules: Iterable[Rule]) -> list[Statement]:
    """The statements that a negation or an aggregate of the rules may read."""
    denied = {atom for rule in rules for atom, is_denied in atoms_of(rule.body) if is_denied}
    return [each for each in statements if any(overlap(_atom_of(each), atom) for atom in denied)]


def _atom_of(statement: Statement) -> Atom:
    if isinstance(statement, Fact):
        return PredicateAtom(statement.name, statement.arguments)
    return TripleAtom(statement.subject, statement.predicate, statement.object)


KINDS = (34, 16, 14, 20, 2, 6, 8)


def _draw_rules(
    pick: random.Random,
    stock: Stock,
    there: Sequence[Statement],
    absent: Sequence[Statement],
    rules: tuple[Rule, ...],
) -> Change:
    """Rules that come and go, often with facts in the same change."""
    varied = [(rule, other) for rule in rules for other in _variants(rule)]
    if varied and pick.random() < 0.25:
        old, other = pick.choice(varied)
        return Change(rules_added=(other,), rules_removed=(old,))
    taken = {rule.id for rule in rules}
    new = [rule for rule in stock.rules if rule.id not in taken]
    turns = [(rule, turned) for rule in (*new, *rules) if (turned := _turned_by(rule, rules))]
    if turns and pick.random() < 0.6:
        return _draw_turn(pick, *pick.choice(turns), there, absent, rules)
    coming = pick.sample(new, min(len(new), pick.choice((0, 1, 1, 2))))
    going = pick.sample(rules, min(len(rules), pick.choice((0, 1, 1, 2) if not coming else (0, 1))))
    few = pick.choice((0, 1, 2, 4))
    return Change(
        _sample(pick, absent, pick.randrange(few + 1)),
        _sample(pick, there, pick.randrange(few + 1)),
        tuple(coming),
        tuple(going),
    )


def _draw_turn(
    pick: random.Random,
    turning: Rule,
    turned: list[Rule],
    there: Sequence[Statement],
    absent: Sequence[Statement],
    rules: tuple[Rule, ...],
) -> Change:
    """A rule closes or opens a circle, with facts that rules of the circle negate or count."""
    coming, going = (_denied(facts, turned) or facts for facts in (absent, there))
    added, removed = pick.choice(((1, 0), (2, 0), (3, 0), (0, 1), (0, 2), (1, 1)))
    return Change(
        _sample(pick, coming, added),
        _sample(pick, going, removed),
        (turning,) if turning not in rules else (),
        (turning,) if turning in rules else (),
    )


def _turned_by(rule: Rule, rules: tuple[Rule, ...]) -> list[Rule]:
    """The rules with negations and aggregates that are recursive with the rule, not without it."""
    others = [other for other in rules if other != rule]
    denying = [other for other in others if any(denied for _, denied in atoms_of(other.body))]
    return [
        other
        for other in denying
        if is_recursive(other, [*others, rule]) and not is_recursive(other, others)
    ]


def _variants(rule: Rule) -> Iterator[Rule]:
    """The rule with another function in its aggregate, under the same name."""
    for at, part in enumerate(rule.body):
        if isinstance(part, Aggregate):
            for function in ("count", "min", "max"):
                if function != part.function:
                    other = replace(part, function=function, parameter=None)
                    yield replace(rule, body=(*rule.body[:at], other, *rule.body[at + 1 :]))


def _draw_idle(
    pick: random.Random,
    there: Sequence[Statement],
    absent: Sequence[Statement],
    rules: tuple[Rule, ...],
) -> Change:
    """What makes no difference: what is there added again, and what is not there removed."""
    again = _sample(pick, there, pick.randrange(3))
    same = tuple(pick.sample(rules, min(len(rules), pick.randrange(3))))
    return Change(
        again | _sample(pick, there, 1),
        again | _sample(pick, absent, pick.randrange(3)),
        same,
        same if pick.random() < 0.7 else (),
    )


def _sample(pick: random.Random, items: Sequence[Statement], count: int) -> Statements:
    return frozenset(pick.sample(items, min(len(items), count)))


# making histories smaller


def smaller(history: History) -> Iterator[History]:
    """The histories with a change, a fact or a rule less; large cuts first."""
    for name, plain in PLAIN.items():
        if getattr(history, name) != plain:
            yield replace(history, **{name: plain})
    for changes in fewer(history.changes):
        yield replace(history, changes=changes)
    for rules in fewer(history.start):
        yield replace(history, start=rules)
    for at, change in enumerate(history.changes):
        for less in _smaller_changes(change):
            changes = (*history.changes[:at], less, *history.changes[at + 1 :])
            yield replace(history, changes=changes)


def _smaller_changes(change: Change) -> Iterator[Change]:
    for name in ("added", "removed"):
        for facts in fewer(tuple(sorted(getattr(change, name), key=str))):
            yield replace(change, **{name: frozenset(facts)})
    for name in ("rules_added", "rules_removed"):
        for rules in fewer(getattr(change, name)):
            yield replace(change, **{name: rules})

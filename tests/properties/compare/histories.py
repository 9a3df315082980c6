"""Histories beside the oracle: a reasoner that follows changes, compared after every step.

After every change, facts, assertions, conclusions, violations and the Delta must be what
the oracle computes from scratch, and so must the flags and counters of every stored row:
how many instances of rules derive it, of recursive ones and of others, whether a transitive
rule does, who tells it.  Where single triples are followed under a schema, counters are
compared with those of a reasoner that is told everything anew.  A refused change must leave
every stored row as it was.  Snapshots are held over several changes.
"""

from __future__ import annotations

import traceback
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from pyoxigraph import BlankNode, Quad, Store, Triple
from tests.oracle import Row, asked_for, model, row_of, shown, supports, violations_in
from tests.properties.compare.held_snapshots import Expected, HeldSnapshots
from tests.properties.compare.reopenings import Home
from tests.properties.generate.cases import shrink
from tests.properties.generate.histories import Change, History, Statement, draw_history, smaller
from tests.properties.generate.programs import is_recursive

import livefacts as lf
from livefacts.language.formula import Aggregate
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact
from livefacts.store.facts.bits import ASSERTED, CLOSED, EDGE, IN_DEFAULT, LIVE, ROOT, VISIBLE
from livefacts.store.facts.layout import FLAGS, SINGLE
from livefacts.store.facts.row_store import TRIPLES

__all__ = [
    "LIMIT",
    "Change",
    "History",
    "applied",
    "differences",
    "draw_history",
    "report",
    "stored",
]

LIMIT = 100_000
LASTING = LIVE | ASSERTED | VISIBLE | EDGE | ROOT | CLOSED | IN_DEFAULT
ANEW_EVERY = 10
Refusal = lf.ViolationError | lf.LimitError | lf.RuleError


@dataclass(frozen=True)
class Truth:
    """What is told, and everything that the oracle finds to be true."""

    rules: tuple[Rule, ...]
    statements: frozenset[Statement]
    rows: frozenset[Row]

    @classmethod
    def of(cls, rules: tuple[Rule, ...], asserted: frozenset[Statement] = frozenset()) -> Truth:
        return cls(rules, asserted, frozenset(model(Program().plus(rules), map(fact_of, asserted))))

    def after(self, change: Change) -> Truth:
        rules, asserted = change.rules_after(self.rules), change.asserted_after(self.statements)
        same = rules == self.rules and asserted == self.statements
        return self if same else Truth.of(rules, asserted)

    @cached_property
    def visible(self) -> set[Triple | Fact]:
        return {fact for row in self.rows if (fact := shown(row)) is not None}

    @cached_property
    def asserted(self) -> set[Triple | Fact]:
        return {fact for fact in map(fact_of, self.statements) if shown(row_of(fact)) is not None}

    @cached_property
    def violations(self) -> set[Any]:
        return violations_in(self.rows, self.rules)


def fact_of(statement: Statement) -> Triple | Fact:
    """What a statement says, in whatever graph."""
    return statement.triple if isinstance(statement, Quad) else statement


def differences(
    history: History, maintenance: str = "counting-dred", folder: Path | None = None
) -> Iterator[str]:
    """Where a reasoner that follows the changes differs from the oracle, in words.

    In a `folder`, it is opened again at random points.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield from _Follower(history, maintenance, folder).differences()
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{place.filename}:{place.lineno}"
        yield f"raised {type(error).__name__}: {str(error)[:500]} ({where})"


def report(history: History, maintenance: str = "counting-dred") -> str:
    """The smallest history that still differs, with what differs in it."""

    def first(other: History) -> str:
        return next(differences(other, maintenance), "")

    is_error = first(history).startswith("raised")
    small = shrink(
        history, lambda h: bool(f := first(h)) and f.startswith("raised") == is_error, smaller
    )
    lines = [f"maintenance={maintenance}", first(history), "smallest history that differs:"]
    return "\n".join([*lines, str(small), *list(differences(small, maintenance))[:5]])


class _Follower:
    """One reasoner that is taken through a history."""

    def __init__(self, history: History, maintenance: str, folder: Path | None = None) -> None:
        self.history = history
        self.maintenance = maintenance
        options: dict[str, Any] = {
            "maintenance": maintenance,
            "single_path": history.single_path,
            "on_violation": "refuse" if history.refuses else "report",
            "limit": history.limit,
        }
        self.home = None if folder is None else Home(folder, history.name, **options)
        self.reasoner = lf.Reasoner(**options) if self.home is None else self.home.open()
        self.truth = Truth.of(())
        self.snapshots = HeldSnapshots()
        self.can_refuse = history.refuses or history.limit or maintenance == "counting"

    def differences(self) -> Iterator[str]:
        for number, change in enumerate(self._changes()):
            if not keeps_names_apart(self.truth.rules, change):
                continue
            if self.home is not None:
                self.reasoner = self.home.again(self.reasoner)
                change = with_known_nodes(self.reasoner, change)
            for problem in self._step(change, number):
                yield f"step {number}: {problem}"
        yield from self.snapshots.differences()

    def _changes(self) -> Iterator[Change]:
        """The rules to start with; one at a time where some of them may be refused."""
        start = self.history.start
        for rules in [(rule,) for rule in start] if self.can_refuse else [start]:
            yield Change(rules_added=rules)
        yield from self.history.changes

    def _step(self, change: Change, number: int) -> Iterator[str]:
        before, wanted = self.truth, self.truth.after(change)
        rows = stored(self.reasoner) if self.can_refuse else {}
        try:
            delta = applied(self.reasoner, change)
        except (lf.ViolationError, lf.LimitError, lf.RuleError) as error:
            yield from self._refused(error, wanted)
            if stored(self.reasoner) != rows:
                yield "a refused change has left something behind"
        else:
            self.truth = wanted
            yield from unlike_delta(delta, before, wanted)
            if self.history.refuses and wanted.violations - before.violations:
                yield "a change with a violation was not refused"
        yield from unlike_state(self.reasoner, self.truth)
        truth = self.truth
        expected = Expected(truth.visible, truth.violations, truth.asserted)
        yield from self.snapshots.take(self.reasoner, expected)
        if self.history.asks:
            yield from unlike_answers(self.reasoner, self.truth)
        if not self.reasoner._state.engine.follows_single_triples:
            yield from unlike_rows(self.reasoner, self.truth)
        elif self.maintenance == "counting-dred" and self._is_for_anew(number):
            yield from unlike_anew(self.reasoner, self.truth)

    def _is_for_anew(self, number: int) -> bool:
        steps = len(self.history.changes)
        return number % ANEW_EVERY == 0 or number == steps or steps <= ANEW_EVERY

    def _refused(self, error: Refusal, wanted: Truth) -> Iterator[str]:
        """A change may only be refused for a reason."""
        match error:
            case lf.ViolationError():
                if not self.history.refuses or not wanted.violations:
                    yield f"refused without a violation: {error}"
            case lf.LimitError():
                most = len(self.truth.rows) + len(wanted.rows)
                limit = self.history.limit
                if limit is None or not (most > limit or _has_inner_rows(wanted.rules)):
                    yield f"refused within the limit: {error}"
            case _:
                rules = [rule for rule in wanted.rules if not rule.is_constraint]
                if self.maintenance != "counting" or not any(
                    is_recursive(rule, rules) for rule in rules
                ):
                    yield f"refused: {error}"


def _has_inner_rows(rules: tuple[Rule, ...]) -> bool:
    """Whether the engine keeps rows of its own for the rules, which count towards a limit."""
    return any(
        rule.is_constraint
        or asked_for(rule)
        or any(isinstance(part, Aggregate) for part in rule.body)
        for rule in rules
    )


def keeps_names_apart(rules: tuple[Rule, ...], change: Change) -> bool:
    """Whether no two rules get one id; a change that lost its removal may bring a namesake."""
    after = change.rules_after(rules)
    return len({rule.id for rule in after}) == len(after)


def with_known_nodes(reasoner: lf.Reasoner, change: Change) -> Change:
    """The change without what names a blank node that is in no fact: that is refused.

    A process that has seen the node before still knows it, another one does not.
    """
    known = {node for fact in reasoner.facts() for node in _nodes(fact)}
    gone = frozenset(s for s in change.removed if _nodes(fact_of(s)) <= known)
    return replace(change, removed=gone)


def _nodes(fact: Triple | Fact) -> set[BlankNode]:
    terms = fact.arguments if isinstance(fact, Fact) else fact
    return {term for term in terms if isinstance(term, BlankNode)}


def applied(reasoner: lf.Reasoner, change: Change) -> lf.Delta:
    """The change through the public API; only rules that are there are removed."""
    known = {rule.key() for rule in reasoner.rules}
    return reasoner.apply(
        add=sorted(change.added, key=str),
        remove=sorted(change.removed, key=str),
        add_rules=Program(change.rules_added, limit=LIMIT),
        remove_rules=[rule for rule in change.rules_removed if rule.key() in known],
    )


# comparing


def unlike(what: str, found: Iterable[Any], expected: Iterable[Any]) -> Iterator[str]:
    """How two collections differ, in words; one that lists something twice differs too."""
    listed, expected = list(found), set(expected)
    for word, rest in (("lacks", expected - set(listed)), ("has", set(listed) - expected)):
        if rest:
            yield f"{what} {word}: {', '.join(sorted(map(str, rest))[:4])}"
    if len(set(listed)) != len(listed):
        yield f"{what} lists something twice"


def unlike_state(reasoner: lf.Reasoner, truth: Truth) -> Iterator[str]:
    """What is true, told, concluded and violated."""
    yield from unlike("facts()", reasoner.facts(), truth.visible)
    yield from unlike("facts(derived=False)", reasoner.facts(derived=False), truth.asserted)
    conclusions = truth.visible - truth.asserted
    yield from unlike("facts(derived=True)", reasoner.facts(derived=True), conclusions)
    yield from unlike("violations()", map(_violation, reasoner.violations()), truth.violations)
    if len(reasoner) != len(truth.visible):
        yield f"len() is {len(reasoner)}, the oracle has {len(truth.visible)}"


def unlike_delta(delta: lf.Delta, before: Truth, after: Truth) -> Iterator[str]:
    """The Delta is exactly the difference between before and after."""
    came, went = after.visible - before.visible, before.visible - after.visible
    yield from unlike("Delta.added", delta.added, came)
    yield from unlike("Delta.removed", delta.removed, went)
    yield from unlike("Delta.derived", delta.derived, came - after.asserted)
    new = after.violations - before.violations
    yield from unlike("Delta.violations", map(_violation, delta.violations), new)
    ended = before.violations - after.violations
    yield from unlike("Delta.resolved", map(_violation, delta.resolved), ended)


def _violation(violation: lf.Violation) -> Any:
    return violation.constraint, frozenset(violation.bindings.items())


def unlike_answers(reasoner: lf.Reasoner, truth: Truth) -> Iterator[str]:
    """An open query, over all triples and over the named graphs."""
    found: Any = reasoner.query("SELECT ?s ?p ?o { ?s ?p ?o }")
    triples = (fact for fact in truth.visible if isinstance(fact, Triple))
    yield from unlike("the query", _kept(Quad(*row) for row in found), _kept(map(_quad, triples)))
    found = reasoner.query("SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }")
    quads = (quad for quad in truth.statements if isinstance(quad, Quad))
    yield from unlike("the graphs", _kept(Quad(*row) for row in found), _kept(quads))


def _quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object)


def _kept(quads: Iterable[Quad]) -> set[Quad]:
    """Quads up to the literals that SPARQL takes for one."""
    store = Store()
    store.extend(quads)
    return set(store)


def unlike_rows(reasoner: lf.Reasoner, truth: Truth) -> Iterator[str]:
    """Every row with who tells it and how many instances of rules derive it."""
    plans = [plan for level in reasoner._state.engine.plan.levels for plan in level.plans]
    transitive = {plan.rule.key() for plan in plans if plan.transitive}
    recursive = {plan.rule.id for plan in plans if plan.recursive}
    asserted, closed = _asserters(truth), set()
    plain, circular = Counter[Row](), Counter[Row]()
    for rule, row in supports(truth.rows, [r for r in truth.rules if not r.is_constraint]):
        if rule.key() in transitive:
            closed.add(row)
        else:
            counts = circular if rule.id in recursive else plain
            counts[row] += 1
    expected = {
        row: (*asserted.get(row, (False, False)), plain[row], circular[row], row in closed)
        for row in truth.rows
    }
    found = _rows(reasoner)
    for row in sorted(found.keys() | expected.keys(), key=str):
        if found.get(row) != expected.get(row):
            yield f"{row}: {found.get(row)} is stored, the oracle has {expected.get(row)}"


def _asserters(truth: Truth) -> dict[Row, tuple[bool, bool]]:
    """For each row that is told: that it is, and whether the default graph tells it."""
    asserted = {row_of(fact_of(each)): (True, False) for each in truth.statements}
    return asserted | {
        row_of(fact): (True, True) for fact in truth.statements if not isinstance(fact, Quad)
    }


def _rows(reasoner: lf.Reasoner) -> dict[Row, tuple[bool, bool, int, int, bool]]:
    """Every stored row but the engine's own: told, by the default graph, counts, closed."""
    found = {}
    for shape, ids, cells in _stored_rows(reasoner):
        decoded = iter(reasoner._state.dictionary.decode(ids.ravel()))
        for (flags, plain, recursive, _), terms in zip(
            cells, zip(*[decoded] * ids.shape[1], strict=True), strict=True
        ):
            row = ("[]", terms) if shape == TRIPLES else (terms[0].name, terms[1:])
            if ":" not in row[0]:
                asserted = flags & ASSERTED != 0, flags & IN_DEFAULT != 0
                found[row] = *asserted, plain, recursive, flags & CLOSED != 0
    return found


def _stored_rows(reasoner: lf.Reasoner) -> Iterator[tuple[int, Any, list[list[int]]]]:
    """By shape, the ids of all rows, and their flags and counters."""
    store = reasoner._state.engine.store
    for shape, relation in store.relations.items():
        rows = store.with_flags(relation)
        cells = store.cells(relation)[rows, FLAGS : SINGLE + 1].tolist()
        yield shape, store.columns(relation, rows), cells


def unlike_anew(reasoner: lf.Reasoner, truth: Truth) -> Iterator[str]:
    """Rows whose flags or counters are not those of a reasoner that was told everything anew.

    A rule that was recursive goes on counting as recursive: the two counters are summed.  Which
    kinds of triples belong to the schema may depend on the history; then `verify` must agree.
    """
    anew = lf.Reasoner()
    anew.add_rules(Program(reasoner.rules, limit=LIMIT))
    anew.add(sorted(truth.statements, key=str))
    if _kinds_apart(anew) != _kinds_apart(reasoner):
        yield from map(str, reasoner.verify().differences)
        return
    kept, expected = stored(reasoner), stored(anew)
    for fact in kept.keys() | expected.keys():
        if kept.get(fact) != expected.get(fact):
            yield f"{fact}: {kept.get(fact)} is stored, {expected.get(fact)} expected"


def _kinds_apart(reasoner: lf.Reasoner) -> Any:
    """What the reasoner takes for the schema; ids differ between reasoners, texts do not."""
    path, texts = reasoner._state.engine.followed, reasoner._state.dictionary.texts
    if path is None:
        return None
    kinds, by_object = path.kinds_apart
    named = {tuple(texts([each for each in kind if each is not None])) for kind in kinds}
    return named, set(texts(sorted(by_object)))


def stored(reasoner: lf.Reasoner) -> dict[tuple[int, tuple[str, ...]], tuple[int, ...]]:
    """Every stored row: its lasting flags and its counters."""
    found = {}
    for shape, ids, cells in _stored_rows(reasoner):
        texts = map(reasoner._state.dictionary.texts, ids)
        for (flags, plain, recursive, single), text in zip(cells, texts, strict=True):
            found[shape, tuple(text)] = flags & LASTING, plain + recursive, single
    return found

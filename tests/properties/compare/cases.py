"""Cases beside the oracle: a reasoner that is told step by step, through the public API.

After every step the reasoner must show exactly what the oracle computes from scratch, and
its Delta must be exactly the difference to the step before.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from pyoxigraph import DefaultGraph, NamedNode, Quad, Store, Triple
from tests.oracle import asked_for, closure, model, shown, violations
from tests.properties.generate.cases import Case, Step, shrink
from tests.properties.generate.vocabulary import EX

import livefacts as lf
from livefacts.language.formula import Aggregate
from livefacts.language.program import Program
from livefacts.language.rule_text import write_program
from livefacts.model.facts import Fact, Term

Facts = set[Triple | Fact]


def differences(case: Case) -> list[str]:
    """Where reasoner and oracle disagree, in words; an error of the reasoner is one too."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return list(_compared(case))
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        return [
            f"raised {type(error).__name__}: {str(error)[:500]} ({place.filename}:{place.lineno})"
        ]


def report(case: Case, found: list[str]) -> str:
    """The smallest case that still differs, ready to be kept as a golden case."""
    small = shrink(case, lambda other: _fails_alike(other, found))
    lines = [*found[:5], "", "smallest case that differs:", str(small), *differences(small)[:5]]
    return "\n".join(lines)


def _fails_alike(case: Case, found: list[str]) -> bool:
    """Whether the case differs too, and not only because shrinking made it senseless."""
    others = differences(case) if is_well_formed(case) else []
    return bool(others) and is_error(others) == is_error(found)


def is_error(found: list[str]) -> bool:
    """Whether the reasoner raised something that it should not."""
    return found[0].startswith("raised")


def is_well_formed(case: Case) -> bool:
    """Whether the oracle accepts the case; shrinking may leave a variable unbound."""
    try:
        violations(case.program(), case.facts)
    except (ValueError, KeyError):
        return False
    return True


@dataclass(frozen=True, slots=True)
class Known:
    """What was told so far."""

    program: Program
    asserted: frozenset[Triple | Fact]

    def plus(self, change: Step) -> Known:
        return Known(self.program.plus(change.rules), self.asserted | set(change.facts))

    def true(self) -> Facts:
        return closure(self.program, self.asserted)

    def violations(self) -> set[tuple[str, frozenset[tuple[str, Term]]]]:
        return violations(self.program, self.asserted)


def _compared(case: Case) -> Iterator[str]:
    known = Known(case.start, frozenset(case.start.facts))
    try:
        reasoner = _made(case)
    except (lf.ViolationError, lf.LimitError) as error:
        yield from _refused(error, case, known)
        return
    yield from _state(reasoner, known)
    for number, change in enumerate(_changes(case), 1):
        wanted = known.plus(change)
        try:
            delta = _applied(reasoner, change, case)
        except (lf.ViolationError, lf.LimitError) as error:
            yield from (f"change {number}: {p}" for p in _refused(error, case, wanted))
        else:
            problems = _change(delta, known, wanted, case)
            yield from (f"change {number}: {problem}" for problem in problems)
            known = wanted
        yield from (f"change {number}: {problem}" for problem in _state(reasoner, known))
        if case.asks:
            yield from (f"change {number}: {problem}" for problem in _answers(reasoner, known))


def _made(case: Case) -> lf.Reasoner:
    return lf.Reasoner(
        rules=write_program(case.start) if case.as_text else case.start,
        single_path=case.single_path,
        limit=case.limit,
        on_violation="refuse" if case.refuses else "report",
    )


def _changes(case: Case) -> Iterator[Step]:
    """The steps, with rules and facts apart: each is one call, and one Delta."""
    for step in case.steps:
        if step.rules:
            yield Step((), step.rules)
        if step.facts:
            yield Step(step.facts)


def _applied(reasoner: lf.Reasoner, change: Step, case: Case) -> lf.Delta:
    if change.rules:
        return reasoner.add_rules(write_program(Program(change.rules)))
    if not case.in_graphs:
        return reasoner.add(list(change.facts))
    return reasoner.add([_in_graph(fact, at) for at, fact in enumerate(change.facts)])


def _in_graph(fact: Triple | Fact, at: int) -> Quad | Fact:
    """Every other triple in one of two graphs, the rest in the default graph."""
    if not isinstance(fact, Triple):
        return fact
    graph = (DefaultGraph(), NamedNode(EX + "g1"), DefaultGraph(), NamedNode(EX + "g2"))[at % 4]
    return Quad(fact.subject, fact.predicate, fact.object, graph)


def _refused(error: Exception, case: Case, wanted: Known) -> Iterator[str]:
    """A change may only be refused for a reason."""
    if isinstance(error, lf.ViolationError):
        if not case.refuses or not wanted.violations():
            yield f"refused without a violation: {error}"
    elif case.limit is None or (
        not _has_inner_rows(wanted.program)
        and len(model(wanted.program, wanted.asserted)) <= case.limit
    ):
        yield f"refused within the limit: {error}"


def _has_inner_rows(program: Program) -> bool:
    """Whether the engine keeps rows of its own for the rules, which count towards a limit."""
    return any(
        rule.is_constraint
        or asked_for(rule)
        or any(isinstance(part, Aggregate) for part in rule.body)
        for rule in program
    )


def _answers(reasoner: lf.Reasoner, known: Known) -> Iterator[str]:
    """A query that lists everything, up to the literals that SPARQL takes for one."""
    rows: Any = reasoner.query("SELECT ?s ?p ?o { ?s ?p ?o }")
    found = {Triple(*row) for row in rows}
    triples = {fact for fact in known.true() if isinstance(fact, Triple)}
    yield from _unlike("the query", _as_stored(found), _as_stored(triples))
    strange = {t.object for t in found} - {t.object for t in triples}
    if strange:
        yield f"the query has terms that nobody told: {sorted(map(str, strange))[:3]}"


def _as_stored(triples: Iterable[Triple]) -> set[Triple]:
    store = Store()
    store.extend(Quad(t.subject, t.predicate, t.object) for t in triples)
    return {quad.triple for quad in store}


def _state(reasoner: lf.Reasoner, known: Known) -> Iterator[str]:
    listed, true = list(reasoner.facts()), known.true()
    asserted = {fact for fact in known.asserted if _is_shown(fact)}
    yield from _unlike("facts()", listed, true)
    yield from _unlike("facts(derived=False)", reasoner.facts(derived=False), asserted)
    yield from _unlike("facts(derived=True)", reasoner.facts(derived=True), true - asserted)
    if len(listed) != len(true) or len(reasoner) != len(true):
        yield f"{len(listed)} facts listed, len() is {len(reasoner)}, the oracle has {len(true)}"
    missing = [fact for fact in true if fact not in reasoner]
    if missing:
        yield f"not `in` the reasoner: {missing[0]}"
    found = {(v.constraint, frozenset(v.bindings.items())) for v in reasoner.violations()}
    yield from _unlike("violations()", found, known.violations())


def _change(delta: lf.Delta, known: Known, wanted: Known, case: Case) -> Iterator[str]:
    """A Delta is exactly the difference between what was true and what is."""
    before, after = known.true(), wanted.true()
    yield from _unlike("Delta.added", delta.added, after - before)
    yield from _unlike("Delta.removed", delta.removed, before - after)
    yield from _unlike("Delta.derived", delta.derived, after - before - wanted.asserted)
    if len(delta.added) != len(after - before):
        yield "a Delta lists a fact twice"
    new = wanted.violations() - known.violations()
    asserted = {(v.constraint, frozenset(v.bindings.items())) for v in delta.violations}
    yield from _unlike("Delta.violations", asserted, new)
    if case.refuses and new:
        yield "a change with a violation was not refused"


def _unlike(what: str, found: Iterable[Any], expected: Iterable[Any]) -> Iterator[str]:
    found, expected = set(found), set(expected)
    for word, rest in (("lacks", expected - found), ("has too much", found - expected)):
        if rest:
            yield f"{what} {word}: {', '.join(sorted(map(str, rest))[:4])}"


def _is_shown(fact: Triple | Fact) -> bool:
    return any(shown(row) is not None for row in model(Program(), [fact]))

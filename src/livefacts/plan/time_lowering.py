"""Time lowering: what a timed formula means, in rules over time points.

Every predicate `p` that a window looks at gets companions with a time column: the arrivals
of the streams (`_arrived:p`, and with their streams `_arrived-on:p`), conclusions for a time
point (`_at:p`), and what is asserted for all time (`_background:p`).  The time points of a
window are facts as well (`_in:10`), and change when time moves; so a tick is a change like any
other.  For instance

    hot(?s) :- sensor(?s), sometime reading(?s) in [10] .

becomes

    _sometime:10:reading(?s) :- _arrived:reading(?s, ?t), _in:10(?t) .
    hot(?s) :- sensor(?s), _sometime:10:reading(?s) .

Arrivals are kept for as long as the longest window may look at them, so that this one sees
all of them, and needs no `_in`.  A formula that is alone in its body needs no atom to stand
for it.  `always` counts the time points of its window at which the atom holds; in recursion,
where nothing may be counted, it goes through them one by one.

Paper: LARS and its incremental evaluation (Bazoobandi et al., Laser).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from itertools import product

from pyoxigraph import NamedNode

from livefacts.errors import InputError, Place, RuleError
from livefacts.language.checks.strata import Strata, pattern_of, stratify
from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Aggregate,
    Atom,
    Comparison,
    Family,
    Formula,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    TripleAtom,
    Variable,
    family_of,
    filled,
    variables_of,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import (
    CountExtent,
    Extent,
    TimeExtent,
    TimeWindow,
    Window,
    extent_of,
)
from livefacts.model.durations import Duration
from livefacts.plan.rules.memo import by_address
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables

NOW = "_now:"
ARRIVED, ARRIVED_ON, MEANT = "_arrived:", "_arrived-on:", "_at:"
BACKGROUND = "_background:"
DERIVED = "_concluded:"
POINTS, SIZE, OPEN = "_in:", "_size:", "_open:"
FIRST, NEXT, LAST_POINT = "_first:", "_next:", "_last:"
RECENT = "_recent:"
WAY = "~"
"""Stands behind the id of a rule that is followed in several ways, before the number of one."""
TIME, LATER, COUNT = Variable(":t"), Variable(":u"), Variable(":n")
Held = tuple[tuple[NamedNode, Extent], ...]
"""Streams, and windows in which their facts hold."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What the rules need to know about time, beside facts."""

    spans: frozenset[Extent] = frozenset()
    """The windows whose time points are asked for, by their points key."""
    chained: frozenset[str] = frozenset()
    """The keys of windows that are gone through point by point."""
    arrivals: tuple[tuple[Family, int], ...] = ()
    """Whose arrivals are kept as facts, and for how long."""
    arrivals_on: tuple[tuple[Family, int], ...] = ()
    """The same, for arrivals that are kept with their streams."""
    recent: frozenset[tuple[Extent, Family]] = frozenset()
    """Windows by count, and whose facts they look for."""
    background: frozenset[Family] = frozenset()
    """Whose background is kept apart."""
    held: Held = ()
    """The windows in which facts of declared streams hold."""
    is_generating: bool = False
    """Whether rules make something of time points at which nothing arrives."""
    binds_times: bool = False
    """Whether an `at` looks through the time points of a window."""
    tick: Duration | None = None
    holds_undeclared: bool = True
    """Whether facts of streams that are not declared hold at their time points."""
    is_about_time: bool = False
    """Whether rules ask for anything but what holds now."""

    @property
    def retention(self) -> int:
        """For how many time points an arrival can matter to windows by time."""
        lengths = [length for _, length in (*self.arrivals, *self.arrivals_on)]
        lengths += [each.retention for _, each in self.held if isinstance(each, TimeExtent)]
        return max(lengths, default=0)


@dataclass(frozen=True, slots=True)
class Lowered:
    """Rules without timed formulas, and the times they speak of."""

    rules: tuple[Rule, ...]
    timing: Timing = Timing()


def has_time(program: Program) -> bool:
    return bool(program.streams) or any(map(looks_at_time, program.rules))


@by_address
def looks_at_time(rule: Rule) -> bool:
    """Whether a rule has formulas with windows, or concludes for another time point than now."""
    return rule.at is not None or any(True for _ in timed_parts(rule.body))


def timed_parts(body: Iterable[Formula]) -> Iterator[Timed]:
    """The timed formulas of a body, those in braces too."""
    for formula in body:
        if isinstance(formula, Timed):
            yield formula
        elif isinstance(formula, Aggregate):
            yield from timed_parts(formula.body)


def lower_time(
    program: Program, tick: Duration | None = None, strata: Strata | None = None, held: Held = ()
) -> Lowered:
    """The program without timed formulas; one without them stays as it is.

    Facts of streams hold in the windows that the program declares, and in those of `held`.
    """
    if not has_time(program):
        return Lowered(program.rules, Timing(held=held))
    known = strata or stratify(program.rules)
    return _Lowering(program, known, program.tick or tick, held).all()


@dataclass(slots=True)
class _Lowering:
    program: Program
    strata: Strata
    tick: Duration | None
    held: Held = ()
    rules: list[Rule] = field(default_factory=list)
    made: dict[str, PredicateAtom] = field(default_factory=dict)
    spans: dict[str, Extent] = field(default_factory=dict)
    chained: set[str] = field(default_factory=set)
    arrivals: dict[Family, int] = field(default_factory=dict)
    arrivals_on: dict[Family, int] = field(default_factory=dict)
    recent: set[tuple[Extent, Family]] = field(default_factory=set)
    background: set[Family] = field(default_factory=set)
    is_generating: bool = False
    binds_times: bool = False

    def all(self) -> Lowered:
        self.held += tuple((iri, self._span(window)) for iri, window in self.program.streams)
        for rule in self.program.rules:
            for formula in timed_parts(rule.body):
                self._keep(formula)
        for rule in self.program.rules:
            self.rules.extend(list(self._rules(rule)))
        timing = Timing(
            frozenset(self.spans.values()),
            frozenset(self.chained),
            tuple(self.arrivals.items()),
            tuple(self.arrivals_on.items()),
            frozenset(self.recent),
            frozenset(self.background),
            self.held,
            self.is_generating,
            self.binds_times,
            self.tick,
            is_about_time=any(map(looks_at_time, self.program.rules)),
        )
        return Lowered(tuple(self.rules), timing)

    def _keep(self, formula: Timed) -> None:
        """Arrivals that a formula looks for are kept as long as it may see them."""
        span, family = self._span(self._window(formula), formula.place), family_of(formula.atom)
        if isinstance(span, TimeExtent):
            kept = self._kept(span)
            kept[family] = max(kept.get(family, 0), span.retention)

    def _kept(self, span: TimeExtent) -> dict[Family, int]:
        return self.arrivals if span.stream is None else self.arrivals_on

    def _rules(self, rule: Rule) -> Iterator[Rule]:
        """A rule without timed formulas: once for each of the ways to make its body true."""
        if rule.at is None and not any(True for _ in timed_parts(rule.body)):
            yield rule
            return
        head = rule.head or PredicateAtom(VIOLATION + rule.id, violation_variables(rule))
        if rule.at is not None:
            self._hold_when_meant(head)
            self.is_generating |= not _is_guarded(rule)
            head = _with(MEANT, head, rule.at)
        for number, body in enumerate(self._bodies(rule.body, rule)):
            id = f"{rule.id}{WAY}{number}" if number else rule.id
            yield replace(rule, head=head, body=body, at=None, id=id)

    def _hold_when_meant(self, head: Atom) -> None:
        """What is concluded for a time point holds when that point is now."""
        general, _ = _generalized(head)
        name = f"{MEANT}{_text(head)}"
        if name not in self.made:
            self.made[name] = PredicateAtom(name)
            body = (_with(MEANT, general, TIME), PredicateAtom(NOW, (TIME,)))
            self.rules.append(Rule(general, body, name))

    # formulas

    def _bodies(self, body: tuple[Formula, ...], rule: Rule) -> Iterator[tuple[Formula, ...]]:
        """The body without timed formulas, in each of the ways to make it true."""
        for ways in product(*(list(self._ways(formula, body, rule)) for formula in body)):
            yield tuple(part for way in ways for part in way)

    def _ways(
        self, formula: Formula, body: tuple[Formula, ...], rule: Rule
    ) -> Iterator[tuple[Formula, ...]]:
        match formula:
            case Timed() if _stands_alone(formula, rule):
                yield from self._unfolded(formula)
            case Timed(operator="at", time=time, negated=True, denied=True):
                # The atom holds then, or the time is outside the window.
                assert time is not None
                span = self._span(self._window(formula), formula.place)
                yield _testing(self._helper(AT, formula, span, rule), body)
                yield (Negation(self._points(span, time), formula.place),)
                self.is_generating = True
            case Timed():
                yield tuple(self._timed(formula, body, rule))
            case Aggregate(body=inner):
                bodies = list(self._bodies(inner, rule))
                yield (replace(formula, body=self._joined(bodies, inner, rule)),)
            case _:
                yield (formula,)

    def _unfolded(self, formula: Timed) -> Iterator[tuple[Formula, ...]]:
        """The ways in which a formula holds that needs no atom to stand for it."""
        span = self._span(self._window(formula), formula.place)
        self._note_needs(formula)
        time = TIME if formula.time is None else formula.time
        yield from self._hits(formula.atom, span, formula, time)
        is_at = formula.operator == AT
        yield self._asserted(formula.atom), self._points(span, time) if is_at else self._open(span)

    def _note_needs(self, formula: Timed, operator: str | None = None) -> None:
        """What a formula asks of the time points of its window."""
        operator = operator or formula.operator
        self.binds_times |= operator == AT
        if operator != SOMETIME and any(r.at is None for r in self._concluding(formula.atom)):
            self.is_generating = True

    def _joined(
        self, bodies: list[tuple[Formula, ...]], body: Iterable[Formula], rule: Rule
    ) -> tuple[Formula, ...]:
        """What stands in braces: one body, or an atom for several."""
        if len(bodies) == 1:
            return bodies[0]
        variables = dict.fromkeys(v for formula in body for v in variables_of(formula))
        atom = PredicateAtom(f"_braces:{rule.id}:{len(self.made)}", tuple(variables))
        self.made[atom.name] = atom
        self._add(atom, bodies)
        return (atom,)

    def _timed(self, formula: Timed, body: tuple[Formula, ...], rule: Rule) -> Iterator[Formula]:
        span = self._span(self._window(formula), formula.place)
        operator, denied = formula.operator, formula.denied
        if formula.negated and operator == AT:
            assert formula.time is not None
            yield self._points(span, formula.time)
            self.is_generating = denied = True
        elif formula.negated:
            operator = ALWAYS if operator == SOMETIME else SOMETIME
            denied = not denied
        atom = self._helper(operator, formula, span, rule)
        if denied:
            yield Negation(atom, formula.place)
        else:
            yield from _testing(atom, body) if formula.denied else (atom,)

    def _window(self, formula: Timed) -> Window:
        if formula.window is not None:
            return formula.window
        for name, length in self.program.retained:
            if name == family_of(formula.atom):
                return TimeWindow(length)
        raise RuleError(
            f"`{formula.operator}` without a window would need all history",
            place=formula.place,
            hint="write a window (in [10 s]), or say how long to remember: @retain name 10 s .",
        )

    def _span(self, window: Window, place: Place | None = None) -> Extent:
        try:
            return extent_of(window, self.tick)
        except InputError as error:
            raise RuleError(error.message, place=place, hint=error.hint) from None

    # the rules of a window

    def _helper(self, operator: str, formula: Timed, span: Extent, rule: Rule) -> PredicateAtom:
        """The atom that stands for a timed formula; its rules are made at its first use."""
        general, slots = _generalized(formula.atom)
        is_chain = operator == ALWAYS and self._is_recursive(formula.atom, rule)
        name = f"_{operator}{'-chain' if is_chain else ''}:{span.key}:{_text(formula.atom)}"
        if name not in self.made:
            variables = tuple(slot for slot in general.slots if isinstance(slot, Variable))
            self.made[name] = PredicateAtom(name, variables)
            self._define(operator, self.made[name], general, span, formula, is_chain)
        # The time comes first, as in the formula: constraints show variables in the order of the text.
        arguments = slots if operator != AT else (formula.time, *slots)
        return PredicateAtom(name, arguments, formula.place)  # type: ignore[arg-type]

    def _define(
        self,
        operator: str,
        head: PredicateAtom,
        atom: Atom,
        span: Extent,
        formula: Timed,
        is_chain: bool,
    ) -> None:
        self._note_needs(formula, operator)
        hits = list(self._hits(atom, span, formula))
        background = self._asserted(atom)
        if operator == AT:
            head = replace(head, arguments=(TIME, *head.arguments))
            hits.append((background, self._points(span, TIME)))
            self._add(head, hits)
        elif operator == SOMETIME:
            self._add(head, [*hits, (background, self._open(span))])
        else:
            self._always(head, hits, span, is_chain)
            self._add(head, [(background, self._open(span))], "background")

    def _hits(
        self, atom: Atom, span: Extent, formula: Timed, time: Slot = TIME
    ) -> Iterator[tuple[Formula, ...]]:
        """The ways in which an atom holds at a time point of a window, background apart."""
        points, stream = self._points(span, time), span.stream
        if isinstance(span, CountExtent):
            self._refuse_derived(formula)
        if not isinstance(span, TimeExtent):
            self.recent.add((span, family_of(atom)))
            yield (_with(f"{RECENT}{span.key}:", atom, time),)
        else:
            arrived = _with(ARRIVED, atom, time)
            if stream is not None:
                arrived = _with(ARRIVED_ON, atom, time, stream)
            yield (arrived,) if self._sees_all(atom, span) else (arrived, points)
        if stream is not None:
            return
        if any(rule.at is not None for rule in self._concluding(formula.atom)):
            yield _with(MEANT, atom, time), points
        if any(rule.at is None for rule in self._concluding(formula.atom)):
            derived = self._derived(atom, span, formula.atom)
            yield derived, PredicateAtom(NOW, (time,)), points

    def _sees_all(self, atom: Atom, span: TimeExtent) -> bool:
        """Whether all arrivals that are kept are in the window."""
        lengths = [n for other, n in self._kept(span).items() if _may_meet(other, family_of(atom))]
        sees_now = span.newer == 0 and span.step == 1 and not span.full
        return sees_now and span.older == max(lengths)

    def _always(
        self, head: PredicateAtom, hits: list[tuple[Formula, ...]], span: Extent, is_chain: bool
    ) -> None:
        """All time points of the window are hit: by their number, or one after the other."""
        hit = PredicateAtom(f"_hit{head.name}", (*head.arguments, TIME))
        if is_chain or len(hits) > 1:
            self._add(hit, hits)
        if not is_chain:
            hit_at = (hit,) if len(hits) > 1 else hits[0]
            count = Aggregate(COUNT, "count", (TIME,), hit_at)
            self._add(head, [(count, PredicateAtom(SIZE + span.points_key, (COUNT,)))])
            self._ask(span)
            return
        key = span.points_key
        self.chained.add(key)
        self._ask(span)
        run = PredicateAtom(f"_run{head.name}", (*head.arguments, TIME))
        before = replace(run, arguments=(*head.arguments, LATER))
        step = PredicateAtom(NEXT + key, (LATER, TIME))
        self._add(run, [(PredicateAtom(FIRST + key, (TIME,)), hit), (before, step, hit)])
        self._add(head, [(run, PredicateAtom(LAST_POINT + key, (TIME,)))])

    def _add(self, head: Atom, bodies: Iterable[tuple[Formula, ...]], part: str = "") -> None:
        name = head.name if isinstance(head, PredicateAtom) else ""
        for number, body in enumerate(bodies):
            self.rules.append(Rule(head, body, f"{name}.{part}{number}"))

    # what the rules of windows speak of

    def _ask(self, span: Extent) -> None:
        self.spans.setdefault(span.points_key, span)

    def _points(self, span: Extent, time: Slot) -> PredicateAtom:
        self._ask(span)
        return PredicateAtom(POINTS + span.points_key, (time,))

    def _open(self, span: Extent) -> PredicateAtom:
        self._ask(span)
        return PredicateAtom(OPEN + span.points_key)

    def _asserted(self, atom: Atom) -> PredicateAtom:
        self.background.add(family_of(atom))
        return _with(BACKGROUND, atom)

    def _concluding(self, atom: Atom) -> Iterator[Rule]:
        return rules_for(self.program, atom)

    def _derived(self, atom: Atom, span: Extent, wanted: Atom) -> Atom:
        """What rules conclude for now; apart from what streams hold, if the window may not have it."""
        has_what_arrives = isinstance(span, TimeExtent) or span.of in (None, family_of(atom))
        if has_what_arrives and not self.held:
            return atom
        for rule in self._concluding(wanted):
            if rule.at is None and f"{DERIVED}{rule.id}" not in self.made:
                self._copy(rule)
        return _with(DERIVED, atom)

    def _copy(self, rule: Rule) -> None:
        """The conclusions of a rule once more, under a name of their own."""
        assert rule.head is not None
        name = f"{DERIVED}{rule.id}"
        self.made[name] = PredicateAtom(name)
        self._add(_with(DERIVED, rule.head), list(self._bodies(rule.body, rule)), f"{rule.id}.")

    def _is_recursive(self, atom: Atom, rule: Rule) -> bool:
        return atom in self.strata.recursive_atoms(rule)

    def _refuse_derived(self, formula: Timed) -> None:
        for rule in self._concluding(formula.atom):
            raise RuleError(
                "a window that counts facts looks at what streams bring, and this is concluded "
                f"by rule {rule.id}",
                place=formula.place,
                hint="use a window by time: in [10 s]",
            )


def rules_for(program: Program, atom: Atom) -> Iterator[Rule]:
    """The rules whose heads may be this atom."""
    wanted = pattern_of(atom)
    for rule in program.rules:
        if rule.head is not None:
            given = pattern_of(rule.head)
            if given.relation == wanted.relation and all(
                a is None or b is None or a == b
                for a, b in zip(given.constants, wanted.constants, strict=True)
            ):
                yield rule


def _is_guarded(rule: Rule) -> bool:
    """Whether the time of the head is that of an atom in the body."""
    return any(
        isinstance(f, Timed) and f.time == rule.at and not f.negated and not f.denied
        for f in rule.body
    )


def _stands_alone(formula: Timed, rule: Rule) -> bool:
    """Whether a body only looks at one formula: then it has as many ways as the rule."""
    if formula.operator == ALWAYS or formula.negated or formula.denied:
        return False
    return all(part is formula or isinstance(part, Comparison) for part in rule.body)


def _testing(atom: PredicateAtom, body: tuple[Formula, ...]) -> tuple[Formula, ...]:
    """An atom that gives no variable its value, as a negation does not: the terms that the rest
    of the body computes must be those of a fact, not only equal to them.
    """
    given = {variable for formula in body for variable in _given(formula)}
    aside = {v: Variable(f":same:{v.name}") for v in variables_of(atom) if v not in given}
    same = (Comparison(other, "is", variable) for variable, other in aside.items())
    return filled(atom, aside), *same


def _given(formula: Formula) -> Iterator[Variable]:
    """The variables to which a formula gives the terms of facts."""
    match formula:
        case TripleAtom() | PredicateAtom() | Timed(negated=False, denied=False):
            yield from variables_of(formula)
        case Timed(operator="at", time=Variable() as time, denied=False):
            yield time


def _with(name: str, atom: Atom, *more: Slot) -> PredicateAtom:
    """The companion of an atom's predicate, with more arguments."""
    if isinstance(atom, TripleAtom):
        return PredicateAtom(name, (*atom.slots, *more), atom.place)
    return PredicateAtom(name + atom.name, (*atom.arguments, *more), atom.place)


def _may_meet(one: Family, other: Family) -> bool:
    """Whether facts may be of both families: None are all triples."""
    if one == other:
        return True
    return (
        (one is None or other is None) and not isinstance(one, str) and not isinstance(other, str)
    )


def _generalized(atom: Atom) -> tuple[Atom, tuple[Slot, ...]]:
    """The atom with a variable of its own at each place that has one, and what stood there."""
    slots = atom.slots if isinstance(atom, TripleAtom) else atom.arguments
    general = tuple(
        Variable(f":{n}") if isinstance(slot, Variable) else slot for n, slot in enumerate(slots)
    )
    found = tuple(slot for slot in slots if isinstance(slot, Variable))
    if isinstance(atom, TripleAtom):
        return TripleAtom(general[0], general[1], general[2]), found
    return PredicateAtom(atom.name, general), found


def _text(atom: Atom) -> str:
    """A name for an atom in which only its constants count."""
    slots = atom.slots if isinstance(atom, TripleAtom) else atom.arguments
    constants = " ".join("?" if isinstance(slot, Variable) else str(slot) for slot in slots)
    return f"[{constants}]" if isinstance(atom, TripleAtom) else f"{atom.name}({constants})"

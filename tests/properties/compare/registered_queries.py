"""Random registered queries: rules, streams and windows against their definition.

A history pushes, retracts and comes late; background and rules change; queries are
registered and closed on the way.  Each report must be what the definition gives for the
stream as it was known then: the window's arrivals by their times, the oracle's closure of
them with the background, and the matches of the patterns in it, one by one.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from pyoxigraph import NamedNode, Triple
from tests.oracle import closure
from tests.properties.compare.reopenings import Home
from tests.properties.generate.programs import draw_case, fits

from livefacts.errors import LimitError
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact, Term
from livefacts.plan.rules.expiry_plans import are_lasting
from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.registered.reports import Report
from livefacts.service.registered.scheduled_query import Registration
from livefacts.syntax.rulelang.rule_parser import parse

Pattern = tuple[str | Term, str | Term, str | Term]
"""A variable is its name."""
Bag = Counter[tuple[Any, ...]]
STREAMS = ("http://example.org/one", "http://example.org/two")
LENGTH = 9
LATENESS = 3
EX = "http://example.org/"
PLACES = (
    "[?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .",
    "[?x, :in, ?y] :- [?y, :has, ?x] .",
    "[?x, :near, ?y] :- [?x, :in, ?z], [?y, :in, ?z] .",
    "[?x, :alone, ?z] :- [?x, :in, ?z], not [?z, :has, ?x] .",
    "[?x, :holds, ?n] :- ?n = count { ?y : [?y, :in, ?x] } .",
    "[?x, :in, ?y] :- inside(?x, ?y) .",
)


@dataclass(frozen=True, slots=True)
class Window:
    """A stream, and the part of it that is seen."""

    stream: str
    range: int
    step: int
    closed: bool = False
    counts: bool = False
    name: str = ""
    session: bool = False
    """Whether the range is the gap that ends a session."""
    until: int = 0
    """How long ago it ends; the range is how long ago it begins."""

    def __str__(self) -> str:
        stream = f"NAMED WINDOW <{self.name}> ON" if self.name else "STREAM"
        if self.counts:
            return f"FROM {stream} <{self.stream}> [TRIPLES {self.range} STEP {self.step}]"
        if self.session:
            return f"FROM {stream} <{self.stream}> [SESSION {self.range}]"
        closed = " BOUNDS CLOSED" if self.closed else ""
        if self.until:
            ago = f"FROM NOW-{self.range} TO NOW-{self.until} STEP {self.step}"
            return f"FROM {stream} <{self.stream}> [{ago}{closed}]"
        return f"FROM {stream} <{self.stream}> [RANGE {self.range} STEP {self.step}{closed}]"


@dataclass(frozen=True, slots=True)
class Question:
    """A query to register, and what it means."""

    name: str
    windows: tuple[Window, ...]
    every: int
    patterns: tuple[Pattern, ...]
    selected: tuple[str, ...]
    distinct: bool
    relation: str
    nested: bool
    absent: tuple[tuple[str, tuple[Pattern, ...]], ...] = ()
    """NOT EXISTS or MINUS, and the patterns."""

    def __str__(self) -> str:
        body = group_text(self.patterns)
        group = f"{{ {body} }}" if self.nested else body
        for words, patterns in self.absent:
            group = f"{{ {group[1:-1]} {words} {group_text(patterns)} }}"
        names = " ".join(f"?{name}" for name in self.selected)
        return (
            f"REGISTER {self.relation} {self.name} COMPUTE EVERY {self.every} AS "
            f"SELECT {'DISTINCT ' if self.distinct else ''}{names} "
            f"{' '.join(map(str, self.windows))} WHERE {group}"
        )

    def answers(self, triples: set[Triple], graphs: Mapping[str, set[Triple]]) -> Bag:
        """The rows that match, as often as they do."""
        rows: Bag = Counter()
        for found in _matches(self.patterns, triples, {}):
            if any(_is_denied(found, *each, triples) for each in self.absent):
                continue
            rows[tuple(found[name] for name in self.selected)] += 1
        return Counter(dict.fromkeys(rows, 1)) if self.distinct else rows

    def reported(self, report: Report) -> Bag:
        """The rows of a report."""
        return Counter(tuple(row) for row in report.rows)  # type: ignore[arg-type]


def group_text(patterns: tuple[Pattern, ...]) -> str:
    return f"{{ {' . '.join(' '.join(map(written, pattern)) for pattern in patterns)} }}"


def _is_denied(
    found: dict[str, Term], words: str, patterns: tuple[Pattern, ...], triples: set[Triple]
) -> bool:
    names = {slot for pattern in patterns for slot in pattern if isinstance(slot, str)}
    if words == "MINUS" and names.isdisjoint(found):
        return False
    return any(True for _ in _matches(patterns, triples, found))


def written(slot: str | Term) -> str:
    return f"?{slot}" if isinstance(slot, str) else str(slot)


def _matches(
    patterns: tuple[Pattern, ...], triples: set[Triple], known: dict[str, Term]
) -> Iterator[dict[str, Term]]:
    if not patterns:
        yield known
        return
    for triple in triples:
        found = dict(known)
        pairs = zip(patterns[0], (triple.subject, triple.predicate, triple.object), strict=True)
        if all(_fits(slot, term, found) for slot, term in pairs):
            yield from _matches(patterns[1:], triples, found)


def _fits(slot: str | Term, term: Term, found: dict[str, Term]) -> bool:
    return found.setdefault(slot, term) == term if isinstance(slot, str) else slot == term


@dataclass(slots=True)
class Asked:
    """A registered query and what it has reported before."""

    question: Asks
    registration: Registration
    since: int
    due: int
    """When the next report must come."""
    before: Bag = field(default_factory=Counter)
    is_compared: bool = True
    reports: int = 0


def places(pick: random.Random) -> list[Triple | Fact]:
    """Who is in what, in a small world, as triples and as predicate facts."""
    nodes = [NamedNode(EX + name) for name in "abcd"]
    asserted: list[Triple | Fact] = [
        Triple(one, NamedNode(EX + name), other)
        for name in ("in", "in", "has")
        for one in nodes
        for other in nodes
    ]
    chosen = pick.sample(list(dict.fromkeys(asserted)), 9)
    return [*chosen, Fact("inside", (nodes[0], nodes[1])), Fact("inside", (nodes[1], nodes[2]))]


class Theme(Protocol):
    """What a history is about."""

    most: int
    """So many facts arrive together at the most."""

    def program(self, pick: random.Random, seed: int) -> Program:
        """Its rules."""

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        """The facts that come and go."""

    def always(self) -> list[Triple | Fact]:
        """The background that never goes."""

    def question(self, history: RegisteredHistory, number: int) -> Asks:
        """A query to register."""


class Asks(Protocol):
    """A query to register, and what it means."""

    name: str
    windows: tuple[Window, ...]
    every: int
    relation: str

    def answers(self, triples: set[Triple], graphs: Mapping[str, set[Triple]]) -> Bag:
        """The rows that it finds, as often as it does."""

    def reported(self, report: Report) -> Bag:
        """The rows of a report."""


class Places:
    """Who is in what, asked for by triple patterns."""

    most = 4

    def program(self, pick: random.Random, seed: int) -> Program:
        rules = [rule for rule in draw_case(seed, plain=True).rules if not rule.is_constraint]
        places = pick.sample(PLACES, pick.choice((1, 2, 3, 4)))
        program = parse(f"@prefix : <{EX}> .\n" + "\n".join(places))
        if pick.random() < 0.4 and fits([*program.rules, *rules]):
            return program.plus(rules)
        return program

    def pool(self, pick: random.Random, seed: int) -> list[Triple | Fact]:
        facts = draw_case(seed, plain=True).facts
        return [*places(pick), *pick.sample(facts, min(3, len(facts)))]

    def always(self) -> list[Triple | Fact]:
        return []

    def question(self, history: RegisteredHistory, number: int) -> Question:
        return history.patterns(number)


class RegisteredHistory:
    """One random history, and the definition beside it."""

    same_as = "rules"

    def __init__(
        self, seed: int, theme: Theme | None = None, *, folder: Path | None = None
    ) -> None:
        self.pick = random.Random(f"registered {seed}")
        self.kinds = random.Random(f"kinds of windows {seed}")
        self.theme = theme or Places()
        self.program = self.theme.program(self.pick, seed)
        self.pool = self.theme.pool(self.pick, seed)
        self.background: set[Triple | Fact] = set(self.theme.always())
        self.streamed = self.pool
        """What streams bring; background is anything from the pool."""
        self.arrivals: dict[str, list[tuple[int, Triple | Fact]]] = {s: [] for s in STREAMS}
        self.order: list[tuple[str, int, Triple | Fact]] = []
        """The arrivals of all streams, as they came."""
        self.now = -1
        options: Any = {"start": 0, "same_as": self.same_as}
        self.home = None if folder is None else Home(folder, seed, **options)
        """In a folder, the reasoner is opened again at random points."""
        self.reasoner = (
            Reasoner(rules=self.program, **options)
            if self.home is None
            else self.home.open(self.program)
        )
        self.reasoner.add(self.theme.always())
        self.asked: list[Asked] = []
        self.lines: list[str] = []
        self.answered = self.changed = self.lasting = self.resettled = self.unmade = 0
        self.gone: list[Rule] = []
        self._known: dict[tuple[frozenset[Triple | Fact], tuple[Rule, ...]], set[Triple]] = {}
        if self.theme.most > 4:
            self.add()
        if self.pick.random() < 0.6:
            self.gone = [rule for rule in self.program.rules if not are_lasting([rule])]
            self.program = self.program.minus(self.gone)
            self.reasoner.remove_rules(self.gone)
        for number in range(self.pick.choice((1, 2, 3, 5))):
            self.register(number)

    def run(self) -> list[str]:
        """Play the history; what differs from the definition."""
        while self.now < LENGTH:
            for _ in range(self.pick.choice((0, 1, 2, 3, 4))):
                self._reopen()
                self.pick.choice(self._deeds())()
            self._reopen()
            self.now = min(LENGTH, self.now + self.pick.choice((1, 1, 1, 2, 4)))
            self.reasoner.advance(self.now)
            self.lines.append(f"advance({self.now})")
            found = [line for asked in self.asked for line in self._compare(asked)]
            if found:
                return found
        return []

    def _reopen(self) -> None:
        """End the process perhaps, unless there are reports that were not read."""
        if self.home is None or any(len(each.registration._reports) for each in self.asked):
            return
        before, self.reasoner = self.reasoner, self.home.again(self.reasoner)
        if self.reasoner is not before:
            self.lines.append("# opened again")
            for each in self.asked:
                known = each.registration.asked
                each.registration = self.reasoner.register(known.text, full=known.full)
                assert each.registration is self.reasoner.registered()[each.question.name]
            assert len(self.reasoner.registered()) == len(self.asked)

    # what happens

    def _deeds(self) -> list[Callable[[], None]]:
        deeds = [self.push] * 6 + [self.retract, self.add, self.remove, self.push_late]
        deeds += [self.come_and_go] if self.pick.random() < 0.3 else []
        return deeds

    def push(self) -> None:
        self._push(self.now + self.pick.choice((1, 1, 1, 2, 3)))

    def push_late(self) -> None:
        self._push(max(0, self.now - self.pick.choice((0, 1, 2, 3))))

    def _push(self, time: int) -> None:
        stream = self.pick.choice(STREAMS)
        facts = self._some(self.theme.most, self.streamed)
        self.lines.append(f"push({facts}, at={time}, stream={stream})")
        for fact in facts:
            self.reasoner.push([fact], at=time, stream=stream)
        log = self.arrivals[stream]
        for fact in facts:
            if (time, fact) not in log:
                log.append((time, fact))
                self.order.append((stream, time, fact))

    def retract(self) -> None:
        stream = self.pick.choice(STREAMS)
        known = [arrival for arrival in self.arrivals[stream] if self._can_go(arrival)]
        if known:
            time, fact = arrival = self.pick.choice(known)
            self.lines.append(f"retract({fact}, at={time}, stream={stream})")
            self.reasoner.retract([fact], at=time, stream=stream)
            self.arrivals[stream].remove(arrival)
            self.order.remove((stream, time, fact))

    def _can_go(self, arrival: tuple[int, Triple | Fact]) -> bool:
        """Whether an arrival may be taken back."""
        return True

    def add(self) -> None:
        facts = self._some(self.theme.most // 2)
        self.lines.append(f"add({facts})")
        self.reasoner.add(facts)
        self.background.update(facts)

    def remove(self) -> None:
        facts = [fact for fact in self._some(2) if fact not in self.theme.always()]
        self.lines.append(f"remove({facts})")
        self.reasoner.remove(facts)
        self.background.difference_update(facts)

    def come_and_go(self) -> None:
        """A rule goes or comes back; a query goes or comes."""
        if self.pick.random() < 0.35 and self.program.rules:
            rule = self.pick.choice(self.program.rules)
            self.reasoner.remove_rules(rule)
            self.program = self.program.minus([rule])
            self.gone.append(rule)
            self.lines.append(f"remove_rules({rule.id})")
        elif self.gone and self.pick.random() < 0.5:
            rule = self.gone.pop()
            before = self._lasting()
            self.reasoner.add_rules([rule])
            self.resettled += before - self._lasting()
            self.program = self.program.plus([rule])
            self.lines.append(f"add_rules({rule})")
        elif self.asked and self.pick.random() < 0.5:
            gone = self.asked.pop()
            gone.registration.close()
            self.lines.append(f"close({gone.question.name})")
        else:
            self.register(100 + len(self.lines))

    def _some(self, most: int, pool: list[Triple | Fact] | None = None) -> list[Triple | Fact]:
        pool = self.pool if pool is None else pool
        return self.pick.sample(pool, min(len(pool), self.pick.randint(1, most)))

    # queries

    def register(self, number: int) -> None:
        question = self.theme.question(self, number)
        self.lines.append(str(question))
        try:
            registration = self.reasoner.register(str(question), full=self.pick.random() < 0.1)
        except LimitError:
            return
        reach = max(w.range + w.step + w.closed for w in question.windows)
        by_arrivals = any(w.counts or w.session for w in question.windows)
        late = self.now >= 0 and (reach or by_arrivals)
        since = self.now + reach if late else 0
        is_compared = not (late and by_arrivals)
        before = self._lasting()
        due = max(1, -(-self.now // question.every)) * question.every
        self.asked.append(Asked(question, registration, since, due, is_compared=is_compared))
        self.lasting += self._lasting() - before

    def _lasting(self) -> int:
        """How many queries are answered from a state of windows of every length."""
        plans = [asked.registration.plan for asked in self.asked]
        return sum("state of windows" in plan for plan in plans)

    def patterns(self, number: int) -> Question:
        """A question of triple patterns."""
        pick = self.pick
        windows = self.windows()
        patterns = tuple(self._pattern() for _ in range(pick.choice((1, 1, 2))))
        names = sorted({s for pattern in patterns for s in pattern if isinstance(s, str)})
        selected = tuple(pick.sample(names, pick.randint(1, len(names))))
        return Question(
            f"q{number}",
            windows,
            pick.choice((1, 2, 3, 6)),
            patterns,
            selected,
            pick.random() < 0.3,
            pick.choice(("QUERY", "QUERY", "ISTREAM", "DSTREAM")),
            pick.random() < 0.3,
        )

    def windows(self) -> tuple[Window, ...]:
        """One window or two."""
        return tuple(self._window() for _ in range(self.pick.choice((1, 1, 2))))

    def _window(self) -> Window:
        pick = self.pick
        counts = pick.random() < 0.15
        window = Window(
            pick.choice(STREAMS),
            pick.choice((1, 2, 3, 5, 5)),
            pick.choice((1, 1, 1, 2, 3)),
            not counts and pick.random() < 0.2,
            counts,
        )
        kind = "" if counts else self.kinds.choices(("", "session", "past"), (89, 6, 5))[0]
        if kind == "session":
            return replace(window, session=True, closed=False, step=1)
        until = self.kinds.choice((1, 2)) if kind == "past" else 0
        return replace(window, range=window.range + until, until=until)

    def _pattern(self) -> Pattern:
        pick = self.pick
        heads = [rule.head for rule in self.program.rules]
        asserted = [fact for fact in self.pool if isinstance(fact, Triple)]
        predicates: list[str | Term] = ["p", "p", NamedNode(EX + "in"), NamedNode(EX + "in")]
        predicates += [pick.choice(asserted).predicate]
        predicates += [
            head.slots[1]
            for head in heads
            if head is not None and len(head.slots) == 3 and isinstance(head.slots[1], NamedNode)
        ]
        objects: list[str | Term] = ["y", "z", "z", "z", pick.choice(asserted).object]
        return (pick.choice("xxy"), pick.choice(predicates), pick.choice(objects))

    # the definition

    def _compare(self, asked: Asked) -> Iterator[str]:
        for report in asked.registration.results():
            for time in self._times(asked, report):
                if report.error is None:
                    yield from self._compare_at(asked, report, time)
                else:
                    self.unmade += 1
        yield from self._missing(asked)

    def _times(self, asked: Asked, report: Report) -> Iterator[int]:
        """The times of a report, each of which must be the next one."""
        for time in range(report.first, report.last + 1, asked.question.every):
            assert report.correction or time == asked.due, f"{time} is reported, not {asked.due}"
            asked.due += 0 if report.correction else asked.question.every
            yield time

    def _missing(self, asked: Asked) -> Iterator[str]:
        if asked.due <= self.now:
            yield f"{asked.question.name} at {asked.due}: no report"

    def _compare_at(self, asked: Asked, report: Report, time: int) -> Iterator[str]:
        windows = asked.question.windows
        graphs = {w.name: self._window_graph(w, time) for w in windows if w.name}
        now = asked.question.answers(self._closure(windows, time), graphs)
        before, asked.before = asked.before, now
        found = asked.question.reported(report)
        expected = {"QUERY": now, "ISTREAM": now - before, "DSTREAM": before - now}
        asked.reports += 1
        self.answered += bool(found)
        self.changed += now != before
        if asked.is_compared and time > asked.since and found != expected[asked.question.relation]:
            wanted = expected[asked.question.relation]
            yield f"{asked.question.name} at {time}: {found}\n  is not {wanted}"

    def _window_graph(self, window: Window, time: int) -> set[Triple]:
        """What arrived in a window, and what follows from it and not from the background alone."""
        follows = self._closure((window,), time) - self._closure((), time)
        return follows | {t for t in self._inside(window, time) if isinstance(t, Triple)}

    def _closure(self, windows: tuple[Window, ...], time: int) -> set[Triple]:
        facts = set(self.background)
        for window in windows:
            facts.update(self._inside(window, time))
        key = frozenset(facts), self.program.rules
        self._known.setdefault(
            key, {fact for fact in closure(self.program, facts) if isinstance(fact, Triple)}
        )
        return self._known[key]

    def _inside(self, window: Window, time: int) -> Iterator[Triple | Fact]:
        arrivals = sorted(
            [arrival for arrival in self.arrivals[window.stream] if arrival[0] <= time],
            key=lambda arrival: arrival[0],
        )
        if window.counts:
            whole = len(arrivals) - len(arrivals) % window.step
            yield from (fact for _, fact in arrivals[max(0, whole - window.range) : whole])
            return
        if window.session:
            yield from self._session(arrivals, window.range, time)
            return
        point = time // window.step * window.step
        oldest = point - window.range + (0 if window.closed else 1)
        yield from (fact for at, fact in arrivals if oldest <= at <= point - window.until)

    @staticmethod
    def _session(
        arrivals: list[tuple[int, Triple | Fact]], gap: int, time: int
    ) -> Iterator[Triple | Fact]:
        """The last arrivals, each less than the gap before the next, and the last before now."""
        for at, fact in reversed(arrivals):
            if time - at >= gap:
                return
            time = at
            yield fact


class CorrectedHistory(RegisteredHistory):
    """A history in which reports are sent again: in the end each is right by all that is known."""

    def __init__(self, seed: int, *, folder: Path | None = None) -> None:
        super().__init__(seed, folder=folder)
        self.corrections = 0
        self.said: dict[str, dict[int, Bag]] = {each.question.name: {} for each in self.asked}
        for stream in STREAMS:
            self.reasoner.correct(stream, LATENESS)

    def _deeds(self) -> list[Callable[[], None]]:
        return [self.push] * 4 + [self.push_late] * 3 + [self.retract]

    def _can_go(self, arrival: tuple[int, Triple | Fact]) -> bool:
        return arrival[0] >= self.now - LATENESS

    def _compare(self, asked: Asked) -> Iterator[str]:
        said = self.said[asked.question.name]
        for report in asked.registration.results():
            self.corrections += report.correction
            for time in self._times(asked, report):
                said[time] = Counter(tuple(row) for row in report.rows)  # type: ignore[misc]
        yield from self._missing(asked)
        yield from self._differing(asked, said) if self.now == LENGTH else ()

    def _differing(self, asked: Asked, said: dict[int, Bag]) -> Iterator[str]:
        before: Bag = Counter()
        for time, found in sorted(said.items()):
            now = asked.question.answers(self._closure(asked.question.windows, time), {})
            expected = {"QUERY": now, "ISTREAM": now - before, "DSTREAM": before - now}
            before, wanted = now, expected[asked.question.relation]
            if found != wanted:
                yield f"{asked.question.name} at {time}: {found}\n  is not {wanted}"


class SharedHistory:
    """Queries over one stream that have one reasoner, beside reasoners that have one each."""

    def __init__(self, seed: int) -> None:
        self.pick = pick = random.Random(f"abreast {seed}")
        rules = pick.sample(
            [rule for rule in PLACES if "not" not in rule and "count" not in rule], 3
        )
        text = f"@prefix : <{EX}> .\n" + "\n".join(rules)
        texts = [
            f"REGISTER {pick.choice(('QUERY', 'ISTREAM', 'DSTREAM'))} q{number} AS "
            f"SELECT ?x ?y FROM STREAM <{STREAMS[0]}> [RANGE {pick.randint(1, 8)} "
            f"STEP {pick.choice((1, 1, 2, 3))}] WHERE {{ ?x <{EX}in> ?y }}"
            for number in range(6)
        ]
        self.one = Reasoner(rules=text, start=0)
        self.many = [Reasoner(rules=text, start=0) for _ in texts]
        self.together = [self.one.register(text) for text in texts]
        self.alone = [r.register(text) for r, text in zip(self.many, texts, strict=True)]
        self.pool = places(pick)

    def run(self) -> Iterator[tuple[list[object], list[object]]]:
        """What each query reports with the others, and alone."""
        for now in range(16):
            for _ in range(self.pick.choice((0, 1, 2))):
                deed = self.pick.choice(("push", "push", "push", "retract"))
                facts = self.pick.sample(self.pool, 2)
                time = max(0, now - self.pick.choice((0, 0, 0, 1, 4)))
                for reasoner in (self.one, *self.many):
                    getattr(reasoner, deed)(facts, at=time, stream=STREAMS[0])
            for reasoner in (self.one, *self.many):
                reasoner.advance(now)
        for together, alone in zip(self.together, self.alone, strict=True):
            yield list(map(_seen, together.results())), list(map(_seen, alone.results()))


def _seen(report: Report) -> object:
    return report.time, report.last, sorted(report.rows, key=str)

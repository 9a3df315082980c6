"""What random stream histories contain and do: a generator that measures itself cannot go blind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from tests.oracle.naive import levels
from tests.oracle.streams import Model
from tests.oracle.timeline import Timeline
from tests.properties.generate.programs import is_recursive
from tests.properties.generate.stream_histories import (
    ADVANCE,
    PUSH,
    RETRACT,
    TICKS,
    Act,
    StreamHistory,
)
from tests.properties.generate.timed_rules import timed_parts

from livefacts.language.formula import (
    AT,
    Aggregate,
    Arithmetic,
    Comparison,
    Negation,
    Timed,
    TripleAtom,
)
from livefacts.language.program import Rule
from livefacts.language.windows import (
    FactWindow,
    PastWindow,
    SessionWindow,
    SteppedWindow,
    TimeWindow,
)


def shares(histories: Iterable[StreamHistory]) -> dict[str, float]:
    """For each feature, the share of the histories that have it; for each effect, of the acts."""
    counts: Counter[str] = Counter()
    total = 0
    for history in histories:
        total += 1
        seen = [f"acts: {effect}" for effect in effects(history)]
        counts.update({*features(history), *_of_results(seen)})
        counts.update(seen)
    found = {name: count / total for name, count in counts.items()}
    for name in [name for name in found if name.startswith("acts: ")]:
        kind = name.removeprefix("acts: ").split(" that ")[0]
        found[name] = counts[name] / counts[f"acts: {kind}"]
    return dict(sorted(found.items()))


def features(history: StreamHistory) -> Iterator[str]:
    rules = [rule for rule in history.program if not rule.is_constraint]
    if len(levels(rules)) > 1:
        yield "strata: several"
    if history.program.streams:
        yield "declared streams"
    for rule in rules:
        if is_recursive(rule, rules):
            yield "recursion"
            if rule.at is not None and any(part.operator == AT for part in timed_parts(rule.body)):
                yield "recursion through time"
    for rule in history.program:
        yield from _of_rule(rule)
    for act in history.acts:
        yield act.kind
    yield from _of_heads(rules)


def _of_results(seen: Iterable[str]) -> Iterator[str]:
    if any(effect.endswith("changes conclusions") for effect in seen):
        yield "derives something"


def _of_heads(rules: list[Rule]) -> Iterator[str]:
    for rule in rules:
        computed = [part.left for part in rule.body if isinstance(part, Comparison)]
        if rule.at is not None:
            yield "heads with at"
            if rule.at in computed:
                yield "heads at a computed time"
        if isinstance(rule.head, TripleAtom):
            yield "triples concluded"


def _of_rule(rule: Rule) -> Iterator[str]:
    if rule.is_constraint:
        yield "constraints"
    for part in rule.body:
        match part:
            case Negation():
                yield "negation"
            case Aggregate():
                yield "aggregates"
                if timed_parts(part.body):
                    yield "aggregates over windows"
            case Comparison(_, _, Arithmetic()):
                yield "arithmetic"
    for timed in timed_parts(rule.body):
        yield from _of_timed(timed)


def _of_timed(timed: Timed) -> Iterator[str]:
    yield timed.operator
    if timed.negated or timed.denied:
        way = {(True, True): "both", (True, False): "inside", (False, True): "outside"}
        yield f"not {way[timed.negated, timed.denied]}"
    if isinstance(timed.atom, TripleAtom):
        yield "windows of triples"
    match timed.window:
        case None:
            yield "retained"
        case TimeWindow():
            yield "time windows"
        case SteppedWindow(closed=closed):
            yield "stepped windows"
            if closed:
                yield "closed windows"
        case FactWindow(of=of):
            yield "windows of facts"
            if of is not None:
                yield "windows of facts of one predicate"
        case SessionWindow():
            yield "session windows"
        case PastWindow():
            yield "windows in the past"
    if getattr(timed.window, "full", False):
        yield "full windows"
    if timed.window is not None and timed.window.stream is not None:
        yield "windows on a stream"


def effects(history: StreamHistory) -> Iterator[str]:
    """What each act does, by the oracle."""
    timeline, now, before = Timeline(history.start), None, None
    for act in history.acts:
        kind = _kind(act, now)
        asserted(timeline, act)
        if act.kind in (ADVANCE, TICKS):
            yield from _passing(history, timeline, act, now)
            now = act.at
        after = None if now is None else timeline.model(history.program, now)
        yield kind
        if before is not None and after is not None and before.rows != after.rows:
            yield f"{kind} that changes something"
            if before.output != after.output:
                yield f"{kind} that changes conclusions"
        before = after


def _kind(act: Act, now: int | None) -> str:
    if act.kind not in (PUSH, RETRACT) or now is None:
        return act.kind
    when = "ahead" if act.at > now else "now" if act.at == now else "late"
    return f"{act.kind} {when}"


def asserted(timeline: Timeline, act: Act) -> None:
    """Tell the timeline what an act tells; the clock makes no difference to it."""
    for fact in act.facts:
        match act.kind:
            case "push":
                timeline.push(fact, act.at, act.stream)
            case "retract":
                timeline.retract(fact, act.at, act.stream)
            case "add":
                timeline.add(fact, act.stream)
            case "remove":
                timeline.remove(fact, act.stream)


def _passing(
    history: StreamHistory, timeline: Timeline, act: Act, now: int | None
) -> Iterator[str]:
    """The time points that pass, and what happens at them while nothing arrives."""
    first = timeline.begin(act.at) if now is None else now + 1
    arriving = {at for _, at, _ in timeline.arrivals}
    before: Model | None = None
    for time in range(first, act.at + 1):
        model = timeline.model(history.program, time)
        if before is not None:
            silent = " in silence" if not {time, time - 1} & arriving else ""
            yield f"tick{silent}"
            if before.output != model.output:
                yield f"tick{silent} that changes conclusions"
        before = model

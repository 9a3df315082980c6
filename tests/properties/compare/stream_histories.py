"""Stream histories beside the oracle of streams: a reasoner, compared after every act.

What holds, what is concluded, and every Delta must be what the oracle finds from scratch at
each time point that passes, also at those over which the clock jumps.  Snapshots are held over
several acts.
"""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pyoxigraph import Quad
from tests.oracle.streams import Model, visible
from tests.oracle.timeline import Timeline
from tests.properties.compare.held_snapshots import Expected, HeldSnapshots
from tests.properties.compare.reopenings import Home
from tests.properties.compare.retention import retention
from tests.properties.generate.cases import shrink
from tests.properties.generate.stream_histories import (
    ADD,
    ADVANCE,
    PUSH,
    REMOVE,
    RETRACT,
    TICKS,
    UNLEARN,
    Act,
    StreamHistory,
    smaller,
)

import livefacts as lf
from livefacts.language.program import Program

Seen = set[Any]


class Pair:
    """A reasoner and the oracle, told the same."""

    def __init__(self, history: StreamHistory, folder: Path | None = None) -> None:
        self.program = history.program
        self.oracle = Timeline(history.start)
        self.home = None if folder is None else Home(folder, history, start=history.start)
        with warnings.catch_warnings():
            # Random programs do what warnings warn of.
            warnings.simplefilter("ignore")
            self.reasoner = (
                lf.Reasoner(history.program, start=history.start)
                if self.home is None
                else self.home.open(history.program)
            )
        self.now: int | None = None
        self._models: dict[int, Model] = {}
        self.held: Seen = set(self.reasoner.facts())
        self.snapshots = HeldSnapshots()

    def model(self, time: int) -> Model:
        """What holds at a time point; what arrives later makes no difference there."""
        if time not in self._models:
            self._models[time] = self.oracle.model(self.program, time)
        return self._models[time]

    def follow(self, act: Act) -> Iterator[str]:
        """Do it on both sides, and say what differs."""
        if self.home is not None:
            self.reasoner = self.home.again(self.reasoner)
        if act.kind in (ADVANCE, TICKS):
            yield from self._move(act)
        else:
            delta = self._assert(act)
            if self.now is None or act.kind not in (PUSH, RETRACT) or act.at <= self.now:
                self._models.clear()
            if self.now is None:
                self._take(delta)
            else:
                yield from self._changed(delta, self.model(self.now))
        if self.now is not None:
            yield from self._compared(self.model(self.now))
        if act.kind in (ADVANCE, TICKS):
            self.oracle.forget(act.at - retention(self.program))

    def _assert(self, act: Act) -> lf.Delta:
        oracle, reasoner, facts = self.oracle, self.reasoner, list(act.facts)
        for fact in act.facts:
            match act.kind:
                case "push":
                    oracle.push(fact, act.at, act.stream)
                case "retract":
                    oracle.retract(fact, act.at, act.stream)
                case "add":
                    oracle.add(fact, act.stream)
                case _:
                    oracle.remove(fact, act.stream)
        if act.kind in (PUSH, RETRACT):
            timed = {PUSH: reasoner.push, RETRACT: reasoner.retract}[act.kind]
            return timed(facts, at=act.at, stream=act.stream)
        if act.rules:
            return self._change_rules(act)
        asserted = [Quad(*fact, act.stream) if act.stream else fact for fact in facts]  # type: ignore[misc]
        return {ADD: reasoner.add, REMOVE: reasoner.remove}[act.kind](asserted)

    def _change_rules(self, act: Act) -> lf.Delta:
        ids = [rule.id for rule in act.rules]
        self.program = self.program.minus(act.rules)
        if act.kind == UNLEARN:
            return self.reasoner.remove_rules(ids)
        self.program = self.program.plus(act.rules)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.reasoner.add_rules(Program(rules=act.rules))

    def _move(self, act: Act) -> Iterator[str]:
        first = self.oracle.begin(act.at) if self.now is None else self.now + 1
        self._models.clear()
        before, self.now = self.held, act.at
        if act.kind == ADVANCE:
            yield from self._changed(self.reasoner.advance(act.at), self.model(act.at))
            return
        deltas = dict(self.reasoner.ticks(act.at))
        for time in range(first, act.at + 1):
            delta = deltas.pop(time, None)
            if delta is not None:
                yield from self._changed(delta, self.model(time))
                before = self.held
                continue
            wrong = before ^ self.model(time).facts
            if wrong:
                yield f"at {time} no change is reported, but {_listed(wrong)} changed"
        if deltas:
            yield f"there are ticks at {sorted(deltas)}, which did not pass"

    def _changed(self, delta: lf.Delta, model: Model) -> Iterator[str]:
        """The delta must lead from what held before to the model."""
        added, removed, expected = set(delta.added), set(delta.removed), model.facts
        if added != expected - self.held:
            yield f"at {model.now}: wrong about added {_listed(added ^ (expected - self.held))}"
        if removed != self.held - expected:
            yield f"at {model.now}: wrong about removed {_listed(removed ^ (self.held - expected))}"
        output, asserted = visible(model.output), visible(model.asserted)
        derived = set(delta.derived)
        if not (added & output) - asserted <= derived <= added & output:
            yield f"at {model.now}: the delta is wrong about conclusions {_listed(derived)}"
        self._take(delta)

    def _take(self, delta: lf.Delta) -> None:
        self.held = (self.held - set(delta.removed)) | set(delta.added)

    def _compared(self, model: Model) -> Iterator[str]:
        reasoner, expected = self.reasoner, model.facts
        wrong = set(reasoner.facts()) ^ expected
        if wrong:
            yield f"at {model.now}: wrong about {_listed(wrong)}"
        if reasoner.now != model.now or len(reasoner) != len(expected):
            yield f"at {model.now}: now is {reasoner.now}, with {len(reasoner)} facts"
        output, asserted = visible(model.output), visible(model.asserted)
        derived = set(reasoner.facts(derived=True))
        if not output - asserted <= derived <= output:
            wrong = (output - asserted - derived) | (derived - output)
            yield f"at {model.now}: wrong about conclusions {_listed(wrong)}"
        violations = {
            (each.constraint, frozenset(each.bindings.items())) for each in reasoner.violations()
        }
        if violations != model.violations:
            yield f"at {model.now}: wrong about violations {violations ^ model.violations}"
        yield from self.snapshots.take(reasoner, Expected(expected, model.violations))


def _listed(facts: Seen) -> str:
    return ", ".join(sorted(map(str, facts)))


def differences(history: StreamHistory, folder: Path | None = None) -> Iterator[str]:
    """Where the reasoner is not what the oracle says; after the first act that differs, no more.

    In a `folder`, it is opened again at random points.
    """
    try:
        pair = Pair(history, folder)
        for number, act in enumerate(history.acts, 1):
            found = list(pair.follow(act))
            yield from (f"act {number}, {act}: {one}" for one in found)
            if found:
                return
        yield from pair.snapshots.differences()
    except Exception as error:
        yield f"{type(error).__name__}\n{traceback.format_exc()}"


def report(history: StreamHistory) -> str:
    """The smallest history that still differs, and how."""
    small = shrink(history, _differs_alike(history), smaller)
    return "\n".join([*differences(small), str(small)])


def _differs_alike(history: StreamHistory) -> Any:
    """Whether a smaller history differs in the same way: by its answers, or by the same error."""
    kind = _kind(next(differences(history)))

    def differs(other: StreamHistory) -> bool:
        first = next(differences(other), None)
        return first is not None and _kind(first) == kind

    return differs


def _kind(difference: str) -> str:
    return difference.split(maxsplit=1)[0]

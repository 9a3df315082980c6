"""Fault injection: where a change can fail, and everything that must be as before when they have.

A change can fail wherever Python has a say: at a pause of the kernel (Ctrl-C, a limit, a bound),
when the kernel asks for room, a value or the consequences of a kind of triple, while rules
are bound, when aggregates are computed, and when constraints are checked at the end; and
what is then undone can fail in its turn.  `Saboteur` counts these moments, and raises at
the one it is told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import livefacts as lf
from livefacts.engine.embedded.change.aggregates import BoundAggregate
from livefacts.engine.embedded.change.level import BoundLevel
from livefacts.engine.embedded.kernel.bound_plans import Binder
from livefacts.engine.embedded.kernel.driver import Interpreter
from livefacts.engine.embedded.kernel.value_memory import ValueMemo
from livefacts.engine.embedded.schema.single_path import SinglePath
from livefacts.engine.embedded.transitive.edge_loss import TransitiveLosses
from livefacts.model.work_bounds import WorkBounds, within
from livefacts.store.facts.layout import FLAGS, SINGLE
from livefacts.store.facts.row_store import RowStore

ALLOCATIONS = (
    (RowStore, "make_room"),
    (RowStore, "index"),
    (Binder, "_add"),
    (ValueMemo, "answer_number"),
    (ValueMemo, "answer_pair"),
    (SinglePath, "answer"),
    (SinglePath, "_learn"),
    (BoundAggregate, "changes"),
    (BoundLevel, "__init__"),
    (TransitiveLosses, "lost_rows"),
    (Interpreter, "follow"),
    (Interpreter, "delta"),
)
"""Where memory may run out: whatever makes arrays or lists while a change is under way."""


class TooLateError(Exception):
    """The change came to its end before the moment came at which it was to fail."""


class _Impatience(WorkBounds):
    """Bounds that are passed when they are told."""

    def __init__(self, moment: Callable[[type[BaseException]], None]) -> None:
        super().__init__(None, None, lambda: 0)
        self._moment = moment

    def look(self, more: int) -> None:
        self._moment(OutOfBoundsError)


class OutOfBoundsError(lf.LimitError):
    """A change has passed a bound."""

    def __init__(self) -> None:
        super().__init__("the change took longer than it may")


class Saboteur:
    """Raises at one of the moments at which a change can fail; counts them until then.

    If the change comes to its end, it fails there, and `again` so many moments after that,
    while it is undone.
    """

    def __init__(self, at: int | None = None, again: int | None = None) -> None:
        self._at = at
        self._again = again
        self.moments = 0

    def stop(self, delta: object) -> None:
        """Fail at the very end, where constraints are checked."""
        self._at = None if self._again is None else self.moments + self._again
        raise TooLateError

    def _moment(self, error: type[BaseException]) -> None:
        self.moments += 1
        if self._at is not None and self.moments > self._at:
            self._at = None
            raise error

    @contextmanager
    def interrupting(self, reasoner: lf.Reasoner) -> Iterator[None]:
        """Ctrl-C at a pause of the kernel, which pauses after every step."""
        reasoner._state.engine.on_progress = lambda made: self._moment(KeyboardInterrupt)
        try:
            with patch.object(Interpreter, "budget", 1):
                yield
        finally:
            reasoner._state.engine.on_progress = lambda made: None

    @contextmanager
    def running_late(self, reasoner: lf.Reasoner) -> Iterator[None]:
        """A bound that has been passed, wherever bounds are looked at."""
        with patch.object(Interpreter, "budget", 1), within(_Impatience(self._moment)):
            yield

    @contextmanager
    def running_out(self, reasoner: lf.Reasoner) -> Iterator[None]:
        """No memory where some is needed, in this reasoner and in what it is made of."""
        with self._raising(MemoryError):
            yield

    @contextmanager
    def breaking_off(self, reasoner: lf.Reasoner) -> Iterator[None]:
        """Ctrl-C in the same places, which are all over the code."""
        with self._raising(KeyboardInterrupt):
            yield

    @contextmanager
    def _raising(self, error: type[BaseException]) -> Iterator[None]:
        with ExitStack() as stack:
            for owner, name in ALLOCATIONS:
                stack.enter_context(patch.object(owner, name, self._wrapped(owner, name, error)))
            yield

    def _wrapped(self, owner: type, name: str, error: type[BaseException]) -> Callable[..., Any]:
        original = getattr(owner, name)

        def method(this: Any, *arguments: Any, **options: Any) -> Any:
            self._moment(error)
            return original(this, *arguments, **options)

        return method


def snapshot(reasoner: lf.Reasoner) -> dict[str, Any]:
    """Everything that users and later changes can see of a reasoner."""
    return {
        "rows": every_row(reasoner),
        "rules": reasoner.rules,
        "next rule": reasoner._state.program.next_number,
        "prefixes": dict(reasoner.prefixes),
        "length": len(reasoner),
        "told": set(reasoner.facts(derived=False)),
        "concluded": set(reasoner.facts(derived=True)),
        "violations": set(map(str, reasoner.violations())),
        "answers": answers(reasoner, "SELECT ?s ?p ?o { ?s ?p ?o }"),
        "graphs": answers(reasoner, "SELECT ?g ?s ?p ?o { GRAPH ?g { ?s ?p ?o } }"),
        "plan": reasoner.plan(),
    }


def every_row(reasoner: lf.Reasoner) -> set[tuple[int, tuple[str, ...], tuple[int, ...]]]:
    """All stored rows, with all their flags and counters."""
    found = set()
    store = reasoner._state.engine.store
    for shape, relation in store.relations.items():
        rows = store.with_flags(relation)
        texts = map(reasoner._state.dictionary.texts, store.columns(relation, rows))
        cells = store.cells(relation)[rows, FLAGS : SINGLE + 1].tolist()
        found |= {(shape, tuple(t), tuple(c)) for t, c in zip(texts, cells, strict=True)}
    return found


def answers(reasoner: lf.Reasoner, query: str) -> set[str]:
    rows: Any = reasoner.query(query)
    return {" ".join(map(str, row)) for row in rows}


def unlike(before: dict[str, Any], after: dict[str, Any]) -> str:
    """What is not as it was, in words."""
    lines = []
    for name, was in before.items():
        now = after[name]
        if was == now:
            continue
        if isinstance(was, set):
            gone, new = (sorted(map(str, rest))[:3] for rest in (was - now, now - was))
            lines.append(f"{name}: gone {gone}, new {new}")
        else:
            lines.append(f"{name}: {was} is now {now}")
    return "\n".join(lines)

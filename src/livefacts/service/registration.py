"""A registered query: when it is due, and what it has reported."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from livefacts.rules.formula import TripleAtom, Variable
from livefacts.rules.program import Rule
from livefacts.rules.registration import RegisteredQuery
from livefacts.service.answering import Answers, Found
from livefacts.service.reports import Report, ReportQueue
from livefacts.service.windowing import Extent, grid_point
from livefacts.service.worlds import EngineWorld
from livefacts.service.worldstores import WorldStore

ANY_TRIPLE = TripleAtom(Variable("s"), Variable("p"), Variable("o"))


@dataclass(frozen=True, slots=True)
class Needs:
    """What a query asks of its world: the atoms it looks up, and a rule that finds its answers."""

    atoms: tuple[TripleAtom, ...] = (ANY_TRIPLE,)
    rule: Rule | None = None
    full: bool = False
    """Whether all rules are wanted, not only those that can matter."""


@dataclass(slots=True)
class SharedWorld:
    """A world and the queries that share it."""

    world: EngineWorld
    needs: dict[int, Needs] = field(default_factory=dict)
    """By the numbers of the queries."""
    rules: tuple[Rule, ...] = ()


class Registration:
    """A registered query: `results()` are its reports, `close()` ends it."""

    def __init__(
        self,
        number: int,
        query: RegisteredQuery,
        windows: Sequence[Extent],
        every: int,
        shared: SharedWorld,
        answers: Answers,
        store: WorldStore | None,
        close: Callable[[Registration], None],
    ) -> None:
        self.number = number
        self.query = query
        self.windows = tuple(windows)
        self.every = every
        """So many time points lie between two reports."""
        self.due: int | None = None
        """When it must be looked at again; None while nothing can change."""
        self.shared = shared
        self.store = store
        self._answers = answers
        self._close = close
        self._reports = ReportQueue()
        self._next = self._first = 0
        self._nothing: Found | None = None
        self.is_started = False

    # for users

    @property
    def name(self) -> str:
        """What the query is called."""
        return self.query.name

    @property
    def plan(self) -> str:
        """How the answers are found, in words."""
        rules = [rule.id for rule in self.shared.rules]
        return "\n".join(
            [
                f"reports: every {self.every}, {self.query.relation}",
                *(f"window: {extent}" for extent in self.windows),
                "answers: asked anew of a store at each report"
                if self.store is not None
                else "answers: followed change by change",
                f"rules: {', '.join(rules) if rules else 'none can matter'}",
                f"world: shared by {len(self.shared.needs)} queries"
                if len(self.shared.needs) > 1
                else "world: its own",
            ]
        )

    def results(self) -> Iterator[Report]:
        """The reports that have not been read, the oldest first."""
        return self._reports.take()

    def close(self) -> None:
        """Report no more; what has been reported can still be read."""
        self._close(self)

    def __repr__(self) -> str:
        return f"<Registration {self.name}: {len(self._reports):,} reports to read>"

    # for the clock

    def start(self, first: int, now: int) -> None:
        """Report from the first grid point at or after `now`; `first` is the first time point."""
        self._first = first
        self._next = self.due = grid_point(max(first, now), self.every)
        self.is_started = True

    def wake(self, time: int) -> None:
        """Something may have changed for this time and after."""
        if self.is_started:
            point = grid_point(max(time, self._next), self.every)
            self.due = point if self.due is None else min(self.due, point)

    def report(self, now: int) -> Found:
        """The report that is due now; it is also kept to be read."""
        world = self.shared.world
        world.move(now)
        if self.store is not None:
            self.store.move(now)
        found = self._answers.report()
        self.pass_until(now - 1)
        self._nothing = Found(found.names, 0, lambda: iter(()))
        self._put(now, now, found)
        self._next = now + self.every
        change = world.next_change(now) if not found.count else self._next
        self.due = None if change is None else grid_point(change, self.every)
        return found

    def pass_until(self, time: int) -> None:
        """Nothing has changed until this time: the reports in between are empty."""
        last = time // self.every * self.every
        if not self.is_started or self._next > last or self._nothing is None:
            return
        self._put(self._next, last, self._nothing)
        self._next = last + self.every

    def _put(self, first: int, last: int, found: Found) -> None:
        spans = self.shared.world.spans(first, self._first)
        windows = tuple(spans[extent] for extent in self.windows)
        count = (last - first) // self.every + 1
        self._reports.put(Report(first, windows, found, last, count))

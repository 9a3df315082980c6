"""The choice of the road: how a change of facts or of rules of a knowledge base is followed.

Under rules that follow single triples, a small change is made in the driver and a large one
by tasks, a bucket each.  Any other rules are joins of DataFrames, or are handed over to the
embedded engine where they fit.  All roads end in the same tables, and each of them can be
chosen, to compare it with the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from livefacts.engine.spark.jobs.stage_report import JobReport
from livefacts.engine.spark.jobs.work import Work, Written, commit_change
from livefacts.engine.spark.joins.general_rules import GeneralChange, change_general
from livefacts.engine.spark.joins.level_pass import Way
from livefacts.engine.spark.local.change_in_memory import HandedOver, is_handed_over
from livefacts.engine.spark.local.handover import Room, TooLargeError, room_for
from livefacts.engine.spark.optimizer import optimize
from livefacts.engine.spark.read.asked_facts import AskedFacts, Facts, placed, read_asked
from livefacts.engine.spark.read.graph_change import noted_graphs
from livefacts.engine.spark.read.predicate_change import told_predicates
from livefacts.engine.spark.single.driver_change import RuleState, Updater, change_writes
from livefacts.engine.spark.single.frame_change import changed_by_frames
from livefacts.engine.spark.single.task_change import TaskChange, changed_by_tasks, surveyed
from livefacts.errors import InputError, LivefactsError
from livefacts.kb.bucket_stages import bucket_files
from livefacts.kb.compaction import is_to_be_folded
from livefacts.kb.live_buckets import Live
from livefacts.kb.rule_table import check_limit, stored_program
from livefacts.kb.schema_closure import SchemaNotSingleError, constants_of, is_followed_singly
from livefacts.kb.tables import GRAPHS, RULES, SINGLE, TRIPLES_TABLE, Commit
from livefacts.kb.term_rows import encoding_of
from livefacts.language.checks.safety import check
from livefacts.language.program import Program, Rule
from livefacts.syntax import rule_sets
from livefacts.syntax.rule_sets import RuleSource, named_rules

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

DRIVER, TASKS, JOINS = "driver", "tasks", "joins"
ROADS = (DRIVER, TASKS, JOINS)
SMALL = 500_000
"""A change of fewer facts is quicker in the driver than as tasks."""
IN_DRIVER = 5_000_000
"""Of more facts than these, the driver reads only the buckets that a change looks into."""
UPDATE, CHANGE_RULES = "update", "change rules"


@dataclass(frozen=True, slots=True)
class Roads:
    """How changes are followed: up to which size in the driver, by which road, in which way."""

    small: int = SMALL
    road: str | None = None
    way: Way = Way.COUNTING_DRED
    memory: int = 0

    @classmethod
    def of(cls, small: int, road: str | None, maintenance: str, memory: int = 0) -> Roads:
        """The same from names."""
        ways = [way.value for way in Way]
        if road is not None and road not in ROADS:
            raise InputError(f"there is no road {road!r}", hint=f"choose from {', '.join(ROADS)}")
        if maintenance not in ways:
            raise InputError(
                f"there is no maintenance {maintenance!r}", hint=f"choose from {', '.join(ways)}"
            )
        return cls(small, road, Way(maintenance), memory)

    def hands_over(self, start: Commit) -> bool:
        """Whether changes of a state are made by the embedded engine, in the driver."""
        chosen = self.road is not None or self.way is not Way.COUNTING_DRED
        return not chosen and is_handed_over(start)

    def takes_joins(self, program: Program) -> bool:
        """Whether the rules of a program are followed by joins."""
        return self.road == JOINS or not all(map(is_followed_singly, program.rules))


class Changer:
    """Makes changes, one after the other; what the last one knew is kept for the next."""

    def __init__(self, roads: Roads) -> None:
        self.roads = roads
        self._updating: tuple[int, Updater] | None = None
        self._said: tuple[int, RuleState] | None = None
        """What the rules say at a commit that tasks have made."""
        self._handed_over: tuple[int, HandedOver, Room] | None = None
        self._rules: tuple[int, Program] | None = None

    def update(self, work: Work, add: Facts, remove: Facts, batch: str) -> JobReport:
        """Assert and retract facts; one commit."""
        add, remove = (placed(facts, work.base.options) for facts in (add, remove))
        change = read_asked(add, remove, f"u{work.start.seq + 1}".encode())
        return self.change(work, change, UPDATE, batch)

    def change(self, work: Work, asked: AskedFacts, kind: str, batch: str) -> JobReport:
        """Assert and retract facts that were read; one commit."""
        program = self._program(work)
        return self._changed(work, asked, program, program, kind, batch)

    def takes_frames(self, work: Work) -> bool:
        """Whether DataFrames of triples can be followed where they are, whatever their size."""
        roads, start = self.roads, work.start
        return (
            roads.road in (None, TASKS)
            and roads.way is Way.COUNTING_DRED
            and start.notes.get("path") == SINGLE
            and not roads.takes_joins(self._program(work))
            # Who else asserts a triple is looked up in the driver.
            and not work.base.files(GRAPHS, start)
        )

    def update_frames(
        self, work: Work, add: DataFrame | None, remove: DataFrame | None, batch: str
    ) -> JobReport:
        """The same of DataFrames, by tasks; one commit."""
        program = self._program(work)
        change = changed_by_frames(work, add, remove, program, self._said_at(work.start))
        return self._committed(work, change, (program, program), UPDATE, batch)

    def change_rules(
        self, work: Work, add: RuleSource, remove: str | Rule | Sequence[str | Rule], batch: str
    ) -> JobReport:
        """Add and remove rules, and assert the facts that come with them; one commit."""
        before = self._program(work)
        after = before.minus(named_rules(before, remove)).joined(rule_sets.open_rules(add))
        check(after)
        change = read_asked(after.facts, others=constants_of(after.rules))
        return self._changed(work, change, before, replace(after, facts=()), CHANGE_RULES, batch)

    def _program(self, work: Work) -> Program:
        """The rules that there are; they are read when they have changed."""
        version = work.start.versions.get(RULES, -1)
        if self._rules is None or self._rules[0] != version:
            self._rules = version, stored_program(work.base, work.start)
        return self._rules[1]

    def _changed(
        self, work: Work, asked: AskedFacts, before: Program, after: Program, kind: str, batch: str
    ) -> JobReport:
        is_single = work.start.notes.get("path") == SINGLE
        if is_single and not self.roads.takes_joins(after):
            try:
                return self._followed(work, asked, before, after, kind, batch)
            except SchemaNotSingleError:
                pass
        if self.roads.road in (DRIVER, TASKS):
            raise LivefactsError(
                f"these rules join facts, which the road {self.roads.road!r} does not",
                hint='let the pipeline choose, or use road="joins"',
            )
        general = GeneralChange(asked, before, after, self.roads.way)
        report = self._in_driver(work, general, kind, batch)
        report = report or change_general(work, general, kind, batch)
        last = self._folded(work, work.base.last())
        if self._handed_over is not None:
            self._handed_over = last.seq, *self._handed_over[1:]
        return report

    def _in_driver(
        self, work: Work, change: GeneralChange, kind: str, batch: str
    ) -> JobReport | None:
        """The change in the driver, where rules were handed over and still fit."""
        known, self._handed_over = self._handed_over, None
        if not self.roads.hands_over(work.start):
            return None
        with suppress(TooLargeError):
            with work.stages.stage("open"):
                if known is None or known[0] != work.start.seq:
                    room = room_for(work.base, work.start, self.roads.memory)
                    if not room.fits:
                        return None
                    known = work.start.seq, HandedOver(work, change.before, room), room
            _, held, room = known
            report = held.change(work, change, room, kind, batch)
            self._handed_over = report.seq, held, room
            return report
        return None

    # in the driver

    def _followed(
        self, work: Work, asked: AskedFacts, before: Program, after: Program, kind: str, batch: str
    ) -> JobReport:
        if self.roads.way is not Way.COUNTING_DRED:
            raise LivefactsError(
                f'maintenance="{self.roads.way.value}" is for rules that join facts; '
                "these follow single triples, whose support is counted",
                hint='Pipeline(..., road="joins") follows any rules by joins',
            )
        if self._takes_tasks(asked):
            return self._followed_by_tasks(work, asked, before, after, kind, batch)
        with work.stages.stage("open"):
            updater = self._updater(work, before)
        with work.stages.stage("reason") as stage:
            rules = None if after == before else after.rules
            change = updater.change(asked, rules)
            check_limit(after, change.figures["added"] - change.figures["asserted"])
            stage.rows = len(change.rows)
        with work.stages.stage("commit"):
            writes = change_writes(work.base, work.start.seq + 1, change)
            rows = len(change.rows) + len(change.predicates)
            commit = commit_change(work, Written(writes, rows), (before, after), kind, batch)
        updater.keep(change)
        last = self._folded(work, commit)
        if last.seq != commit.seq:
            # What was kept of changes is in the files of buckets now.
            updater.go_on(_live(replace(work, start=last)))
        self._updating = last.seq, updater
        return JobReport(commit.seq, kind, change.figures, tuple(work.stages.done))

    def _takes_tasks(self, asked: AskedFacts) -> bool:
        if self.roads.road is not None:
            return self.roads.road == TASKS
        return asked.size >= self.roads.small

    def _followed_by_tasks(
        self, work: Work, asked: AskedFacts, before: Program, after: Program, kind: str, batch: str
    ) -> JobReport:
        change = changed_by_tasks(work, asked, before, after, self._said_at(work.start))
        return self._committed(work, change, (before, after), kind, batch)

    def _said_at(self, start: Commit) -> RuleState | None:
        known, self._said = self._said, None
        return known[1] if known is not None and known[0] == start.seq else None

    def _committed(
        self,
        work: Work,
        change: TaskChange,
        programs: tuple[Program, Program],
        kind: str,
        batch: str,
    ) -> JobReport:
        check_limit(programs[1], change.figures["added"] - change.figures["asserted"])
        with work.stages.stage("commit"):
            commit = commit_change(work, Written(change.writes, change.rows), programs, kind, batch)
        last = self._folded(work, commit)
        self._said = last.seq, change.state
        return JobReport(commit.seq, kind, change.figures, tuple(work.stages.done))

    def _folded(self, work: Work, commit: Commit) -> Commit:
        """Fold changes into facts, as a commit of its own, when there are many."""
        if is_to_be_folded(work.base, commit):
            optimize(replace(work, start=commit))
        return work.base.last()

    def _updater(self, work: Work, program: Program) -> Updater:
        """What makes changes to this commit; the one that made it, if it did."""
        known = self._updating
        if known is not None and known[0] == work.start.seq:
            return known[1]
        encoding = encoding_of(work.base, work.start)
        told, graphs = told_predicates(work.base, work.start), noted_graphs(work.base, work.start)
        return Updater(program.rules, _live(work), encoding, told, graphs)


def _live(work: Work) -> Live:
    """The state that a change starts from, as far as the driver looks at it."""
    buckets = bucket_files(work.base, work.start, work.buckets)
    is_large = work.base.count(TRIPLES_TABLE, work.start) > IN_DRIVER
    return surveyed(work, buckets) if is_large else Live(buckets)

"""The clocked engine: an engine whose facts also come and go by the clock.

A movement of time is a change like any other.  What holds by streams is asserted beside what is
asserted for all time: a fact that both assert holds until neither does.  What windows look at is
kept apart, under names of its own (see `livefacts.plan.time_lowering`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np

from livefacts.engine.contract import IN_DEFAULT, NO_CHANGE, TRIPLES, Change, Engine, Facts
from livefacts.language.formula import Family
from livefacts.plan.time_lowering import BACKGROUND, Timing
from livefacts.service.change.assertions import without
from livefacts.service.streams.fact_rows import united
from livefacts.service.streams.feeds import Notes
from livefacts.service.streams.timeline import Timeline
from livefacts.service.streams.window_contents import Choice
from livefacts.store.facts.named_graphs import NamedGraphs


class ClockedEngine:
    """What a timeline means for an engine."""

    def __init__(self, engine: Engine, graphs: NamedGraphs, timeline: Timeline) -> None:
        self.engine = engine
        self.graphs = graphs
        self.timeline = timeline

    def change(self, notes: Notes) -> Change:
        """What a movement means for the engine."""
        asserted, held, retracted, released = notes.facts()
        unnamed = self._ended(released) if released else {}
        if not (asserted or held or retracted or unnamed):
            return NO_CHANGE
        return Change(asserted, held, retracted, unnamed=unnamed)

    def _ended(self, released: Facts) -> Facts:
        """Of facts that streams hold no longer, those that nothing else asserts."""
        ended = {}
        for shape, ids in released.items():
            stays = self.engine.standing(shape, ids) & IN_DEFAULT != 0
            if shape == TRIPLES and len(self.graphs):
                stays |= self.graphs.others(ids, ids[:0])
            ended[shape] = ids[~stays]
        return ended

    @contextmanager
    def under(self, change: Change, timing: Timing, keep: bool) -> Iterator[Change]:
        """A change of background and rules, with what it means for time."""
        timeline = self.timeline
        before = timeline.timing, timeline.is_dense
        mirrored, unmirrored = self._mirrored(change, timing)
        change = self._holding(change)
        is_dense = timeline.is_dense or (timing.binds_times and bool(mirrored))
        if timing.binds_times and not timeline.timing.binds_times:
            is_dense |= any(self._companions([self.background()], timing.background))
        moved = self.change(timeline.under(timing, is_dense))
        try:
            yield replace(
                change,
                facts=united([change.facts, moved.facts, mirrored]),
                others=united([change.others, moved.others]),
                retracted=united([change.retracted, moved.retracted, unmirrored]),
                unnamed=united([change.unnamed, moved.unnamed]),
            )
        except BaseException:
            timeline.under(*before)
            raise
        if not keep:
            timeline.under(*before)

    def _mirrored(self, change: Change, timing: Timing) -> tuple[Facts, Facts]:
        """What becomes and ceases to be background of the predicates that windows look at."""
        before = self.timeline.timing.background
        if not before and not timing.background:
            return {}, {}
        asserted = [change.facts, change.others]
        retracted = [change.retracted, self._unmarked(change.unnamed)]
        new, old = timing.background - before, before - timing.background
        present = [self.background()] if new or old else []
        came = [
            *self._companions(asserted, timing.background),
            *self._companions(present, new),
        ]
        went = [
            *self._companions([*retracted, *present], old),
            *self._companions(retracted, timing.background),
        ]
        return united(came), united(went)

    def _companions(self, facts: list[Facts], families: Collection[Family]) -> Iterator[Facts]:
        is_chosen = Choice(((family, 0) for family in families), self.engine.dictionary)
        for part in facts if families else ():
            for shape, ids in part.items():
                chosen = is_chosen(shape, ids)
                if chosen.any():
                    wide, rows = self.timeline.naming.companions(BACKGROUND, shape, ids[chosen])
                    yield {wide: rows}

    def background(self) -> Facts:
        """What is asserted for all time."""
        held = self.timeline.held()
        facts = self.engine.asserted()
        for shape, ids in held.items():
            only_held = self._ended({shape: ids})[shape]
            facts[shape] = without(facts[shape], only_held)
        return facts

    def _unmarked(self, unnamed: Facts) -> Facts:
        """Those of the facts that no named graph tells any more which the default graph does not."""
        standing = self.engine.standing
        return {s: ids[standing(s, ids) & IN_DEFAULT == 0] for s, ids in unnamed.items()}

    def _holding(self, change: Change) -> Change:
        """A change of background that leaves what streams hold as it is."""
        if not change.retracted and not change.unnamed:
            return change
        retracted, unmarked = dict(change.retracted), dict(change.unmarked)
        for shape, ids in change.retracted.items():
            held = self.timeline.holds(shape, ids)
            if held.any():
                retracted[shape] = ids[~held]
                unmarked[shape] = np.concatenate([unmarked.get(shape, ids[:0]), ids[held]])
        unnamed = {s: ids[~self.timeline.holds(s, ids)] for s, ids in change.unnamed.items()}
        return replace(change, retracted=retracted, unmarked=unmarked, unnamed=unnamed)

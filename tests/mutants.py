"""Mutants: known bugs, planted one at a time; the random programs must catch each.

`python tests/mutants.py` copies the sources, replaces one piece of text, and runs random
programs against the copy.  A mutant whose programs all agree with the oracle is missed: a
hole in the generator.  A mutant whose text is gone is stale, and one that does not even
run is broken: write it anew.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES, HISTORIES, STREAMS, LIVES, REPORTED, FOLLOWED = 1000, 200, 500, 400, 300, 600
SECONDS = 900
CAUGHT, MISSED, STALE, BROKEN = "caught", "missed", "stale", "broken"


@dataclass(frozen=True, slots=True)
class Mutant:
    """What goes wrong, the text of the sources that is right, and the text that is not.

    The right text stands in one place of all sources, wherever that is.
    """

    bug: str
    right: str
    wrong: str


MUTANTS = (
    Mutant(
        "a row never joins with itself",
        "seen = plans.steps[step, code.BEFORE] == 0 or machine.state[code.UPGRADE] != 0",
        "seen = False",
    ),
    Mutant(
        "semi-naive evaluation misses the last pivot of a long body",
        "in enumerate(positive_atoms(rule))\n    ]\n    return [restrict_to_edges",
        "in enumerate(positive_atoms(rule)[:2])\n    ]\n    return [restrict_to_edges",
    ),
    Mutant(
        "semi-naive evaluation misses every pivot but the first",
        "in enumerate(positive_atoms(rule))\n    ]\n    return [restrict_to_edges",
        "in enumerate(positive_atoms(rule)[:1])\n    ]\n    return [restrict_to_edges",
    ),
    Mutant(
        "negation ignores the last column",
        "index = self._store.index(relation, range(len(atom.slots)))",
        "index = self._store.index(relation, range(max(1, len(atom.slots) - 1)))",
    ),
    Mutant(
        "a part of a body that is tied to the head by another atom is only asked for",
        "variables.union(*met)]",
        "variables, *met]",
    ),
    Mutant(
        "a part of a body is asked for without its negations",
        "yield from (replace(rule, head=test, body=part)",
        "yield from (replace(rule, head=test, body=tuple(f for f in part"
        " if type(f).__name__ != 'Negation'))",
    ),
    Mutant(
        "an aggregate counts duplicates",
        "groups + aggregate.listed,",
        "groups + aggregate.listed"
        " + tuple(v for f in aggregate.body for v in dict.fromkeys(variables_of(f))),",
    ),
    Mutant(
        "an aggregate merges tuples that differ after the first variable",
        "groups + aggregate.listed,",
        "groups + aggregate.listed[:1],",
    ),
    Mutant(
        "the value that a group had stays beside its new one",
        "            if old != UNBOUND:\n",
        "            if False:\n",
    ),
    Mutant(
        "negation and aggregates do not wait for a lower level",
        "level[number] + ((node, successor) in graph.completed)",
        "level[number]",
    ),
    Mutant(
        "the levels run in the wrong order",
        "for level in sorted(grouped)]",
        "for level in sorted(grouped, reverse=True)]",
    ),
    Mutant(
        "the next level does not look at facts of the level before",
        "if not is_first:\n        machine.state[code.GAINS_AT] = 0",
        "if False:\n        machine.state[code.GAINS_AT] = 0",
    ),
    Mutant(
        "inline integers are off by one where they end",
        "-code.INLINE_HALF <= result < code.INLINE_HALF",
        "-code.INLINE_HALF <= result <= code.INLINE_HALF",
    ),
    Mutant(
        "integers beyond the inline range wrap",
        "if -code.INLINE_HALF <= result < code.INLINE_HALF:",
        "result = (result + code.INLINE_HALF) % code.INLINE - code.INLINE_HALF\n        if True:",
    ),
    Mutant(
        "the reach of inline integers is one too wide",
        "if -INLINE_REACH <= value < INLINE_REACH else None",
        "if -INLINE_REACH <= value <= INLINE_REACH else None",
    ),
    Mutant(
        "at most means less",
        "if operator == code.AT_MOST:\n        return order <= 0",
        "if operator == code.AT_MOST:\n        return order < 0",
    ),
    Mutant(
        "a number that was rounded counts as exact",
        "if left_kind == code.EXACT and right_kind == code.EXACT:",
        "if left_kind <= code.ROUNDED and right_kind <= code.ROUNDED:",
    ),
    Mutant(
        "answers about pairs forget their operator",
        "at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)",
        "at = lookup_entry(memo.pairs, (1 << 32) | left, right)\n"
        "    if at < 0:\n"
        "        at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)",
    ),
    Mutant(
        "a transitive rule does not go on from a new edge",
        "[restrict_to_edges(plan) for plan in plans]",
        "[restrict_to_edges(plan) for plan in plans][:1]",
    ),
    Mutant(
        "a transitive rule joins edges with edges only",
        "edges_only=not pivot_is_edge",
        "edges_only=True",
    ),
    Mutant(
        "a repeated variable of the pivot is not checked",
        "if env[slot] != value:",
        "if False:",
    ),
    Mutant(
        "a repeated variable of another atom is not checked",
        "elif column not in covered:",
        "elif column not in covered and not isinstance(slot, Variable):",
    ),
    Mutant(
        "new consequences under a grown schema are not given to old triples",
        "self._give(kind, [head for head in heads if head not in set(old)])",
        "pass",
    ),
    Mutant(
        "a schema change does not reach the consequences that are known",
        "found |= self._readers.get(lookup, {})",
        "pass",
    ),
    Mutant(
        "a subproperty of the schema's own vocabulary stays outside the schema",
        "        if joins:\n            self._join_schema(kind)\n",
        "        if False:\n            pass\n",
    ),
    Mutant(
        "more facts are always taken to add conclusions only",
        "rules is None and not loses:",
        "rules is None:",
    ),
    Mutant(
        "a change that takes conclusions away does not say so",
        "(removed, {}, self._machine.went, code.WENT_LISTED),",
        "({}, {}, self._machine.went, code.WENT_LISTED),",
    ),
    Mutant(
        "computing anew takes old conclusions for told",
        "asserted = store.flags(relation) & (bits.LIVE | bits.ASSERTED | bits.IN_DEFAULT)",
        "asserted = store.flags(relation) & (bits.LIVE | bits.IN_DEFAULT) | bits.ASSERTED",
    ),
    Mutant(
        "computing anew forgets what only named graphs say",
        "_all(others, change.others))",
        "_all({}, change.others))",
    ),
    Mutant(
        "a rule that comes later does not look at the facts that are there",
        "self._instances(rules.plans, code.GAIN)",
        "pass",
    ),
    Mutant(
        "a literal as subject is shown to users",
        "subject in (IRI, BLANK)",
        "True",
    ),
    Mutant(
        "len() does not notice what went",
        "self.shown -= sum(map(len, delta.shown_removed.values()))",
        "pass",
    ),
    Mutant(
        "a violation lacks the result of an aggregate",
        "outside.append(formula.result)",
        "pass",
    ),
    Mutant(
        "a computed value is compared as a term",
        "return [*steps, *more, Test(formula.operator, left, right)]",
        "return [*steps, *more, Test(formula.operator, left, left)]",
    ),
)

CHANGES = (
    Mutant(
        "a total takes no account of what goes",
        "signs = np.where(stands[moved], 1, -1).tolist()",
        "signs = np.where(stands[moved], 1, 0).tolist()",
    ),
    Mutant(
        "a total takes rows twice in a change of rules",
        "for seen, standing in self._seen:",
        "for seen, standing in self._seen[:0]:",
    ),
    Mutant(
        "a change that is undone stays in the totals",
        "total.take(step.changes, -1)",
        "total.take(step.changes, 0)",
    ),
    Mutant(
        "a change that is undone leaves the value of a group",
        "total.shown = step.shown",
        "total.shown = total.shown",
    ),
    Mutant(
        "the keys of a chunk that was split are counted with the first half",
        "self._sizes[at : at + 1] = size, self._sizes[at] - size",
        "self._sizes[at : at + 1] = self._sizes[at], size",
    ),
    Mutant(
        "a percentage begins one place too late",
        "math.ceil(share * len(self._bag)) - 1",
        "math.ceil(share * len(self._bag))",
    ),
    Mutant(
        "squares that go stay in a deviation",
        "self._wholes += amount * amount * count",
        "self._wholes += amount * amount * abs(count)",
    ),
    Mutant(
        "a reason that is lost still counts",
        "count_reason(cells, support, -1)",
        "count_reason(cells, support, 0)",
    ),
    Mutant(
        "facts that hold up each other stay",
        "if load_int32(cells, layout.PLAIN) > 0:\n        return True",
        "if load_int32(cells, layout.PLAIN) > 0 or load_int32(cells, layout.RECURSIVE) > 0:\n        return True",
    ),
    Mutant(
        "single triples that hold up each other stay",
        "mixed = any(level.single and level.single_is_mixed for level in self.plan.levels)",
        "mixed = False",
    ),
    Mutant(
        "removing what is only concluded takes it away",
        "return flags & bits.IN_DEFAULT != 0",
        "return True",
    ),
    Mutant(
        "an undone change leaves a counter changed",
        "store_int32(cells, layout.PLAIN, np.int32(machine.log[i, code.LOG_PLAIN]))",
        "pass",
    ),
    Mutant(
        "a change of one triple that is lost is followed as if it had come",
        "self._follow(code.OPEN, code.CLOSE)",
        "self._follow(code.GAINING, code.GAINING)",
    ),
    Mutant(
        "one triple that is followed through a level leaves what it doomed for a try",
        "self._follow(code.OPEN, code.CLOSE)",
        "self._follow(code.OPEN, code.LOSING)",
    ),
    Mutant(
        "a level is not closed when it was followed in one call",
        "elif stage == code.CLOSE:\n            close_level(desk)",
        "elif stage == code.CLOSE and first != code.OPEN:\n            close_level(desk)",
    ),
    Mutant(
        "losses that wait in Python are forgotten",
        "first = code.LOSING\n",
        "return\n",
    ),
    Mutant(
        "what is deleted for a try is not rederived",
        "if flags & bits.DOOMED and not flags & bits.GONE and standing(cells, flags):",
        "if flags & bits.DOOMED and flags & bits.GONE and standing(cells, flags):",
    ),
    Mutant(
        "what is rederived does not derive anything again",
        "set_standing(rows, relation, row)\n            enqueue_gain(machine, relation, row)\n",
        "set_standing(rows, relation, row)\n",
    ),
    Mutant(
        "a level above takes what was rederived by recursion for certain",
        "np.int32((flags & ~(bits.DOOMED | bits.UNSEEN)) | bits.SUSPECT)",
        "np.int32(flags & ~(bits.DOOMED | bits.UNSEEN))",
    ),
    Mutant(
        "what is doomed is not gone at the end of its level",
        "flags = (flags | bits.GONE) & ~(bits.DOOMED | bits.VISIBLE | bits.SUSPECT)",
        "flags = flags & ~(bits.DOOMED | bits.VISIBLE | bits.SUSPECT)",
    ),
    Mutant(
        "a level does not see what was true before a level below lost it",
        "flags |= bits.VISIBLE | bits.UNSEEN",
        "flags |= bits.UNSEEN",
    ),
    Mutant(
        "a level above does not notice that a fact is no edge any more",
        "flags |= bits.LOST_EDGE\n            if flags & bits.FELL_ROOT",
        "flags |= 0\n            if flags & bits.FELL_ROOT",
    ),
    Mutant(
        "what went with a rule counts as going once more",
        "flags = (flags | bits.DEAD) & ~bits.GONE",
        "flags = flags | 0",
    ),
    Mutant(
        "what came and went within one change is in its delta",
        "if flags & bits.FRESH and not flags & (bits.GONE | bits.DEAD | bits.COUNTED):",
        "if flags & bits.FRESH and not flags & bits.COUNTED:",
    ),
    Mutant(
        "an instance is lost once for each premise that it loses",
        "store_int32(cells, layout.FLAGS, np.int32(flags & ~bits.VISIBLE))",
        "store_int32(cells, layout.FLAGS, np.int32(flags))",
    ),
    Mutant(
        "negation takes what is deleted for a try for gone",
        "is_ended != (source == code.LOSE) or flags & bits.SUSPECT:",
        "is_ended != (source == code.LOSE):",
    ),
    Mutant(
        "an instance with two negated atoms is gained once for each",
        "if (flags & bits.ENDED != 0) == (mode == code.GAIN):",
        "if (flags & bits.ENDED != 0) == (mode == code.GAIN) and mode != code.GAIN:",
    ),
    Mutant(
        "an instance that negates a fact twice is counted twice",
        "return plans.steps[step, code.BEFORE] == 0",
        "return True",
    ),
    Mutant(
        "negations before the pivot are looked at as those after it",
        "self._before = negations[:negated_pivot]",
        "self._before = []",
    ),
    Mutant(
        "a negated fact of another value ends an instance",
        "return pattern, (*steps, *(Test(SAME, aside[v], v) for v in computed))",
        "return pattern, steps",
    ),
    Mutant(
        "a lost edge takes every pair with it that it was part of",
        "if mode == code.GAIN or not plans.plans[plan, code.HEAD_SUPPORT] & bits.CLOSED:",
        "if True:",
    ),
    Mutant(
        "only the start of a lost edge can lose pairs",
        "if load_int32(cells, layout.FLAGS) & bits.CLOSED or is_standing_edge(cells):",
        "if False:",
    ),
    Mutant(
        "one edge counts as a path of two",
        "if state[IS_CYCLIC]:\n        strike_inside(case, part)",
        "if True:\n        strike_inside(case, part)",
    ),
    Mutant(
        "what a point has lost is not lost to those before it",
        "mine = pair_row(case, start, end_of(edges, cells))\n                count = mark(",
        "mine = 0\n                count = mark(",
    ),
    Mutant(
        "only the first of the points that reach each other loses its pairs",
        "count = mark(case, pair_row(case, member, end), bits.LOST_PAIR, losses.lost, count)",
        "pass",
    ),
    Mutant(
        "a part goes on reaching what its ways out have lost",
        "is_kept = load_int32(cells, layout.FLAGS) & (bits.CLOSED | bits.LOST_PAIR) == bits.CLOSED",
        "is_kept = load_int32(cells, layout.FLAGS) & bits.CLOSED == bits.CLOSED",
    ),
    Mutant(
        "a search goes along edges that have lost their reason",
        "return flags & bits.VISIBLE != 0 and not flags & bits.ENDED and has_reason(cells, flags)",
        "return flags & bits.VISIBLE != 0 and not flags & bits.ENDED",
    ),
    Mutant(
        "an aggregate overlooks rows that were rederived",
        "standing: Flags = (flags & bits.ENDED == 0) | (flags & bits.SUSPECT != 0)",
        "standing: Flags = flags & bits.ENDED == 0",
    ),
    Mutant(
        "an aggregate goes on with rows that are gone",
        "standing: Flags = (flags & bits.ENDED == 0) | (flags & bits.SUSPECT != 0)",
        "standing: Flags = flags != 0",
    ),
    Mutant(
        "the values of an aggregate stay when its rule goes",
        "self._interpreter.take(bound.target, bound.all_values(), code.COUNT_PLAIN)",
        "pass",
    ),
    Mutant(
        "a new aggregate overlooks the rows that are there",
        "aggregate.all_changes() if plan in new else aggregate.changes",
        "aggregate.changes",
    ),
    Mutant(
        "a rule that goes leaves its conclusions behind",
        "self._instances(dropped.plans, code.LOSE)",
        "pass",
    ),
    Mutant(
        "a transitive rule that goes leaves its pairs behind",
        "self._lose_closed(plan)",
        "pass",
    ),
    Mutant(
        "a new rule loses instances that it never had",
        "level.lose_only(kept)",
        "pass",
    ),
    Mutant(
        "negations of new rules never lose anything",
        "self._losing_negative = self._bind(self.level.negative)",
        "pass",
    ),
    Mutant(
        "the negations of a new rule see the facts of before",
        "self._interpreter.see_all()",
        "pass",
    ),
    Mutant(
        "a rule that turned recursive goes on as if it were not",
        "self.levels[0].move_to_recursive(plan)",
        "pass",
    ),
    Mutant(
        "a rule that was recursive forgets how its instances were counted",
        "replace(plan, recursive=True) if plan.rule in recursive else plan",
        "plan",
    ),
    Mutant(
        "a transitive rule whose edges come to depend on it goes on as before",
        "if rule in now and was[rule].transitive == now[rule].transitive}",
        "if rule in now}",
    ),
    Mutant(
        "a schema that shrinks takes no consequences back",
        "self._take_back(kind, [head for head in old if head not in now])",
        "pass",
    ),
    Mutant(
        "what the schema itself no longer derives stays",
        "self._interpreter.take(TRIPLES, lost, code.COUNT_SINGLE)",
        "pass",
    ),
    Mutant(
        "a kind without triples goes on telling the schema",
        "if emptied and path is not None:",
        "if False:",
    ),
    Mutant(
        "a schema triple goes although a kind of triple tells it",
        "retracted = [triple for triple in gone if triple not in self._asserters]",
        "retracted = list(gone)",
    ),
    Mutant(
        "a schema triple goes although it was told",
        "gone = [triple for triple in triples if triple not in self._roots]",
        "gone = list(triples)",
    ),
    Mutant(
        "a triple that leaves the default graph stays there",
        "(change.unmarked, bits.IN_DEFAULT),",
        "",
    ),
    Mutant(
        "a triple that leaves one graph leaves them all",
        "unnamed = {TRIPLES: triples[~graphs.others(triples, named.gone)]}",
        "unnamed = {TRIPLES: triples}",
    ),
    Mutant(
        "computing anew forgets removals",
        "is_asserted[store.find(relation, facts)] = False",
        "pass",
    ),
)
"""Bugs that only removals and rule changes show."""

TIMES = (
    Mutant(
        "a window is a time point short",
        "return (max(since, first), until) if is_whole and until >= first else NOWHERE",
        "return (max(since + 1, first), until) if is_whole and until >= first else NOWHERE",
    ),
    Mutant(
        "a window reaches back before the first time point",
        "return (max(since, first), until) if is_whole and until >= first else NOWHERE",
        "return (since, until) if is_whole else NOWHERE",
    ),
    Mutant(
        "a window that moves in steps is closed at both ends",
        "older = range.points(tick) - (not closed)",
        "older = range.points(tick)",
    ),
    Mutant(
        "a stream's window is a time point short",
        "return point - self.older, point - self.newer",
        "return point - self.older + 1, point - self.newer",
    ),
    Mutant(
        "a late fact waits for the next tick",
        "if not chunks or now is None or chunks[0].time > now:",
        "if True:",
    ),
    Mutant(
        "what is taken back late stays",
        "if not chunks or now is None or chunks[0].time > now:",
        "if not chunks or now is None or chunks[0].is_gone or chunks[0].time > now:",
    ),
    Mutant(
        "a fact that is renewed in its window ends with its first arrival",
        "self._more[row] = self._more.get(row, 1) + 1",
        "pass",
    ),
    Mutant(
        "facts of one time point leave a window by count in the wrong order",
        "islice(reversed(group), count - len(found))",
        "islice(group, count - len(found))",
    ),
    Mutant(
        "facts of one push are not in their order",
        "if len(facts) < 2:\n            return [facts]",
        "if True:\n            return [facts]",
    ),
    Mutant(
        "a window by count does not come back to older facts",
        "recent.look_again(now, notes)",
        "recent.move(now, notes)",
    ),
    Mutant(
        "the tick after an arrival is passed over",
        "if self.is_dense or self.timing.is_generating or self.view.has(self.now):",
        "if self.is_dense or self.timing.is_generating:",
    ),
    Mutant(
        "what a window lets go is seen a tick late",
        "yield grid_point(time + back, step)",
        "yield grid_point(time + back, step) + 1",
    ),
    Mutant(
        "arrivals are forgotten a time point early",
        "since = now - timing.retention\n",
        "since = now - timing.retention + 1\n",
    ),
    Mutant(
        "a window that moves in steps forgets between its steps",
        "return self.older + self.step - 1",
        "return self.older",
    ),
    Mutant(
        "background that ends stays in windows",
        "retracted = [change.retracted, self._unmarked(change.unnamed)]",
        "retracted = [self._unmarked(change.unnamed)]",
    ),
    Mutant(
        "background that ends takes what a stream holds with it",
        "retracted[shape] = ids[~held]",
        "retracted[shape] = ids",
    ),
    Mutant(
        "the net of many ticks is that of the last",
        "net[key] = net.get(key, 0) + sign",
        "net[key] = sign",
    ),
    Mutant(
        "not inside an operator is taken for not before it",
        "operator = ALWAYS if operator == SOMETIME else SOMETIME",
        "pass",
    ),
    Mutant(
        "not at a time not does not hold outside the window",
        "yield (Negation(self._points(span, time), formula.place),)",
        "pass",
    ),
    Mutant(
        "what is concluded for a time point does not hold then",
        "self._hold_when_meant(head)",
        "pass",
    ),
    Mutant(
        "always does without background",
        'self._add(head, [(background, self._open(span))], "background")',
        "pass",
    ),
    Mutant(
        "a window on one stream looks at all of them",
        "_with(ARRIVED_ON, atom, time, stream)",
        "_with(ARRIVED_ON, atom, time, Variable(':on'))",
    ),
    Mutant(
        "facts that a stream holds count as concluded now",
        "if has_what_arrives and not self.held:\n            return atom",
        "if True:\n            return atom",
    ),
    Mutant(
        "a window sees what a longer one keeps",
        "return sees_now and span.older == max(lengths)",
        "return sees_now",
    ),
    Mutant(
        "a fact of two streams ends with the first that takes it back",
        "all(places.get(row, limit) >= limit for places in others)",
        "True",
    ),
    Mutant(
        "always in recursion steps over gaps",
        "if after == point + 1",
        "if True",
    ),
    Mutant(
        "time points of late facts are in no window",
        "if first <= time <= last and self._is_listed and not self._is_dense:",
        "if False:",
    ),
)
"""Bugs that only time shows."""

EXPIRING = (
    Mutant(
        "a conclusion lasts as long as its premise that ends last",
        "times.least[depth + 1] = min(times.least[depth], until)",
        "times.least[depth + 1] = until",
    ),
    Mutant(
        "a renewal is not followed",
        "push(times.waiting, times.state, timed.HEAPED, -until, entry)",
        "if before == timed.NEVER:\n        push(times.waiting, times.state, timed.HEAPED, -until, entry)",
    ),
    Mutant(
        "a renewed fact ends when it was first said to",
        "        if until > now:\n            list_ending(",
        "        if until == FOREVER:\n            list_ending(",
    ),
    Mutant(
        "a fact ends one time point late",
        "times.endings[0, 0] <= now and count",
        "times.endings[0, 0] < now and count",
    ),
    Mutant(
        "a fact whose time was lowered is not listed anew",
        "(listed == timed.NEVER or until < listed)",
        "listed == timed.NEVER",
    ),
    Mutant(
        "what falls takes only itself along",
        "self._run(kernels.FELL)",
        "pass",
    ),
    Mutant(
        "what has fallen is not derived again",
        "self._run(kernels.REDERIVE)",
        "pass",
    ),
    Mutant(
        "what has fallen forgets what it was told",
        "        if asserted <= state[timed.NOW]:\n            asserted = timed.NEVER",
        "        asserted = timed.NEVER",
    ),
    Mutant(
        "what has fallen goes back to a time that has passed",
        "        if asserted <= state[timed.NOW]:\n            asserted = timed.NEVER",
        "        pass",
    ),
    Mutant(
        "two facts that wait never meet",
        "store_int32(cells, layout.FLAGS, np.int32(flags & ~timed.PENDING))",
        "pass",
    ),
    Mutant(
        "a rule that goes leaves its conclusions",
        "self._follow_all(rule, kernels.FELL_GIVEN)",
        "pass",
    ),
    Mutant(
        "a rule that comes finds only what comes after it",
        "self._follow_all(rule, kernels.RAISE_GIVEN)",
        "pass",
    ),
    Mutant(
        "a transitive rule joins told pairs only although others conclude pairs too",
        "return is_transitive(rule) and not others",
        "return is_transitive(rule)",
    ),
    Mutant(
        "a pair that was concluded first and told later is no step for others",
        "link_gained(rows, relation, row, timed.WAS_ASSERTED)",
        "pass",
    ),
    Mutant(
        "a refused change leaves times behind",
        "        store_time(cells, timed.UNTIL, times.log[i, timed.LOG_UNTIL])",
        "        pass",
    ),
)
"""Bugs that only facts that expire show."""

REPORTS = (
    Mutant(
        "a window by time keeps its older end",
        "return point - self.older, point - self.newer",
        "return point - self.older - 1, point - self.newer",
    ),
    Mutant(
        "a late fact is not in the window that it falls into",
        "self._shift([chunk], [], notes)",
        "pass",
    ),
    Mutant(
        "a retracted fact stays in its window",
        "self._shift([], [chunk], notes)",
        "pass",
    ),
    Mutant(
        "what the background tells, too, goes with the window",
        "stays = self.engine.standing(shape, ids) & IN_DEFAULT != 0",
        "stays = np.zeros(len(ids), np.bool_)",
    ),
    Mutant(
        "a query sleeps on when a window changes",
        "change = world.next_change(now) if found.is_empty else self._next",
        "change = None if found.is_empty else self._next",
    ),
    Mutant(
        "new answers are compared with the first report",
        "        changed, self._changed = self._changed, {}",
        "        changed = self._changed",
    ),
    Mutant(
        "the next change of a window forgets what leaves it",
        "yield from self.passing(now, self.extent.older + 1)",
        "pass",
    ),
    Mutant(
        "arrivals are forgotten while a window still has them",
        "return min(self._since, since) if is_inside else since",
        "return since",
    ),
    Mutant(
        "a late fact does not reach the state of its stream",
        "self._touched.update(dict.fromkeys(keys_of({chunk.shape: chunk.ids})))",
        "pass",
    ),
    Mutant(
        "a window over a state keeps its older end",
        "        after = now - self.reach",
        "        after = now - self.reach - 1",
    ),
    Mutant(
        "a renewed match stays where it was, too",
        "            self._chunks.take(time, entries[before == time])",
        "            pass",
    ),
    Mutant(
        "a state forgets what its longest window sees",
        "after = min(view.unneeded(now) for view in shared.views.values())",
        "after = max(view.unneeded(now) for view in shared.views.values())",
    ),
    Mutant(
        "a window sees a match whatever denies it",
        "if span[0] <= after < span[1]]",
        "if after < span[1]]",
    ),
    Mutant(
        "of what denies a match only the first counts",
        "return max(self.denied.values(), default=NEVER), self.until",
        "return next(iter(self.denied.values()), NEVER), self.until",
    ),
    Mutant(
        "a denial of what a negating rule concludes is looked up in the state",
        "if not all(map(_can_be_put_in, rules)) or _meet(denied, heads):",
        "if not all(map(_can_be_put_in, rules)):",
    ),
    Mutant(
        "what a negating rule concludes is not asserted, too",
        "        waiting.append((way, at + 1))\n        for rule in rules:",
        "        for rule in rules:",
    ),
    Mutant(
        "windows of different lengths in a query are taken for the shortest",
        "tuple([(stream, lengths[stream] - shortest) for stream in streams])",
        "tuple([(stream, 0) for stream in streams])",
    ),
    Mutant(
        "a query that moves to another world reports everything as new",
        "prepared.answers.resume(self._prepared.answers.reported())",
        "prepared.answers.resume(())",
    ),
    Mutant(
        "what streams bring is never looked at for schema",
        "if self.is_exact and self._read.are_among(triples).any():",
        "if False:",
    ),
    Mutant(
        "rules for a schema are kept whatever follows from a new predicate",
        "return now is not None and set(now) <= set(self.rules)",
        "return True",
    ),
    Mutant(
        "a world that is there does not get what its queries look at from now on",
        "        if families == self.families:",
        "        if self.families:",
    ),
    Mutant(
        "of the background only what queries ask for themselves is in a world",
        "self.families.union(map(family_of, (*asked, *read)))",
        "self.families.union(map(family_of, asked))",
    ),
    Mutant(
        "facts of other streams hold in the world of a query",
        "replace(low.timing, holds_undeclared=False)",
        "low.timing",
    ),
)
"""Bugs that only the reports of registered queries show."""

WATCHED = (
    Mutant(
        "rows of the left are not kept for those of the right that come later",
        "            ours.exact.change(key, row, count)",
        "            pass",
    ),
    Mutant(
        "a join adds up pairs as if they were there already",
        "                    add_to(made, other + rest(row), count * others)",
        "                    made[other + rest(row)] = count * others",
    ),
    Mutant(
        "an unbound column agrees with nothing but unbound ones",
        "                found &= ~(1 << bit)",
        "                pass",
    ),
    Mutant(
        "a row stays hidden when what has hidden it goes",
        "            if self._support.change(key, count):",
        "            if self._support.change(key, count) and key in self._support:",
    ),
    Mutant(
        "a distinct row stays when its last reason goes",
        "            if self._counts.change(row, count):",
        "            if self._counts.change(row, count) and row in self._counts:",
    ),
    Mutant(
        "a row that was there at first is there again when its key is next asked for",
        "        self._taken[first:last] |= chosen",
        "        pass",
    ),
    Mutant(
        "rows with other third columns are taken for those of a key",
        "            chosen &= self._rows[first:last, column] == value",
        "            pass",
    ),
    Mutant(
        "what is still led to does not come back",
        "self._spread(seed, [node for node in lost if self._is_led_to(seed, node)], made)",
        "pass",
    ),
    Mutant(
        "a distinct total counts a value again",
        "            if (before != 0) != (before + count != 0):\n",
        "            if True:\n",
    ),
    Mutant(
        "a group that has gone is shown once more",
        "        if group.rows or not self._operator.keys:",
        "        if group.rows >= 0 or not self._operator.keys:",
    ),
    Mutant(
        "the condition of an OPTIONAL is forgotten",
        "pairs = self.filtered(self.relations.joined(marked, right), pattern.condition)",
        "pairs = self.relations.joined(marked, right)",
    ),
    Mutant(
        "columns that may be unbound are taken for certain",
        "n in left.certain & right.certain}",
        "n in left.certain | right.certain}",
    ),
    Mutant(
        "columns of chosen columns are those of the first choice",
        "first.sources[each] if isinstance(each, int) else each for each in later.sources",
        "each for each in later.sources",
    ),
    Mutant(
        "patterns that are matched together lose what ties them",
        "known = {**pairs, **{there",
        "known = {**{there: left.width + there for there in pairs}, **{there",
    ),
    Mutant(
        "patterns that share a variable are followed apart",
        "        if mine & {v for member in group for v in variables_of(member)}:",
        "        if mine == {v for member in group for v in variables_of(member)}:",
    ),
    Mutant(
        "a star is whole without its last arm",
        "full[0, -1] = (1 << ((len(patterns) - 1) % 8 + 1)) - 1",
        "full[0, -1] = (1 << max(1, (len(patterns) - 1) % 8)) - 1",
    ),
    Mutant(
        "a product does not see what another part has lost",
        "if change and all(other.count for other in self.matchers if other is not matcher):",
        "if change and not terms:",
    ),
)
"""Bugs that only continuous queries show."""


def main() -> int:
    options = _options()
    every = (*MUTANTS, *CHANGES, *TIMES, *EXPIRING, *REPORTS, *WATCHED)
    chosen = [m for m in every if options.only in m.bug][options.skip :]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        verdict, reason = _verdict(source, CASES, "")
        kinds = {"histories": HISTORIES, "streams": STREAMS, "lives": LIVES}
        kinds |= {"reports": REPORTED, "watches": FOLLOWED}
        for kind, programs in kinds.items():
            if verdict == MISSED:
                verdict, reason = _verdict(source, programs, kind)
        if verdict != MISSED:
            print(f"the sources as they are differ from the oracle, mend that first: {reason}")
            return 1
        kernels = _kernels_of(source)
        verdicts = [_tried(mutant, source, kernels) for mutant in chosen]
    failed = sum(verdict != CAUGHT for verdict in verdicts)
    print(f"{len(chosen)} mutants, {failed} not caught")
    return 1 if failed else 0


def _tried(mutant: Mutant, source: Path, kernels: Path) -> str:
    """Plant the bug, run, and put the text back."""
    began = time.monotonic()
    places = [path for path in source.rglob("*.py") if mutant.right in path.read_text()]
    text = "".join(path.read_text() for path in places)
    if text.count(mutant.right) != 1:
        verdict, reason = STALE, f"its text is in the sources {text.count(mutant.right)} times"
    else:
        places[0].write_text(text.replace(mutant.right, mutant.wrong))
        if "@kernel" not in text and "@inlined" not in text:
            _lend(kernels, _kernels_of(source))
        verdict, reason = _verdict(source, *_programs_for(mutant))
        places[0].write_text(text)
    print(
        f"{verdict:7}{time.monotonic() - began:5.0f} s  {mutant.bug}\n{'':16}{reason}", flush=True
    )
    return verdict


def _kernels_of(source: Path) -> Path:
    """Where these sources keep their machine code."""
    command = "from livefacts.store.machine_code import CACHE; print(CACHE)"
    done = subprocess.run(
        [sys.executable, "-c", command],
        env=_environment(source),
        capture_output=True,
        text=True,
        check=True,
    )
    return Path(done.stdout.strip())


def _lend(kernels: Path, to: Path) -> None:
    """Machine code of sources whose kernels are the same."""
    if to != kernels:
        shutil.copytree(kernels, to, dirs_exist_ok=True)


def _environment(source: Path) -> dict[str, str]:
    return {
        **os.environ,
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LIVEFACTS_CACHE_DIR": str(source.parent / "cache"),
    }


def _programs_for(mutant: Mutant) -> tuple[int, str]:
    """How many random programs to try, and of which kind."""
    if mutant in TIMES:
        return STREAMS, "streams"
    if mutant in EXPIRING:
        return LIVES, "lives"
    if mutant in REPORTS:
        return REPORTED, "reports"
    if mutant in WATCHED:
        return FOLLOWED, "watches"
    return (HISTORIES, "histories") if mutant in CHANGES else (CASES, "")


def _verdict(source: Path, programs: int, kind: str) -> tuple[str, str]:
    """Whether random programs catch what is wrong with these sources, and by what."""
    fuzz = [sys.executable, str(ROOT / "tests" / "fuzz.py"), "--seed", "0", "--minutes", "60"]
    command = [*fuzz, "--cases", str(programs), "--stop-after", "1", "--as-they-are"]
    command += ["--only", kind] if kind else []
    done = subprocess.run(
        command,
        env=_environment(source),
        capture_output=True,
        text=True,
        preexec_fn=_limited,
        check=False,
    )
    if done.returncode == -signal.SIGXCPU:
        return CAUGHT, f"not done after {SECONDS} s of one core"
    if done.returncode == 0:
        return MISSED, ""
    if not done.stdout.endswith("differ\n"):
        return BROKEN, done.stderr.strip().splitlines()[-1]
    return CAUGHT, done.stdout.splitlines()[0][:120]


def _limited() -> None:
    """Processor time, so that a busy machine catches no more than an idle one."""
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only mutants whose description has this text")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of the first")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

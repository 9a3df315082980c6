"""Strata under rule changes: the strata of a program that differs from the last by a few rules.

A rule that goes leaves every level right, if perhaps not the lowest possible, and may leave
rules that are no longer recursive marked as such; that costs nothing but speed.  A rule
that comes fits in without moving others if nothing that it feeds, however indirectly, feeds
it, and the levels around it allow.  Else the whole program is stratified anew.

Paper: maintenance under changes of rules (Volz et al., section 4), whose cost is to follow
the change and not the program.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator

from livefacts.language.checks.strata import (
    Pattern,
    Relation,
    Shape,
    Strata,
    body_atoms,
    pattern_of,
    stratify,
)
from livefacts.language.formula import Atom
from livefacts.language.program import Rule

FEWEST_RULES = 64
"""Smaller programs are stratified anew."""
LARGEST_PART = 8
"""A change of more than one rule in so many is not small."""
MOST_FED = 2_000
"""Rules to visit before it is cheaper to stratify anew."""

Meeting = tuple[object, ...]


class Restratifier:
    """Knows the strata of the last program it was asked about."""

    def __init__(self) -> None:
        self._place: dict[Rule, tuple[int, int]] = {}
        """By rule, the numbers of its level and of its component."""
        self._levels: dict[int, dict[int, Rule]] = {}
        """By number, the rules by address."""
        self._components: dict[int, tuple[Rule, ...]] = {}
        self._recursive: dict[Rule, tuple[Atom, ...]] = {}
        self._around: _Neighbours | None = None
        self._next = 0

    def strata(self, rules: Iterable[Rule]) -> Strata:
        """The strata of these rules; a cycle through `not` or an aggregate is an error."""
        rules = tuple(rules)
        wanted, known = set(map(id, rules)), set(map(id, self._place))
        new = [rule for rule in rules if id(rule) not in known]
        gone = [rule for rule in self._place if id(rule) not in wanted]
        few = LARGEST_PART * (len(new) + len(gone)) <= len(rules)
        if len(rules) >= FEWEST_RULES and few and self._fit(new, gone):
            return self._known()
        return self.anew(rules)

    def anew(self, rules: Iterable[Rule]) -> Strata:
        """The strata with the lowest levels, and no rule said to be recursive that is not."""
        rules = tuple(rules)
        strata = stratify(rules)
        self._levels = {n: {id(r): r for r in level} for n, level in enumerate(strata.levels)}
        self._components = dict(enumerate(strata.components))
        level_of = {r: number for number, level in enumerate(strata.levels) for r in level}
        self._place = {r: (level_of[r], n) for n, part in self._components.items() for r in part}
        self._recursive = {r: strata.recursive_atoms(r) for r in strata.recursive_rules}
        self._next = len(strata.components)
        self._around = None
        return strata

    def _known(self) -> Strata:
        return Strata(
            tuple(tuple(self._levels[n].values()) for n in sorted(self._levels) if self._levels[n]),
            tuple(self._components.values()),
            dict(self._recursive),
        )

    def _fit(self, new: list[Rule], gone: list[Rule]) -> bool:
        """Take rules out and in, as far as they fit; whether all of them do."""
        if self._around is None:
            self._around = _Neighbours(self._place)
        for rule in gone:
            self._around.remove(rule)
            self._take_out(rule)
        if all(self._fit_in(rule, self._around) for rule in new):
            return True
        self._around = None
        return False

    def _take_out(self, rule: Rule) -> None:
        level, number = self._place.pop(rule)
        del self._levels[level][id(rule)]
        left = tuple(other for other in self._components.pop(number) if other is not rule)
        if left:
            self._components[number] = left
        self._recursive.pop(rule, None)

    def _fit_in(self, rule: Rule, around: _Neighbours) -> bool:
        around.add(rule)
        if around.feeds_itself(rule):
            return False
        level = max((self._place[r][0] + whole for r, whole in around.feeding(rule)), default=0)
        if any(self._place[r][0] < level + whole for r, whole in around.fed_by(rule)):
            return False
        self._place[rule] = level, self._next
        self._levels.setdefault(level, {})[id(rule)] = rule
        self._components[self._next] = (rule,)
        self._next += 1
        return True


class _Neighbours:
    """Which rules feed which: whose head may be what another looks for."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._heads, self._bodies = _Patterns(), _Patterns()
        for rule in rules:
            self.add(rule)

    def add(self, rule: Rule) -> None:
        if rule.head is not None:
            self._heads.add(pattern_of(rule.head), rule, False)
        for atom, whole in body_atoms(rule.body):
            self._bodies.add(pattern_of(atom), rule, whole)

    def remove(self, rule: Rule) -> None:
        if rule.head is not None:
            self._heads.remove(pattern_of(rule.head), rule)
        for atom, _ in body_atoms(rule.body):
            self._bodies.remove(pattern_of(atom), rule)

    def fed_by(self, rule: Rule) -> Iterator[tuple[Rule, bool]]:
        """The rules that look for what this one concludes, and whether for all of it."""
        if rule.head is not None:
            yield from self._bodies.meeting(pattern_of(rule.head))

    def feeding(self, rule: Rule) -> Iterator[tuple[Rule, bool]]:
        """The rules that conclude what this one looks for, and whether it looks for all of it."""
        for atom, whole in body_atoms(rule.body):
            for other, _ in self._heads.meeting(pattern_of(atom)):
                yield other, whole

    def feeds_itself(self, rule: Rule) -> bool:
        """Whether a rule depends on itself; also where that would take long to find out."""
        seen: set[Rule] = set()
        waiting = deque([rule])
        while waiting:
            for other, _ in self.fed_by(waiting.popleft()):
                if other == rule or len(seen) > MOST_FED:
                    return True
                if other not in seen:
                    seen.add(other)
                    waiting.append(other)
        return False


class _Patterns:
    """Rules by patterns, found by patterns that may stand for the same fact."""

    def __init__(self) -> None:
        self._rules: dict[Relation, dict[Shape, dict[Pattern, dict[Rule, bool]]]] = {}
        self._by_meeting: dict[tuple[Relation, Shape, Shape], dict[Meeting, dict[Pattern, None]]]
        self._by_meeting = {}

    def add(self, pattern: Pattern, rule: Rule, whole: bool) -> None:
        known = self._rules.setdefault(pattern.relation, {}).setdefault(pattern.shape, {})
        rules = known.get(pattern)
        if rules is None:
            rules = known[pattern] = {}
            for (relation, mine, other), found in self._by_meeting.items():
                if relation == pattern.relation and mine == pattern.shape:
                    found.setdefault(pattern.meeting(mine, other), {})[pattern] = None
        rules[rule] = rules.get(rule, False) or whole

    def remove(self, pattern: Pattern, rule: Rule) -> None:
        """A pattern without rules stays: it finds none."""
        self._rules[pattern.relation][pattern.shape][pattern].pop(rule, None)

    def meeting(self, pattern: Pattern) -> Iterator[tuple[Rule, bool]]:
        """The rules of patterns that may stand for the same fact as this one."""
        for shape in self._rules.get(pattern.relation, ()):
            found = self._between(pattern.relation, shape, pattern.shape)
            for other in found.get(pattern.meeting(pattern.shape, shape), ()):
                yield from self._rules[pattern.relation][shape][other].items()

    def _between(
        self, relation: Relation, mine: Shape, other: Shape
    ) -> dict[Meeting, dict[Pattern, None]]:
        """Patterns of one shape by the constants that count when they meet another shape."""
        found = self._by_meeting.get((relation, mine, other))
        if found is None:
            found = self._by_meeting[relation, mine, other] = {}
            for pattern in self._rules[relation][mine]:
                found.setdefault(pattern.meeting(mine, other), {})[pattern] = None
        return found

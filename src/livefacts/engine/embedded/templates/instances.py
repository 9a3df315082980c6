"""Instances of templates: the rules for the axioms that are asserted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from operator import is_

import numpy as np

from livefacts.engine.contract import NO_TRIPLES, Change, Facts, Flags, IdDelta, Ids
from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.engine.embedded.templates.asserted_axioms import Axioms, BoundTemplate, changed_cells
from livefacts.language.checks.strata_change import Restratifier
from livefacts.language.formula import TripleAtom
from livefacts.language.program import Rule
from livefacts.model.facts import Symbol
from livefacts.plan import compile_normal, compile_rules
from livefacts.plan.rules.operators import Plan
from livefacts.plan.rules.schema_split import TYPE
from livefacts.plan.rules.specialisation import SchemaReading
from livefacts.store.facts.row_store import TRIPLES
from livefacts.store.terms.dictionary import Dictionary

MOST_INSTANCES = 4096
"""A template with more instances than this is followed as it is."""
FEW = 200
"""Up to so many rows are looked at one by one."""
NOTHING = IdDelta({}, {}, {})
Instances = tuple[Rule, ...]
Standing = Callable[[int, Ids], Ids]
"""The flags of facts of a shape, 0 for those that do not hold."""


class Members:
    """A few ids, and which of others are among them."""

    def __init__(self, ids: Iterable[int]) -> None:
        self._few = frozenset(ids)
        self.ids = np.array(sorted(self._few), np.int32)

    def among(self, values: Ids) -> Flags:
        """Which of these values are members."""
        if len(values) <= FEW:
            few = self._few
            return np.array([value in few for value in values.tolist()], np.bool_)
        found: Flags = np.isin(values, self.ids)
        return found


@dataclass(frozen=True, slots=True)
class Foreseen:
    """What a change will do to the axioms: in what is asserted, and in what is true of them.

    `retracted` are triples that someone ceases to assert; `before` the rules before the change.
    """

    change: Change | None = None
    delta: IdDelta = NOTHING
    retracted: Ids = field(default_factory=lambda: NO_TRIPLES)
    before: tuple[Instances, ...] = ()


class Specialised:
    """The axioms that are asserted, and the rules for them."""

    def __init__(self, reading: SchemaReading, dictionary: Dictionary) -> None:
        self._reading = reading
        self._dictionary = dictionary
        self._closing = EmbeddedEngine(
            dictionary, compile_rules(reading.closing), single_path=False
        )
        self._axioms = Axioms()
        self._templates = [BoundTemplate(each, dictionary) for each in reading.templates]
        self._instances: tuple[Instances, ...] = ((),) * len(self._templates)
        self._planned: tuple[object, ...] = ()
        """For which instances, with which guards open, which rules were found to be planned."""
        self._unguarded: tuple[object, bool] = (None, False)
        """Instances, and whether one of them concludes what rules wait for."""
        self._made: list[dict[tuple[int, ...], Rule]] = [{} for _ in self._templates]
        self._restratifier = Restratifier()
        self.guards_are_open = not reading.guarded
        self._guards = self._ids_of(set(reading.guarded.values()))
        self._predicates = self._ids_of({p for p, o in reading.kinds if o is None})
        self._classes = self._ids_of({o for p, o in reading.kinds if p == TYPE and o is not None})
        self._type = int(dictionary.encode_one(TYPE))
        self._names = self._ids_of({Symbol(name) for name in reading.predicates})

    def held_ids(self) -> Iterator[Ids]:
        """The ids of axioms, also of those whose rules are kept for later."""
        yield from self._closing.held_ids()
        made = (number for rules in self._made for values in rules for number in values)
        yield np.fromiter(made, np.int32)
        yield np.array([self._type], np.int32)
        for members in (self._guards, self._predicates, self._classes, self._names):
            yield members.ids
        for template in self._templates:
            yield template.constants

    def _ids_of(self, terms: Iterable[object]) -> Members:
        return Members(int(self._dictionary.encode_one(term)) for term in terms)  # type: ignore[arg-type]

    # what templates read

    def axioms_in(self, shape: int, facts: Ids) -> Flags:
        """Which facts are among those that templates read."""
        if shape != TRIPLES:
            return self._names.among(facts[:, 0])
        by_class = (facts[:, 1] == self._type) & self._classes.among(facts[:, 2])
        found: Flags = self._predicates.among(facts[:, 1]) | by_class
        return found

    def foresee(self, change: Change) -> Foreseen:
        """What a change will do to the axioms; the rules are made for that."""
        asserted = self._asserted(change)
        if asserted is None:
            return Foreseen(before=self._instances)
        delta = self._closing.apply(asserted, keep=False)
        foreseen = Foreseen(asserted, delta, _retracted(asserted), self._instances)
        self._axioms.change(delta.added, delta.removed)
        changed = changed_cells(delta)
        self._instances = tuple(
            self._instances_of(number) if template.reads(changed) else self._instances[number]
            for number, template in enumerate(self._templates)
        )
        return foreseen

    def gone_with(self, change: Change) -> Foreseen:
        """Of a change that is known already, what it ceases to assert."""
        asserted = self._asserted(change)
        retracted = NO_TRIPLES if asserted is None else _retracted(asserted)
        return Foreseen(retracted=retracted, before=self._instances)

    def settle(self, foreseen: Foreseen) -> None:
        """What was foreseen has happened."""
        if foreseen.change is not None:
            self._closing.apply(foreseen.change)

    def forget(self, foreseen: Foreseen) -> None:
        """What was foreseen has not happened."""
        self._axioms.change(foreseen.delta.removed, foreseen.delta.added)
        self._instances = foreseen.before

    def _asserted(self, change: Change) -> Change | None:
        """The part of a change that is about axioms."""
        parts: dict[str, Facts] = {}
        for part in fields(change):
            if part.name != "plan":
                facts: Facts = getattr(change, part.name)
                chosen = {shape: ids[self.axioms_in(shape, ids)] for shape, ids in facts.items()}
                parts[part.name] = {shape: ids for shape, ids in chosen.items() if len(ids)}
        return Change(**parts) if any(parts.values()) else None  # type: ignore[arg-type]

    # the rules

    def _instances_of(self, number: int) -> Instances:
        """The instances of a template; itself, if there are too many."""
        template, made = self._templates[number], self._made[number]
        bindings = template.bindings(self._axioms, MOST_INSTANCES)
        if bindings is None:
            return (template.template.rule,)
        for values in bindings:
            if values not in made:
                terms = self._dictionary.decode(np.array(values, np.int32))
                bound = dict(zip(template.template.variables, terms, strict=True))
                made[values] = template.template.instance(bound, len(made) + 1)
        return tuple(made[values] for values in bindings)

    def plan(self, before: Plan) -> Plan | None:
        """The plan for the axioms that are there; None if it is the one before."""
        wanted = self._instances, self.guards_are_open, before.rules
        if len(self._planned) == 3 and all(map(is_, wanted, self._planned)):
            return None
        rules = list(self._reading.others)
        if self.guards_are_open:
            rules += self._reading.guarded
        rules += [rule for instances in self._instances for rule in instances]
        if [id(rule) for rule in rules] == [id(rule) for rule in before.rules]:
            self._planned = wanted
            return None
        return compile_normal(rules, before, self._restratifier, self._reading.single)

    def open_guards(self, triples: Ids | None) -> None:
        """Let rules in that wait for a predicate, if there are such triples or rules."""
        if self.guards_are_open:
            return
        self.guards_are_open = self._conclude_guarded() or (
            triples is not None
            and len(triples) > 0
            and bool(self._guards.among(triples[:, 1]).any())
        )

    def _conclude_guarded(self) -> bool:
        """Whether one of the rules made for axioms concludes what rules wait for."""
        if self._unguarded[0] is not self._instances:
            guards = set(self._reading.guarded.values())
            heads = (rule.head for instances in self._instances for rule in instances)
            found = any(isinstance(head, TripleAtom) and head.predicate in guards for head in heads)
            self._unguarded = self._instances, found
        return self._unguarded[1]

    # what a change has done

    def derives_axioms(self, delta: IdDelta, foreseen: Foreseen, standing: Standing) -> bool:
        """Whether something that templates read holds and was not asserted."""
        added = delta.added.get(TRIPLES)
        if added is not None and len(added):
            derived = delta.derived[TRIPLES]
            if derived.any() and self.axioms_in(TRIPLES, added[derived]).any():
                return True
        retracted = foreseen.retracted
        return len(retracted) > 0 and self._has_stayed(delta, retracted, standing)

    def _has_stayed(self, delta: IdDelta, retracted: Ids, standing: Standing) -> bool:
        """Whether a triple that is no longer asserted holds all the same."""
        gone = {tuple(row) for row in delta.removed.get(TRIPLES, NO_TRIPLES).tolist()}
        stood = standing(TRIPLES, retracted).tolist()
        return any(
            flags and tuple(row) not in gone and not self._axioms.has((TRIPLES, *row))
            for row, flags in zip(retracted.tolist(), stood, strict=True)
        )

    def needs_guarded(self, delta: IdDelta) -> bool:
        """Whether rules were left out that have something to do now."""
        added = delta.added.get(TRIPLES)
        if self.guards_are_open or added is None:
            return False
        return bool(self._guards.among(added[:, 1]).any())


def _retracted(change: Change) -> Ids:
    found = [
        facts[TRIPLES]
        for facts in (change.retracted, change.unmarked, change.unnamed)
        if TRIPLES in facts
    ]
    return np.concatenate(found) if found else NO_TRIPLES

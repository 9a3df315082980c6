"""The axiom index: the rules that each axiom became, so that a change reads the axioms that change.

Several axioms may stand for one rule, so rules and facts are counted: one goes with the last
axiom that it stands for, and comes with the first.  Some rules and facts come with others: that
what is different is not the same, and what the rules need to know of datatypes.

What an axiom becomes depends on the declarations of the ontology.  A change that touches them is
not made here (`change` gives None): everything has to be read again.  A change that makes values
of a property facts, or annotations, looks at these values again, and at nothing else.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from pyoxigraph import NamedNode, Triple

from livefacts.language.axioms import (
    Axiom,
    DatatypeDefinition,
    Declaration,
    PropertyAssertion,
    Range,
)
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact
from livefacts.syntax.owl.annotations import annotation_properties, is_aside, made_known
from livefacts.syntax.owl.axiom_ids import Ids
from livefacts.syntax.owl.logic_programs import Translated, class_rules, translate_one
from livefacts.syntax.owl.ontology_program import (
    ABOUT_SAMENESS,
    concludes_same,
    datatype_facts,
    difference_rules,
)

T = TypeVar("T", Rule, Triple | Fact)
DECLARING = Declaration | DatatypeDefinition | Range
"""Axioms that may change what other axioms become."""


@dataclass(slots=True)
class StatedAxioms:
    """By how many axioms rules (by their keys) and facts are stated; how many speak of sameness."""

    rules: Counter[Rule] = field(default_factory=Counter)
    facts: Counter[Triple | Fact] = field(default_factory=Counter)
    same: int = 0

    def state(self, axiom: Axiom, became: Translated, sign: int = 1) -> None:
        """An axiom comes, or goes."""
        for key in {rule.key() for rule in became.rules}:
            self.rules[key] += sign
        for fact in set(became.facts):
            self.facts[fact] += sign
        self.same += sign * isinstance(axiom, ABOUT_SAMENESS)

    def add(self, more: StatedAxioms) -> None:
        for mine, theirs in ((self.rules, more.rules), (self.facts, more.facts)):
            for each, number in theirs.items():
                mine[each] += number  # type: ignore[index]
                if not mine[each]:  # type: ignore[index]
                    del mine[each]
        self.same += more.same


@dataclass(frozen=True, slots=True)
class AxiomChange:
    """What a change of axioms means for a program."""

    axioms: tuple[Axiom, ...]
    added: Program
    dropped: tuple[Rule, ...]
    retracted: tuple[Triple | Fact, ...]
    counted: StatedAxioms | None = None
    """The same as an index counts it, where there was one."""
    moved: tuple[tuple[Axiom, ...], Mapping[Axiom, Translated]] = ((), {})
    """Axioms that go, and what those became that come."""


class AxiomIndex:
    """What the axioms of a program became."""

    def __init__(self, program: Program) -> None:
        self._axioms, self._program_rules = program.axioms, program.rules
        self._classes = class_rules(program.axioms)
        self._annotating = annotation_properties(program.axioms)
        self.properties: Counter[NamedNode] = Counter()
        """The properties whose values are facts, and how many axioms say so."""
        self._values: dict[NamedNode, dict[Axiom, None]] = {}
        for axiom in program.axioms:
            self._note(axiom)
        self.translated = {
            axiom: self._became(axiom, self.properties.keys()) for axiom in program.axioms
        }
        self._by_key = {rule.key(): rule for rule in program}
        self._ids = {rule.id for rule in program}
        self._counted = StatedAxioms()
        for axiom, became in self.translated.items():
            self._counted.state(axiom, became)
        self._counted.add(self._implied(self._counted, StatedAxioms()))
        self.is_complete = self._counted.rules.keys() <= self._by_key.keys()
        """Whether the program has all rules of its axioms."""

    def is_of(self, program: Program) -> bool:
        """Whether this is what is known of a program."""
        return program.axioms is self._axioms and program.rules is self._program_rules

    def _became(self, axiom: Axiom, known: Collection[NamedNode]) -> Translated:
        """What an axiom becomes where the values of known properties are facts."""
        if is_aside(axiom, self._annotating, known):
            return Translated(axiom)
        return translate_one(axiom, self._classes)

    def _note(self, axiom: Axiom) -> None:
        self.properties.update(made_known(axiom, self._annotating))
        if isinstance(axiom, PropertyAssertion):
            self._values.setdefault(axiom.property, {})[axiom] = None

    def _forget(self, axiom: Axiom) -> None:
        self.properties.subtract(made_known(axiom, self._annotating))
        if isinstance(axiom, PropertyAssertion):
            del self._values[axiom.property][axiom]

    # changes

    def change(
        self, gone: Collection[Axiom], come: Sequence[Axiom], prefixes: Mapping[str, str]
    ) -> AxiomChange | None:
        """What it means that axioms go and come; None if it changes what others become."""
        leaving = tuple(axiom for axiom in gone if axiom in self.translated)
        after = dict.fromkeys(self.translated)
        for axiom in leaving:
            del after[axiom]
        after |= dict.fromkeys(come)
        declares = any(isinstance(axiom, DECLARING) for axiom in (*leaving, *come))
        if declares and not self._declares_the_same(after):
            return None
        stated = [a for a in dict.fromkeys(come) if a in gone or a not in self.translated]
        known, turned = self._known_after(leaving, stated)
        again = [a for p in turned for a in self._values.get(p, ()) if a in after]
        new = {axiom: self._became(axiom, known) for axiom in dict.fromkeys((*stated, *again))}
        counted = self._moved(dict.fromkeys((*leaving, *again)), new)
        facts = dict.fromkeys(self._turned(counted.facts, self._counted.facts, up=True))
        facts |= dict.fromkeys(f for a in come for f in self._became(a, known).facts)
        dropped = [self._by_key[key] for key in self._lost(counted)]
        rules = tuple(self._named(new, counted, {rule.id for rule in dropped}))
        return AxiomChange(
            tuple(after),
            Program(rules, tuple(facts), prefixes=tuple(prefixes.items())),
            tuple(dropped),
            tuple(self._turned(counted.facts, self._counted.facts, up=False)),
            counted,
            (leaving, new),
        )

    def _declares_the_same(self, axioms: Collection[Axiom]) -> bool:
        return (
            class_rules(axioms) == self._classes
            and annotation_properties(axioms) == self._annotating
        )

    def _known_after(
        self, gone: Iterable[Axiom], come: Iterable[Axiom]
    ) -> tuple[Collection[NamedNode], list[NamedNode]]:
        """The properties whose values are facts after a change, and for which that is new."""
        more: Counter[NamedNode] = Counter()
        for axiom in gone:
            more.subtract(made_known(axiom, self._annotating))
        for axiom in come:
            more.update(made_known(axiom, self._annotating))
        now = {each for each, number in more.items() if self.properties[each] + number > 0}
        turned = [each for each in more if (each in now) != (each in self.properties)]
        if not turned:
            return self.properties.keys(), turned
        return (self.properties.keys() - more.keys()) | now, turned

    def _moved(self, gone: Iterable[Axiom], come: Mapping[Axiom, Translated]) -> StatedAxioms:
        """How a change of axioms changes the counts."""
        counted = StatedAxioms()
        for axiom in gone:
            counted.state(axiom, self.translated[axiom], -1)
        for axiom, became in come.items():
            counted.state(axiom, became)
        counted.add(self._implied(counted, self._counted))
        return counted

    def _implied(self, change: StatedAxioms, before: StatedAxioms) -> StatedAxioms:
        """The counts of what comes and goes with the rules that a change brings and takes."""
        implied = StatedAxioms()
        for up, sign in ((True, 1), (False, -1)):
            for rule in self._turned(change.rules, before.rules, up=up):
                implied.same += sign * concludes_same(rule)
                for fact in set(datatype_facts([rule])):
                    implied.facts[fact] += sign
        was, now = before.same > 0, before.same + change.same + implied.same > 0
        for rule in difference_rules() if was != now else ():
            implied.rules[rule.key()] += 1 if now else -1
        return implied

    def _turned(self, change: Counter[T], before: Counter[T], *, up: bool) -> Iterator[T]:
        """What comes to be stated by a change, or ceases to be."""
        for each, more in change.items():
            was, now = before[each] > 0, before[each] + more > 0
            if was != now and now == up:
                yield each

    def _lost(self, counted: StatedAxioms) -> list[Rule]:
        return list(self._turned(counted.rules, self._counted.rules, up=False))

    def _named(
        self, come: Mapping[Axiom, Translated], counted: StatedAxioms, freed: set[str]
    ) -> Iterator[Rule]:
        """The rules that come, under names that no other has."""
        wanted = set(self._turned(counted.rules, self._counted.rules, up=True))
        taken = self._ids - freed
        ids = Ids(taken | {rule.id for rule in difference_rules()})
        for axiom, became in come.items():
            for rule in became.rules:
                if rule.key() in wanted:
                    wanted.discard(rule.key())
                    yield replace(rule, id=ids.next(axiom))
        yield from named_anew([r for r in difference_rules() if r.key() in wanted], taken)

    def settle(self, change: AxiomChange, program: Program) -> None:
        """A change has been made; the program is what it has made of this one."""
        assert change.counted is not None, "a change of this index"
        gone, come = change.moved
        for axiom in gone:
            del self.translated[axiom]
            self._forget(axiom)
        for axiom in come:
            if axiom not in self.translated:
                self._note(axiom)
        self.translated |= come
        self.properties = +self.properties
        self._counted.add(change.counted)
        for rule in change.dropped:
            del self._by_key[rule.key()]
            self._ids.discard(rule.id)
        for rule in change.added:
            if self._by_key.setdefault(rule.key(), rule) is rule:
                self._ids.add(rule.id)
        self._axioms, self._program_rules = program.axioms, program.rules


def named_anew(rules: Iterable[Rule], taken: set[str]) -> Iterator[Rule]:
    """The rules, each under a name that no other has."""
    for rule in rules:
        name, number = rule.id, 1
        stem = re.sub(r"-\d+$", "", name)
        while name in taken:
            name, number = stem if number == 1 else f"{stem}-{number}", number + 1
        taken.add(name)
        yield replace(rule, id=name)

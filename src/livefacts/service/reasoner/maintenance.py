"""Maintenance programs for people: made from rule text, printed, filled and read.

`maintenance_program` gives a program that maintains another.  Its text names the papers' rules
and says what has to be filled in; `inputs` fills it in, and `outcome` reads what comes out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyoxigraph import BlankNode, NamedNode, Quad, Triple

from livefacts.language.checks.safety import check
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_formula, write_rule
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan.maintenance.delta_program import DRED, STREAM, Maintenance, maintenance
from livefacts.plan.maintenance.rewrite import DEL, EXT, INS, MINUS, PLUS, ProgramSection
from livefacts.service.change.arguments import as_statements
from livefacts.syntax import rule_sets
from livefacts.syntax.rule_sets import RuleSource, named_rules
from livefacts.syntax.rulelang.rule_parser import parse

ABOUT = {
    DRED: (
        "Delete and rederive, after Volz, Staab and Motik, sections 3.2 and 4.2.",
        "Ids are the paper's names: r1.D2 is the deletion rule D2 of rule r1, p.N1 the rule N1 of p.",
    ),
    STREAM: (
        "Facts that expire, after Barbieri, Braga, Ceri, Della Valle and Grossniklaus, Table 5.",
        "As published, a fact whose time is renewed gets lost (Plus), and rules depend on their own",
        "negation (New2): the published rules are remarks, and what stands below them is right.",
    ),
}
Facts = Iterable[Triple | Fact]


@dataclass(frozen=True)
class MaintenanceProgram:
    """A program that says what a change makes true (p_plus) and what it ends (p_minus).

    `program` has its rules, to be evaluated over `inputs`; the text of the program is
    `str()` of this.
    """

    kind: str
    program: Program
    made: Maintenance

    def inputs(
        self, before: Facts, asserted: Facts, *, add: Any = (), remove: Any = ()
    ) -> list[Fact]:
        """The facts to evaluate the program over: what is true, what of it is asserted, the change.

        Only a program of kind "dred" can be filled in so; facts that expire have their time
        as last argument, and are written as they are.
        """
        if self.kind != DRED:
            raise ValueError(
                "expiring facts have a time point: write them as facts, isIn(a, b, 11)"
            )
        was_asserted = {_triple_or_fact(fact) for fact in asserted}
        gone = [fact for fact in _statements(remove) if fact in was_asserted]
        found = [self._fact(fact) for fact in before]
        found += [self._fact(fact, EXT) for fact in was_asserted if self._is_derived(fact)]
        found += [self._changed(fact, DEL) for fact in gone]
        return found + [self._changed(fact, INS) for fact in _statements(add)]

    def outcome(self, facts: Facts) -> tuple[set[Triple | Fact], set[Triple | Fact]]:
        """What becomes true and what ends, read from all that the program derives."""
        names = self.made.names
        relations = {each.atom.name: each.atom.name for each in self.made.inputs}
        relations |= {part.name: part.relation for part in names.parts}
        added = {names.of(name, PLUS): relation for name, relation in relations.items()}
        removed = {names.of(name, MINUS): relation for name, relation in relations.items()}
        found = [fact for fact in facts if isinstance(fact, Fact)]
        return set(self._read(found, added)), set(self._read(found, removed))

    def _read(self, facts: list[Fact], relations: dict[str, str]) -> Iterator[Triple | Fact]:
        for name, terms in facts:
            if name in relations:
                is_triple = relations[name] == self.made.names.triple and _is_triple(terms)
                yield Triple(*terms) if is_triple else Fact(relations[name], terms)  # type: ignore[arg-type]

    def _fact(self, fact: Triple | Fact, *roles: str) -> Fact:
        name, terms = self._predicate(fact)
        return Fact(self.made.names.of(name, *roles), terms)

    def _changed(self, fact: Triple | Fact, role: str) -> Fact:
        return self._fact(fact, *((EXT, role) if self._is_derived(fact) else (role,)))

    def _is_derived(self, fact: Triple | Fact) -> bool:
        return self._predicate(fact)[0] in self.made.derived

    def _predicate(self, fact: Triple | Fact) -> tuple[str, tuple[Term, ...]]:
        names = self.made.names
        if isinstance(fact, Triple):
            terms: tuple[Term, ...] = (fact.subject, fact.predicate, fact.object)
            return names.predicate(names.triple, terms), terms
        return names.predicate(fact.name, fact.arguments), fact.arguments

    def __str__(self) -> str:
        return "\n".join(_lines(self.made, self.program)) + "\n"


def maintenance_program(
    rules: RuleSource,
    kind: str = DRED,
    *,
    add_rules: RuleSource = (),
    remove_rules: str | Rule | Sequence[str | Rule] = (),
    split: bool = False,
) -> MaintenanceProgram:
    """The program that maintains the conclusions of these rules when facts change.

    `kind` is "dred", for facts that are added and removed (and rules, with `add_rules` and
    `remove_rules`), or "stream", for facts that expire.  With `split`, triples of different
    properties have predicates of their own, where the rules allow it.
    """
    before = rule_sets.open_rules(rules)
    check(before)
    after = before.minus(named_rules(before, remove_rules)).joined(rule_sets.open_rules(add_rules))
    check(after)
    made = maintenance(before, after, kind, split)
    return MaintenanceProgram(kind, replace(after, rules=made.rules, facts=()), made)


def _statements(facts: Any) -> list[Triple | Fact]:
    written = parse(facts).facts if isinstance(facts, str) else as_statements(facts)
    return [_triple_or_fact(fact) for fact in written]


def _triple_or_fact(fact: Triple | Quad | Fact) -> Triple | Fact:
    return fact.triple if isinstance(fact, Quad) else fact


def _is_triple(terms: tuple[Term, ...]) -> bool:
    subject, predicate, object = terms
    fits = isinstance(subject, NamedNode | BlankNode) and isinstance(predicate, NamedNode)
    return fits and not isinstance(object, Symbol)


def _lines(made: Maintenance, program: Program) -> Iterator[str]:
    prefixes = DECLARED | dict(program.prefixes)
    yield from (f"# {line}" for line in ABOUT[made.kind])
    yield "# p_plus is what a change makes true, p_minus what it ends.  To be filled in before:"
    inputs = [(write_formula(each.atom, prefixes), each.meaning) for each in made.inputs]
    width = max((len(atom) for atom, _ in inputs), default=0)
    yield from (f"#   {atom:<{width}}  {meaning}" for atom, meaning in inputs)
    yield from (f"@prefix {p}: <{iri}> ." for p, iri in program.prefixes if p not in DECLARED)
    if program.limit is not None:
        yield f"@limit {program.limit} ."
    for section in made.sections:
        yield ""
        yield f"# {section.title}"
        yield from _section(section, prefixes)


def _section(section: ProgramSection, prefixes: dict[str, str]) -> Iterator[str]:
    for rule in section.rules:
        if rule.id in section.published:
            text, atoms = section.published[rule.id]
            shown = text.format(*(write_formula(atom, prefixes) for atom in atoms))
            yield from (f"# published: {line}" for line in shown.split("\n"))
        yield write_rule(rule, prefixes)

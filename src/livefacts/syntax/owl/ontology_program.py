"""The program of an ontology, and the same as text that people read.

The text has a comment with its axiom above the rules that say it, and below them what of the
axiom is not said.  Reading the text gives the program again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache

from pyoxigraph import NamedNode, Triple

from livefacts.language.axioms import Axiom, DifferentIndividuals, SameIndividuals
from livefacts.language.formula import PredicateAtom, TripleAtom
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_fact, write_rule
from livefacts.model.facts import Fact
from livefacts.model.namespaces import DECLARED
from livefacts.syntax.owl.axiom_ids import Ids
from livefacts.syntax.owl.class_expressions import SAME_AS
from livefacts.syntax.owl.literal_values import families, within
from livefacts.syntax.owl.logic_programs import REMEMBERED, Inexpressible, Translated
from livefacts.syntax.owl.manchester import AxiomWriter
from livefacts.syntax.rulelang.rule_parser import parse, ready_rules

DIFFERENCE = """
@id different-1  false :- [?x, owl:sameAs, ?y], [?x, owl:differentFrom, ?y] .
@id different-2  false :- [?x, owl:sameAs, ?y], [?y, owl:differentFrom, ?x] .
@id all-different  false :- [?x, owl:sameAs, ?y], _apart(?g, ?x), _apart(?g, ?y), ?x != ?y .
"""
ABOUT_SAMENESS = SameIndividuals | DifferentIndividuals
"""Axioms that need the rules about what is different."""
EQUALITY = "owl-same-as"
"""The ready rules of equality."""


@dataclass(frozen=True, slots=True)
class StatementSection:
    """Statements under a comment."""

    about: Axiom | str
    """The axiom that it is made from, or what it is, in words."""
    rules: tuple[Rule, ...] = ()
    facts: tuple[Triple | Fact, ...] = ()
    gaps: tuple[Inexpressible, ...] = ()
    repeated: bool = False
    """Whether rules are left out here since they stand further above."""


def sections_of(translated: Iterable[Translated], equality: bool) -> Iterator[StatementSection]:
    """The program in sections: one for each axiom that has rules or gaps, then what they need."""
    ids = Ids(rule.id for rule in (*difference_rules(), *ready_rules(EQUALITY).rules))
    known: set[Rule] = set()
    asserted: dict[Triple | Fact, None] = {}
    rules: list[Rule] = []
    speaks_of_same = False
    for each in translated:
        new = [rule for rule in each.rules if rule.key() not in known]
        known |= {rule.key() for rule in new}
        asserted |= dict.fromkeys(each.facts)
        speaks_of_same |= isinstance(each.axiom, ABOUT_SAMENESS)
        if each.rules or each.gaps:
            named = tuple(_named(rule, ids.next(each.axiom)) for rule in new)
            rules += named
            repeated = len(new) < len(each.rules)
            yield StatementSection(each.axiom, named, (), each.gaps, repeated)
    if asserted:
        yield StatementSection("what the ontology tells of individuals", facts=tuple(asserted))
    if speaks_of_same or any(concludes_same(rule) for rule in rules):
        yield StatementSection("what is different is not the same", difference_rules())
    if equality:
        yield StatementSection("what holds of one name holds of all", ready_rules(EQUALITY).rules)
    if helping := tuple(datatype_facts(rules)):
        yield StatementSection("datatypes", facts=helping)


@lru_cache(maxsize=REMEMBERED)
def _named(rule: Rule, id: str) -> Rule:
    return replace(rule, id=id)


@cache
def difference_rules() -> tuple[Rule, ...]:
    """The constraints that what is different is not the same."""
    return parse(DIFFERENCE).rules


def program_of(
    sections: Iterable[StatementSection], axioms: Sequence[Axiom], prefixes: Mapping[str, str]
) -> Program:
    """The program that the sections hold."""
    parts = list(sections)
    return Program(
        tuple(rule for part in parts for rule in part.rules),
        tuple(fact for part in parts for fact in part.facts),
        prefixes=tuple(prefixes.items()),
        axioms=tuple(axioms),
    )


def text_of(
    sections: Iterable[StatementSection], writer: AxiomWriter, prefixes: Mapping[str, str]
) -> str:
    """The sections as text of the rule language."""
    all_prefixes = DECLARED | dict(prefixes)
    lines = [f"@prefix {name}: <{iri}> ." for name, iri in prefixes.items() if name not in DECLARED]
    for section in sections:
        about = section.about
        comment = about if isinstance(about, str) else writer.axiom(about)
        lines += ["", f"# {_one_line(comment)}"]
        lines += [write_rule(rule, all_prefixes) for rule in section.rules]
        lines += ["# (a rule for this stands above)"] if section.repeated else []
        lines += [write_fact(fact, all_prefixes) for fact in section.facts]
        lines += [
            f"# not in rules: {_one_line(gap_text(gap, writer, whole=False))}"
            for gap in section.gaps
        ]
    return "\n".join(lines).lstrip("\n") + "\n"


def gap_text(gap: Inexpressible, writer: AxiomWriter, *, whole: bool = True) -> str:
    """A gap in words: what cannot be said, unless it is known to be the whole axiom, and why."""
    if gap.part == gap.axiom and not whole:
        return gap.reason
    return f"{writer.axiom(gap.part)}: {gap.reason}"


def _one_line(text: str) -> str:
    return " ".join(text.split())


def concludes_same(rule: Rule) -> bool:
    """Whether a rule concludes that two things are the same."""
    return isinstance(rule.head, TripleAtom) and rule.head.predicate == SAME_AS


def datatype_facts(rules: Iterable[Rule]) -> Iterator[Fact]:
    """The facts about datatypes that the rules look at."""
    atoms = [part for rule in rules for part in rule.body if isinstance(part, PredicateAtom)]
    if any(atom.name == "_family" for atom in atoms):
        yield from families()
    wanted = dict.fromkeys(atom.arguments[1] for atom in atoms if atom.name == "_within")
    for datatype in wanted:
        assert isinstance(datatype, NamedNode), "a datatype is an IRI"
        yield from within(datatype)

"""The ready rule sets: pattern by pattern, one within the other, and beside the papers."""

from __future__ import annotations

import pytest
from pyoxigraph import Literal, NamedNode, Triple
from tests.oracle import closure, model

from livefacts.language.formula import TripleAtom, Variable
from livefacts.language.program import Program, Rule
from livefacts.model.facts import Fact
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse

EX = "http://example.org/"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
PREFIX = f"@prefix ex: <{EX}> .\n"

PATTERNS = {
    "rdfD2": ("[ex:s, ex:p, ex:o] .", "[ex:p, a, rdf:Property] . [rdf:type, a, rdf:Property] ."),
    "rdfs2": ("[ex:p, rdfs:domain, ex:C] . [ex:s, ex:p, ex:o] .", "[ex:s, a, ex:C] ."),
    "rdfs3": ("[ex:p, rdfs:range, ex:C] . [ex:s, ex:p, ex:o] .", "[ex:o, a, ex:C] ."),
    "rdfs4a": ("[ex:s, ex:p, ex:o] .", "[ex:s, a, rdfs:Resource] ."),
    "rdfs4b": (
        "[ex:s, ex:p, ex:o] .",
        "[ex:o, a, rdfs:Resource] . [rdfs:Resource, a, rdfs:Resource] .",
    ),
    "rdfs5": (
        "[ex:p, rdfs:subPropertyOf, ex:q] . [ex:q, rdfs:subPropertyOf, ex:r] .",
        "[ex:p, rdfs:subPropertyOf, ex:r] .",
    ),
    "rdfs6": ("[ex:p, a, rdf:Property] .", "[ex:p, rdfs:subPropertyOf, ex:p] ."),
    "rdfs7": ("[ex:p, rdfs:subPropertyOf, ex:q] . [ex:s, ex:p, ex:o] .", "[ex:s, ex:q, ex:o] ."),
    "rdfs8": ("[ex:C, a, rdfs:Class] .", "[ex:C, rdfs:subClassOf, rdfs:Resource] ."),
    "rdfs9": ("[ex:C, rdfs:subClassOf, ex:D] . [ex:x, a, ex:C] .", "[ex:x, a, ex:D] ."),
    "rdfs10": ("[ex:C, a, rdfs:Class] .", "[ex:C, rdfs:subClassOf, ex:C] ."),
    "rdfs11": (
        "[ex:C, rdfs:subClassOf, ex:D] . [ex:D, rdfs:subClassOf, ex:E] .",
        "[ex:C, rdfs:subClassOf, ex:E] .",
    ),
    "rdfs12": (
        "[ex:p, a, rdfs:ContainerMembershipProperty] .",
        "[ex:p, rdfs:subPropertyOf, rdfs:member] .",
    ),
    "rdfs13": ("[ex:D, a, rdfs:Datatype] .", "[ex:D, rdfs:subClassOf, rdfs:Literal] ."),
}
RHO_DF = ["rdfs2", "rdfs3", "rdfs5", "rdfs7", "rdfs9", "rdfs11"]

FIGURE_1 = """
@id rdf1    [?p, a, rdf:Property] :- [?s, ?p, ?o] .
@id rdfs2   [?s, a, ?c] :- [?p, rdfs:domain, ?c], [?s, ?p, ?o] .
@id rdfs3   [?o, a, ?c] :- [?p, rdfs:range, ?c], [?s, ?p, ?o] .
@id rdfs4a  [?s, a, rdfs:Resource] :- [?s, ?p, ?o] .
@id rdfs4b  [?o, a, rdfs:Resource] :- [?s, ?p, ?o] .
@id rdfs5a  [?p, rdfs:subPropertyOf, ?r] :- [?q, rdfs:subPropertyOf, ?r], [?p, rdfs:subPropertyOf, ?q] .
@id rdfs6   [?s, ?r, ?o] :- [?p, rdfs:subPropertyOf, ?r], [?s, ?p, ?o] .
@id rdfs7   [?c, a, rdfs:Class] :- [?c, rdfs:subClassOf, rdfs:Resource] .
@id rdfs8   [?a, rdfs:subClassOf, ?c] :- [?b, rdfs:subClassOf, ?c], [?a, rdfs:subClassOf, ?b] .
@id rdfs9   [?s, a, ?b] :- [?s, a, ?a], [?a, rdfs:subClassOf, ?b] .
@id rdfs10  [?x, rdfs:subPropertyOf, rdfs:member] :- [?x, a, rdfs:ContainerMembershipProperty] .
@id rdfs11  [?x, rdfs:subClassOf, rdfs:Literal] :- [?x, a, rdfs:Datatype] .
@id rdfs12  [rdfs:Resource, rdfs:subClassOf, ?y] :- [?x, rdfs:domain, ?y], [rdf:type, rdfs:subPropertyOf, ?x] .
"""
FIGURE_3 = """
@id rdfs2   [?x, a, ?c] :- [?x, ?p, ?y], [?p, rdfs:domain, ?c] .
@id rdfs3   [?y, a, ?c] :- [?x, ?p, ?y], [?p, rdfs:range, ?c] .
@id rdfs5a  [?a, rdfs:subPropertyOf, ?c] :- [?a, rdfs:subPropertyOf, ?b], [?b, rdfs:subPropertyOf, ?c] .
@id rdfs5b  [?a, rdfs:subPropertyOf, ?a] :- [?a, a, rdf:Property] .
@id rdfs6   [?a, ?q, ?b] :- [?a, ?p, ?b], [?p, rdfs:subPropertyOf, ?q] .
@id rdfs7   [?a, rdfs:subClassOf, ?a] :- [?a, a, rdfs:Class] .
@id rdfs8   [?a, rdfs:subClassOf, ?c] :- [?a, rdfs:subClassOf, ?b], [?b, rdfs:subClassOf, ?c] .
@id rdfs9   [?a, a, ?y] :- [?x, rdfs:subClassOf, ?y], [?a, a, ?x] .
@id rdfs10  [?x, rdfs:subPropertyOf, rdfs:member] :- [?x, a, rdfs:ContainerMembershipProperty] .
@id rdf1    [?p, a, rdf:Property] :- [?x, ?p, ?y] .
@id rdf4a   [?x, a, rdfs:Resource] :- [?x, ?p, ?y] .
@id rdf4b   [?y, a, rdfs:Resource] :- [?x, ?p, ?y] .
@id rdfs7b  [?a, rdfs:subClassOf, rdfs:Resource] :- [?a, a, rdfs:Class] .
"""


def facts(text: str) -> set[Triple | Fact]:
    return set(parse(PREFIX + text).facts)


def ids(name: str) -> list[str]:
    return [rule.id for rule in open_rules(name)]


def frozen(atom: object) -> Triple:
    """A ground triple of the pattern: each variable becomes a thing of its own."""
    assert isinstance(atom, TripleAtom)
    return Triple(*(NamedNode(EX + s.name) if isinstance(s, Variable) else s for s in atom.slots))  # type: ignore[arg-type]


def rules_beyond(name: str, figure: str) -> list[str]:
    """The rules of a figure whose conclusion the rule set does not draw."""
    program = open_rules(name)
    return [rule.id for rule in parse(figure) if not follows(rule, program)]


def follows(rule: Rule, program: Program) -> bool:
    premises = {frozen(atom) for atom in rule.body}
    return frozen(rule.head) in closure(program, premises | set(program.facts))


@pytest.mark.parametrize("name", PATTERNS)
def test_a_pattern_concludes_what_the_standard_says_and_nothing_else(name: str) -> None:
    premises, conclusions = PATTERNS[name]
    program = Program((open_rules("rdfs").rule(name),))
    assert closure(program, facts(premises)) == facts(premises) | facts(conclusions)


def test_rho_df_has_the_six_rules_of_its_paper() -> None:
    assert ids("rho-df") == RHO_DF


def test_rdfs_has_every_pattern_but_those_of_datatypes() -> None:
    assert ids("rdfs") == list(PATTERNS)


def test_each_rule_set_contains_the_smaller_ones() -> None:
    rho_df, rdfs, axioms = (set(open_rules(n).rules) for n in ("rho-df", "rdfs", "rdfs-axioms"))
    assert rho_df < rdfs < axioms
    assert {rule.id for rule in axioms - rdfs} == {"rdfs1", "rdfD1", "rdfD1-literals"}


def test_only_rdfs_axioms_brings_facts() -> None:
    assert not open_rules("rho-df").facts
    assert not open_rules("rdfs").facts
    triples = [fact for fact in open_rules("rdfs-axioms").facts if isinstance(fact, Triple)]
    per_number = 4
    assert len(triples) == 8 + 16 + 16 + 6 + per_number * 10


def test_a_literal_belongs_to_its_datatype_if_that_is_recognized() -> None:
    names = ("rdfs1", "rdfD1", "rdfD1-literals")
    program = Program(tuple(open_rules("rdfs-axioms").rule(name) for name in names))
    asserted = facts('[ex:s, ex:p, 5] . [ex:s, ex:p, "x"^^ex:t] . _recognized(xsd:integer) .')
    types = {terms[:1] + terms[2:] for name, terms in model(program, asserted) if RDF_TYPE in terms}
    integer = Literal(5).datatype
    assert types == {(Literal(5), integer), (integer, NamedNode(RDFS + "Datatype"))}


def test_the_rules_of_jena_in_paper_000_follow_from_rdfs() -> None:
    assert rules_beyond("rdfs", FIGURE_3) == []


def test_two_rules_of_paper_002_are_not_in_rdfs_and_one_needs_the_axioms() -> None:
    assert rules_beyond("rdfs", FIGURE_1) == ["rdfs7", "rdfs12"]
    figure = parse(FIGURE_1)
    axioms = open_rules("rdfs-axioms")
    assert follows(figure.rule("rdfs7"), axioms)
    assert not follows(figure.rule("rdfs12"), axioms)

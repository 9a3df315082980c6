"""Rules as text: what is written reads back as the same rule."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BaseDirection, BlankNode, Literal, NamedNode, Triple

from livefacts.errors import RuleError
from livefacts.language.formula import (
    AGGREGATES,
    ARITHMETIC,
    COMPARISONS,
    Aggregate,
    Arithmetic,
    Comparison,
    FunctionCall,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Program, Rule
from livefacts.language.rule_text import write_fact, write_formula, write_program, write_rule
from livefacts.model.facts import Fact, Symbol
from livefacts.model.running_totals import IN_RULES
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse, ready_names

STEADY = settings(deadline=None, derandomize=True)
XSD = "http://www.w3.org/2001/XMLSchema#"
EX = "http://example.org/"

words = st.sampled_from(["a", "b", "kitchen", "count", "_x", "Küche", "prefix", "r1", "e9"])
arities = {"p": 1, "q": 2, "alarm": 0, "prefix": 1, "datatype": 1, "_h": 3}
variables = st.sampled_from("xyz").map(Variable)
locals_ = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), max_size=5)


def _iri(text: str) -> bool:
    try:
        NamedNode(EX + text)
    except ValueError:
        return False
    return True


iris = st.one_of(
    locals_.filter(_iri).map(lambda local: NamedNode(EX + local)),
    st.sampled_from(["label", "subClassOf", "1x", "a-b", "a.b"]).map(
        lambda local: NamedNode("http://www.w3.org/2000/01/rdf-schema#" + local)
    ),
)
strings = st.text(st.characters(codec="utf-8"), max_size=6)
lexicals = st.sampled_from(
    ["1", "01", "-1", "+1", "1.", "1.50", "-.5", "1e3", "-1.E-5", "INF", "true", "x", "", " 1", "٣"]
)
datatypes = st.sampled_from(["integer", "decimal", "double", "boolean", "byte", "string"])
literals = st.one_of(
    strings.map(Literal),
    st.builds(lambda s: Literal(s, language="en-gb"), strings),
    st.builds(lambda s: Literal(s, language="ar", direction=BaseDirection.RTL), strings),
    st.builds(lambda s, d: Literal(s, datatype=NamedNode(XSD + d)), lexicals, datatypes),
    st.builds(lambda s, d: Literal(s, datatype=d), strings, iris),
)
rdf_terms = st.one_of(iris, literals, st.builds(Triple, iris, iris, iris | literals))
terms = st.one_of(rdf_terms, words.map(Symbol))
triples = st.builds(TripleAtom, variables | rdf_terms, variables | iris, variables | rdf_terms)


@st.composite
def predicates(draw: st.DrawFn) -> PredicateAtom:
    name = draw(st.sampled_from(sorted(arities)))
    return PredicateAtom(name, tuple(draw(variables | terms) for _ in range(arities[name])))


atoms = triples | predicates()
expressions = st.recursive(
    variables | terms,
    lambda inner: st.one_of(
        st.builds(Arithmetic, st.sampled_from(ARITHMETIC), inner, inner),
        st.builds(FunctionCall, st.just("datatype"), inner),
    ),
    max_leaves=6,
)
comparisons = st.builds(Comparison, expressions, st.sampled_from(COMPARISONS), expressions)
simple = st.one_of(atoms, comparisons, st.builds(Negation, atoms))


def aggregates_of(function: str) -> st.SearchStrategy[Aggregate]:
    """Aggregates with what this function lists and is told."""
    sort = IN_RULES[function]
    told = {"percent": st.sampled_from(["0", "37.5", "100"]), "separator": st.none() | st.text()}
    return st.builds(
        Aggregate,
        variables,
        st.just(function),
        st.lists(variables, min_size=sort.values, max_size=3).map(tuple),
        st.lists(simple, min_size=1, max_size=3).map(tuple),
        parameter=told.get(sort.parameter, st.none()),
    )


aggregates = st.sampled_from(AGGREGATES).flatmap(aggregates_of)
rules = st.builds(
    Rule,
    st.none() | atoms,
    st.lists(simple | aggregates, min_size=1, max_size=4).map(tuple),
    st.sampled_from(["", "", "heat", "prp-dom", "a.b"]),
)


@pytest.mark.slow
@given(rules)
@settings(STEADY, max_examples=300)
def test_a_rule_reads_back_as_it_was(rule: Rule) -> None:
    assert parse(write_rule(rule)).rules == Program().plus([rule]).rules


@pytest.mark.slow
@given(st.builds(Triple, iris, iris, rdf_terms) | st.tuples(words, st.lists(terms).map(tuple)))
@STEADY
def test_a_fact_reads_back_as_it_was(fact: Triple | tuple[str, tuple[object, ...]]) -> None:
    written = fact if isinstance(fact, Triple) else Fact(*fact)  # type: ignore[arg-type]
    assert parse(write_fact(written)).facts == (written,)


@pytest.mark.parametrize("name", ready_names())
def test_a_ready_rule_set_reads_back_as_it_was(name: str) -> None:
    program = open_rules(name)
    assert parse(write_program(program)) == program


def test_declared_prefixes_shorten_what_is_written() -> None:
    text = '@prefix ex: <http://example.org/> .\n@limit 5 .\n[?x, ex:p, "5"^^ex:t] :- q(?x) .\n'
    assert write_program(parse(text)) == text


def test_numbers_of_rules_are_not_written_and_names_are() -> None:
    text = "a :- b .\n@id named b :- c .\n"
    assert write_program(parse(text)) == text


@pytest.mark.parametrize(
    "written",
    [
        "?n = (?x + ?y) * ?x",
        "?n = ?x - (?y - ?x)",
        "?n = ?x - ?y - ?x",
        "?n = ?x / (?y * 2)",
        "?n = -1 * ?x - -2",
        "?n < datatype(?x + 1)",
    ],
)
def test_parentheses_are_written_where_they_matter(written: str) -> None:
    assert write_formula(parse(f"p :- {written} .").rules[0].body[0]) == written


def test_a_blank_node_in_a_fact_is_written_with_its_label() -> None:
    fact = Fact("p", (BlankNode("b1"),))
    text = write_fact(fact)
    assert text == "p(_:b1) ."
    assert parse(text, blank_nodes=BlankNode).facts == (fact,)


@pytest.mark.parametrize("name", ["two words", "1st", "not", "in", "", "a.b"])
def test_a_name_that_is_no_word_cannot_be_written(name: str) -> None:
    with pytest.raises(RuleError, match="cannot be written"):
        write_fact(Fact("p", (Symbol(name),)))
    with pytest.raises(RuleError, match="cannot be written"):
        write_fact(Fact(name, ()))


def test_a_rule_prints_as_its_text() -> None:
    text = "@id reach route(?x, ?z) :- road(?x, ?y), road(?y, ?z) ."
    assert str(parse(text).rules[0]) == text

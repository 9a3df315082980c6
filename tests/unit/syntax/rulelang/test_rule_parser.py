"""The rule language: texts, files and ready rule sets to programs."""

from __future__ import annotations

import gzip
import io
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.errors import (
    ArityError,
    InputError,
    RuleError,
    RuleSyntaxError,
    UnknownPrefixError,
)
from livefacts.language.formula import (
    Aggregate,
    Arithmetic,
    Comparison,
    FunctionCall,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse, ready_names

STEADY = settings(deadline=None, derandomize=True)
EX = "http://example.org/"
XSD = "http://www.w3.org/2001/XMLSchema#"
RDF_TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
PREFIX = f"@prefix ex: <{EX}> .\n"
X, Y, N = Variable("x"), Variable("y"), Variable("n")


def typed(text: str, name: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + name))


def only_rule(text: str) -> Rule:
    (rule,) = parse(text).rules
    return rule


def only_fact(text: str) -> Triple | Fact:
    (fact,) = parse(text).facts
    return fact


def body_of(text: str) -> tuple[object, ...]:
    return only_rule(f"{PREFIX} head :- {text} .").body


def test_a_predicate_rule_is_a_head_and_its_body_in_order() -> None:
    rule = only_rule("isIn(?x, ?y) :- isIn(?x, room), near(room, ?y) .")
    assert rule.head == PredicateAtom("isIn", (X, Y))
    assert rule.body == (
        PredicateAtom("isIn", (X, Symbol("room"))),
        PredicateAtom("near", (Symbol("room"), Y)),
    )


def test_a_triple_atom_takes_variables_everywhere_and_a_for_rdf_type() -> None:
    assert body_of("[?x, ?y, ?n], [?x, a, ex:Room]") == (
        TripleAtom(X, Y, N),
        TripleAtom(X, RDF_TYPE, NamedNode(EX + "Room")),
    )


def test_a_predicate_without_arguments_needs_no_parentheses() -> None:
    assert body_of("alarm, bell()") == (PredicateAtom("alarm"), PredicateAtom("bell"))


def test_false_as_head_makes_a_constraint() -> None:
    assert only_rule("false :- cat(?x), dog(?x) .").is_constraint


def test_negation_wraps_an_atom() -> None:
    assert body_of("not broken(?x), not [?x, a, ex:Room]") == (
        Negation(PredicateAtom("broken", (X,))),
        Negation(TripleAtom(X, RDF_TYPE, NamedNode(EX + "Room"))),
    )


def test_arithmetic_binds_by_strength_and_to_the_left() -> None:
    (comparison,) = body_of("?n = 1 - ?x - ?y * (2 + 3)")
    one, two, three = (typed(str(n), "integer") for n in (1, 2, 3))
    first = Arithmetic("-", one, X)
    second = Arithmetic("*", Y, Arithmetic("+", two, three))
    assert comparison == Comparison(N, "=", Arithmetic("-", first, second))


def test_a_minus_before_a_number_makes_a_negative_number() -> None:
    (comparison,) = body_of("?n = ?x - -2.50")
    assert comparison == Comparison(N, "=", Arithmetic("-", X, typed("-2.50", "decimal")))


def test_a_minus_before_anything_else_multiplies_by_minus_one() -> None:
    (comparison,) = body_of("?n = -?x")
    assert comparison == Comparison(N, "=", Arithmetic("*", typed("-1", "integer"), X))


def test_a_function_stands_in_comparisons() -> None:
    (comparison,) = body_of("datatype(?x) = xsd:integer")
    assert comparison == Comparison(FunctionCall("datatype", X), "=", NamedNode(XSD + "integer"))


def test_terms_are_compared_with_is_and_is_not() -> None:
    assert body_of("?x is ?y, ?y is  not 1, is(?x)") == (
        Comparison(X, "is", Y),
        Comparison(Y, "is not", typed("1", "integer")),
        PredicateAtom("is", (X,)),
    )


def test_a_smaller_sign_is_no_iri_where_an_operator_stands() -> None:
    assert body_of("?x<?y,?y>?x") == (Comparison(X, "<", Y), Comparison(Y, ">", X))


def test_an_aggregate_keeps_its_list_and_its_conjunction() -> None:
    (aggregate,) = body_of("?n = sum { ?x, ?y : reading(?y, ?x), ?x > 3 }")
    assert aggregate == Aggregate(
        N,
        "sum",
        (X, Y),
        (PredicateAtom("reading", (Y, X)), Comparison(X, ">", typed("3", "integer"))),
    )


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("kitchen", Symbol("kitchen")),
        ("Küche", Symbol("Küche")),
        ("01", typed("01", "integer")),
        ("-7", typed("-7", "integer")),
        ("1.80", typed("1.80", "decimal")),
        ("-.5", typed("-.5", "decimal")),
        ("1e3", typed("1e3", "double")),
        ("true", typed("true", "boolean")),
        ('"a\\"b\\n\\u00e9\\U0001F600"', Literal('a"b\né😀')),
        ("'it\\'s # no comment'", Literal("it's # no comment")),
        ('"hi"@en-GB', Literal("hi", language="en-gb")),
        ('"5"^^xsd:byte', typed("5", "byte")),
        (f'"5"^^<{XSD}byte>', typed("5", "byte")),
        ("ex:a", NamedNode(EX + "a")),
        ("ex:a.b", NamedNode(EX + "a.b")),
        ("ex:", NamedNode(EX)),
        ("ex:a\\,b", NamedNode(EX + "a,b")),
        ("rdf:type", RDF_TYPE),
        ("<urn:a#b>", NamedNode("urn:a#b")),
        ("<urn:\\u00e9>", NamedNode("urn:é")),
        (
            "<<( ex:a rdf:type 5 )>>",
            Triple(NamedNode(EX + "a"), RDF_TYPE, typed("5", "integer")),
        ),
    ],
)
def test_a_constant_keeps_its_lexical_form(text: str, term: object) -> None:
    assert only_fact(f"{PREFIX} p({text}) .") == Fact("p", (term,))


def test_a_triple_fact_is_an_rdf_triple() -> None:
    room = NamedNode(EX + "Room")
    assert only_fact(f"{PREFIX} [ex:kitchen, a, ex:Room].") == Triple(
        NamedNode(EX + "kitchen"), RDF_TYPE, room
    )


def test_a_prefix_is_declared_in_both_styles_and_counts_from_there_on() -> None:
    text = "PREFIX e: <urn:1:>\np(e:x) .\n@prefix e: <urn:2:> .\np(e:x) ."
    assert parse(text).facts == (
        Fact("p", (NamedNode("urn:1:x"),)),
        Fact("p", (NamedNode("urn:2:x"),)),
    )


def test_a_predicate_may_be_called_prefix() -> None:
    assert only_fact("prefix(x) .") == Fact("prefix", (Symbol("x"),))


def test_the_declared_prefixes_stay_with_the_program() -> None:
    assert dict(parse(PREFIX).prefixes)["ex"] == EX


def test_the_smallest_limit_counts() -> None:
    assert parse("@limit 10 . @limit 5 . @limit 7 .").limit == 5


def test_a_limit_beyond_all_numbers_is_refused() -> None:
    with pytest.raises(RuleSyntaxError, match="no limit"):
        parse(f"@limit {'9' * 5000} .")


def test_rules_are_numbered_and_named_ones_keep_their_names() -> None:
    program = parse("a :- b . @id second b :- c . c :- d .")
    assert [rule.id for rule in program] == ["r1", "second", "r2"]


def test_places_point_at_atoms_and_variables_in_their_line() -> None:
    rule = parse("# first\nhot(?s) :-\n    reading(?s, 90) .", "my.rules").rules[0]
    atom = rule.body[0]
    assert isinstance(atom, PredicateAtom)
    variable = atom.arguments[0]
    assert isinstance(variable, Variable)
    assert [str(part.place) for part in (rule, atom, variable)] == [
        "my.rules:2:1",
        "my.rules:3:5",
        "my.rules:3:13",
    ]
    assert atom.place.text == "    reading(?s, 90) ."


def test_places_count_on_behind_plain_facts() -> None:
    facts = "".join(f"edge({n}, {n + 1}) .\n" for n in range(3000))
    with pytest.raises(RuleSyntaxError) as caught:
        parse(f"{facts}p(?x) :- edge(?x ?y) .\n{facts}")
    place = caught.value.place
    assert place is not None
    assert (place.line, place.column) == (3001, 18)


def test_a_byte_order_mark_and_windows_line_ends_do_no_harm() -> None:
    program = parse('\ufeffp("x") .\r\nq(a) .\r\nr :- p(?x).\r\n')
    assert len(program.facts) == 2
    assert program.rules[0].place.text == "r :- p(?x)."


def test_the_last_line_of_a_rule_is_no_fact() -> None:
    program = parse("p :-\n  q,\n  edge(a, b) .\nedge(c, d) .")
    assert program.facts == (Fact("edge", (Symbol("c"), Symbol("d"))),)


def test_plain_facts_with_another_number_of_arguments_are_refused() -> None:
    with pytest.raises(ArityError, match="edge has 3 arguments here and 2 arguments at t:1:3"):
        parse("  edge(a, b) .\n edge(a, b, c) .", "t")


def test_a_blank_node_in_a_fact_is_made_by_the_caller() -> None:
    program = parse("p(_:x, <<( _:x rdf:type _:y )>>) .", blank_nodes=lambda s: BlankNode("f1" + s))
    x, y = BlankNode("f1x"), BlankNode("f1y")
    assert program.facts == (Fact("p", (x, Triple(x, RDF_TYPE, y))),)


@pytest.mark.parametrize("text", ["p(_:x) .\nq :- p(_:x) .", "p(_:x) :- q ."])
def test_a_blank_node_in_a_rule_is_refused_always(text: str) -> None:
    with pytest.raises(RuleSyntaxError, match="blank node _:x cannot stand here"):
        parse(text, blank_nodes=BlankNode)


def test_an_expression_of_ten_thousand_parts_is_refused_not_a_crash() -> None:
    with pytest.raises(RuleSyntaxError, match="nested too deeply"):
        parse(f"p(?n) :- q(?x), ?n = {'?x + ' * 10_000} 1 .")
    with pytest.raises(RuleSyntaxError, match="nested too deeply"):
        parse(f"p(?n) :- q(?x), ?n = {'- ' * 10_000} ?x .")


LINES = st.sampled_from(
    [
        "edge(a, b) .",
        " edge( c,-1 ) . ",
        "edge(a, 'x') .",
        "p :-",
        "  edge(a, b),",
        "  edge(01, b) .",
        "  edge(x, y) . edge(y, z) .",
        "# edge(no, fact) .",
        "PREFIX ex: <http://example.org/#>",
        "@prefix ex: <http://example.org/#> .",
        "",
        "edge(not, b) .",
        "edge(true, b) .",
        "p .",
    ]
)


@given(st.lists(LINES, max_size=12))
@STEADY
@example(["p :-", "# a comment.", "edge(a, b) ."])
def test_plain_facts_are_read_as_the_grammar_reads_them(lines: list[str]) -> None:
    """A `#` behind every line sends all of them through the grammar, in one block."""
    assert outcome("\n".join(lines)) == outcome("\n".join(f"{line} #" for line in lines))


def outcome(text: str) -> object:
    """The program, or the error with its place."""
    error = error_in(text)
    if error is None:
        return parse(text)
    assert error.place is not None
    return type(error), error.message, error.place.line, error.place.column


def error_in(text: str) -> RuleError | None:
    try:
        parse(text)
    except RuleError as error:
        return error
    return None


GOOD = (Path(__file__).parents[3] / "golden/rules/good-language/program.rules").read_text("utf-8")


@given(
    st.integers(0, len(GOOD)),
    st.integers(0, 8),
    st.text("?:.,-<>=()[]{}@#\"'\\^_ \n5aé", max_size=4),
)
@STEADY
def test_any_damage_to_a_text_is_read_or_refused_with_a_place(at: int, cut: int, put: str) -> None:
    damaged = GOOD[:at] + put + GOOD[at + cut :]
    error = error_in(damaged)
    if error is not None:
        assert error.place is not None
        assert error.place.text in damaged
        assert 1 <= error.place.column <= len(error.place.text) + 1
        assert not error.message.startswith((" ", "was"))


def test_ready_rule_sets_are_opened_by_name() -> None:
    assert ready_names() == (
        "owl-datatypes",
        "owl-eq-ref",
        "owl-rl",
        "owl-same-as",
        "rdfs",
        "rdfs-axioms",
        "rho-df",
    )
    assert len(open_rules("rho-df")) == 6


@pytest.mark.parametrize(("name", "meant"), [("rdsf", "rdfs"), ("OWL-RL", "owl-rl")])
def test_a_wrong_name_suggests_the_nearest_ready_set(name: str, meant: str) -> None:
    with pytest.raises(RuleError, match=f"no rule set and no file called {name}") as caught:
        open_rules(name)
    assert f"did you mean {meant}?" in caught.value.hint


def test_a_path_is_read_and_named_in_errors(tmp_path: Path) -> None:
    path = tmp_path / "mine.rules"
    path.write_text("p :- q(\n", "utf-8")
    with pytest.raises(RuleSyntaxError) as caught:
        open_rules(str(path))
    assert caught.value.place is not None
    assert caught.value.place.file == str(path)


def test_a_file_of_any_name_is_read_if_it_exists(tmp_path: Path) -> None:
    path = tmp_path / "rules (1)"
    path.write_text("p :- q .", "utf-8")
    assert open_rules(str(path)) == open_rules(path) == parse("p :- q .")


@pytest.mark.parametrize("text", ["p :- q .", "p(a) .", "p .", "p.", "@limit 5 .", "", "\n"])
def test_rule_text_is_taken_as_text(text: str) -> None:
    assert open_rules(text) == parse(text)


def test_a_missing_file_is_an_input_error() -> None:
    with pytest.raises(InputError, match=r"there is no file no-such\.rules"):
        open_rules("no-such.rules")
    with pytest.raises(InputError, match=r"there is no file no-such\.rules\.gz"):
        open_rules("no-such.rules.gz")
    with pytest.raises(InputError, match="there is no file no-such-file"):
        open_rules(Path("no-such-file"))


def test_a_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        open_rules(tmp_path)


def test_a_packed_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.rules.gz"
    path.write_bytes(gzip.compress(b"p :- q ."))
    assert open_rules(str(path)) == parse("p :- q .")


def test_standard_input_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"p :- q(")))
    with pytest.raises(RuleSyntaxError, match="ends too early") as caught:
        open_rules("-")
    assert str(caught.value.place) == "<stdin>:1:8"


def test_a_file_that_is_not_utf8_is_an_input_error_with_the_place(tmp_path: Path) -> None:
    path = tmp_path / "latin.rules"
    path.write_bytes(b"p(a) .\np('\xe9') .\n")
    with pytest.raises(InputError, match="UTF-8") as caught:
        open_rules(path)
    assert str(caught.value.place) == f"{path}:2:4"


def test_a_very_long_name_is_no_rule_set() -> None:
    with pytest.raises(RuleError, match="no rule set"):
        open_rules("x" * 10_000)


def test_a_program_is_opened_as_it_is() -> None:
    program = parse("p :- q .")
    assert open_rules(program) is program


def test_a_list_is_joined_and_numbered_anew() -> None:
    program = open_rules(["p :- q .", parse("q :- r . p :- q . s(a) ."), "rho-df"])
    assert [rule.id for rule in program][:3] == ["r1", "r2", "rdfs2"]
    assert program.facts == (Fact("s", (Symbol("a"),)),)


def test_an_unknown_prefix_suggests_a_near_one() -> None:
    with pytest.raises(UnknownPrefixError) as caught:
        parse("p(rfds:label) .")
    assert "did you mean rdfs:?" in caught.value.hint


def test_the_parser_generator_is_loaded_only_when_rules_are_read() -> None:
    code = "import sys, livefacts.syntax.rule_sets; sys.exit('lark' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

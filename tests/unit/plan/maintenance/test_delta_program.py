"""Maintenance programs: names, what is beyond the papers, and what is refused."""

from __future__ import annotations

import pytest
from tests.oracle import model

import livefacts as lf
from livefacts.model.facts import Fact
from livefacts.plan.maintenance.delta_program import maintenance
from livefacts.plan.maintenance.rewrite import names_for
from livefacts.syntax.rulelang.rule_parser import parse


def changed(rules: str, facts: str, add: str = "", remove: str = "") -> tuple[set[str], set[str]]:
    """Plus and Minus, found by the oracle."""
    reasoner = lf.Reasoner(rules)
    reasoner.add(facts)
    made = lf.maintenance_program(rules)
    inputs = made.inputs(reasoner, reasoner.facts(derived=False), add=add, remove=remove)
    added, removed = made.outcome(Fact(*row) for row in model(made.program, inputs))
    return set(map(str, added)), set(map(str, removed))


class TestNames:
    """What predicates are called."""

    @pytest.mark.parametrize(
        ("rules", "triple", "separator"),
        [
            ("p(?x) :- q(?x) .", "t", "_"),
            ("t(?x) :- q(?x) .", "triple", "_"),
            ("t(?x) :- triple(?x), triples(?x) .", "t1", "_"),
            ("p(?x) :- p_del(?x) .", "t", "__"),
            ("p(?x) :- p_ext_new(?x), p__red(?x) .", "t", "___"),
            ("p(?x) :- rows_of_wheat(?x) .", "t", "__"),
            ("p(?x) :- not_del(?x) .", "t", "_"),
        ],
    )
    def test_a_name_that_is_taken_is_not_given(
        self, rules: str, triple: str, separator: str
    ) -> None:
        names = names_for(parse(rules))
        assert (names.triple, names.separator) == (triple, separator)

    def test_a_rule_may_be_called_as_a_rule_of_the_rewriting(self) -> None:
        made = maintenance(parse("@id p.ext  p(?x) :- q(?x) ."))
        ids = [rule.id for rule in made.rules]
        assert len(ids) == len(set(ids))

    def test_constants_name_the_parts_of_a_split_relation(self) -> None:
        rules = parse("""
            @prefix ex: <http://example.org/> .
            [?x, a, ex:Cat] :- [?x, a, ex:Pet], [?x, ex:says, "meow!"], not kind(?x, dog) .
        """)
        names = names_for(rules, split=True)
        assert {part.name for part in names.parts} == {
            "t_type_Cat",
            "t_type_Pet",
            "t_says_meow",
            "kind_dog",
        }

    def test_parts_whose_constants_end_alike_have_different_names(self) -> None:
        rules = parse("[?x, <http://a/p>, ?y] :- [?x, <http://b/p>, ?y] .")
        parts = names_for(rules, split=True).parts
        assert len({part.name for part in parts}) == 2

    def test_a_relation_with_a_variable_in_that_place_is_not_split(self) -> None:
        rules = parse("[?x, <http://a/p>, ?y] :- [?x, ?q, ?y] .")
        assert names_for(rules, split=True).parts == ()


class TestBeyondThePaper:
    """Negation, aggregates and computed values."""

    def test_what_a_negated_predicate_gains_takes_a_conclusion_away(self) -> None:
        rules = "free(?x) :- room(?x), not taken(?x) . taken(?x) :- guest(?g, ?x) ."
        facts = "room(a) . room(b) . guest(ann, a) ."
        change = changed(rules, facts, add="guest(ben, b) .", remove="guest(ann, a) .")
        assert change == (
            {"guest(ben, b)", "taken(b)", "free(a)"},
            {"guest(ann, a)", "taken(a)", "free(b)"},
        )

    def test_telling_again_what_is_negated_ends_nothing(self) -> None:
        rules = "free(?x) :- room(?x), not taken(?x) ."
        assert changed(rules, "room(a) . taken(a) .", add="taken(a) .") == (set(), set())

    def test_an_aggregate_is_compared_with_what_it_was(self) -> None:
        rules = "full(?r, ?n) :- size(?r, ?n), ?n = count { ?p : inside(?p, ?r) } ."
        facts = "size(hall, 2) . size(roof, 1) . inside(ann, hall) . inside(ben, roof) ."
        change = changed(rules, facts, add="inside(cleo, hall) .", remove="inside(ben, roof) .")
        assert change == (
            {"inside(cleo, hall)", "full(hall, 2)"},
            {"inside(ben, roof)", "full(roof, 1)"},
        )

    def test_a_computed_value_rederives_itself_and_no_other_way_to_write_it(self) -> None:
        """`01` was told and `1` is computed: beside an atom, `=` would take one for the other."""
        rules = "next(?y) :- number(?x), ?y = ?x + 1 ."
        facts = 'number(0) . next("01"^^xsd:integer) .'
        _, removed = changed(rules, facts, remove='next("01"^^xsd:integer) .')
        (gone,) = removed
        assert "01" in gone

    def test_a_computed_value_that_is_negated_is_looked_up_as_a_term(self) -> None:
        rules = "open(?y) :- number(?x), ?y = ?x + 1, not shut(?y) ."
        assert changed(rules, "number(0) .", add='shut("01"^^xsd:integer) .')[1] == set()
        assert changed(rules, "number(0) .", add="shut(1) .")[1] == {"open(1)"}

    def test_constraints_are_left_out(self) -> None:
        rules = maintenance(parse("false :- p(?x), q(?x) . p(?x) :- r(?x) .")).rules
        assert not any(rule.is_constraint or "q" in str(rule.head) for rule in rules)

    def test_a_program_that_only_constants_stratify_is_split(self) -> None:
        rules = """
            @prefix ex: <http://example.org/> .
            [?x, a, ex:Free] :- [?x, a, ex:Room], not [?x, a, ex:Taken] .
        """
        x = "[<http://example.org/x>, a, <http://example.org/{}>] ."
        added, removed = changed(rules, x.format("Room"), add=x.format("Taken"))
        assert [fact.rpartition("/")[2] for fact in (*added, *removed)] == ["Taken>", "Free>"]


class TestRefusals:
    """What cannot be rewritten, and why."""

    def test_a_variable_predicate_over_negated_triples_is_refused(self) -> None:
        rules = """
            @prefix ex: <http://example.org/> .
            [?x, a, ex:Free] :- [?x, a, ex:Room], not [?x, a, ex:Taken] .
            known(?p) :- [?x, ?p, ?y] .
        """
        with pytest.raises(lf.RuleError, match="variable predicate") as caught:
            lf.maintenance_program(rules)
        assert "predicate of its own" in caught.value.hint

    def test_an_unknown_kind_is_named(self) -> None:
        with pytest.raises(ValueError, match="dred, stream"):
            lf.maintenance_program("p(?x) :- q(?x) .", "counting")

    def test_a_stream_program_follows_no_change_of_rules(self) -> None:
        with pytest.raises(lf.RuleError, match="not changes of rules"):
            lf.maintenance_program("p(?x) :- q(?x) .", "stream", add_rules="p(?x) :- r(?x) .")

    def test_a_rule_that_is_not_there_cannot_go(self) -> None:
        with pytest.raises(lf.RuleError, match="there is no rule r7"):
            lf.maintenance_program("p(?x) :- q(?x) .", remove_rules="r7")

    def test_a_program_that_is_not_in_order_is_refused_before_it_is_rewritten(self) -> None:
        with pytest.raises(lf.UnstratifiedError):
            lf.maintenance_program("p(?x) :- q(?x), not p(?x) .")

    def test_expiring_facts_are_written_and_not_filled_in(self) -> None:
        made = lf.maintenance_program("p(?x) :- q(?x) .", "stream")
        with pytest.raises(ValueError, match="time point"):
            made.inputs([], [])


def test_what_was_never_told_can_be_removed_without_effect() -> None:
    assert changed("p(?x) :- q(?x) .", "q(a) .", remove="p(a) . q(b) . p(c) .") == (set(), set())


def test_the_limit_of_a_program_is_that_of_its_maintenance_program() -> None:
    made = lf.maintenance_program("@limit 50 . p(?y) :- p(?x), ?y = ?x + 1 .")
    assert parse(str(made)).limit == made.program.limit == 50

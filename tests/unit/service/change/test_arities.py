import pytest

import livefacts as lf
from livefacts import ArityError, Fact

RULES = "p(?x, ?y) :- q(?x, ?y) ."


@pytest.fixture
def reasoner() -> lf.Reasoner:
    return lf.Reasoner(rules=RULES)


@pytest.mark.parametrize(
    "facts",
    [
        [("q", "a")],
        "q(b) .",
        "q(b, c, d) .",
        Fact("q", ("a", "b", "c", "d")),
        "q .",
        [("q", f"s{n}") for n in range(100)],
    ],
)
def test_a_fact_with_another_number_of_arguments_than_the_rules_is_refused(
    reasoner: lf.Reasoner, facts: object
):
    with pytest.raises(ArityError, match=r"q has .* in q.* and 2 arguments at <text>:1:14"):
        reasoner.add(facts)
    assert len(reasoner) == 0


def test_a_refused_fact_is_shown():
    reasoner = lf.Reasoner(rules=RULES)
    facts = [("r", f"s{n}") for n in range(90)] + [("q", "late")]
    with pytest.raises(ArityError, match=r"q has 1 argument in q\(late\) and 2 arguments"):
        reasoner.add(facts)


def test_patches_previews_and_files_are_checked_too(reasoner: lf.Reasoner, tmp_path):
    with pytest.raises(ArityError):
        reasoner.apply(patch="A q(b) .")
    with pytest.raises(ArityError):
        reasoner.preview(add="q(b) .")
    file = tmp_path / "facts.rules"
    file.write_text("q(b) .")
    with pytest.raises(ArityError):
        reasoner.load(file)


def test_facts_of_streams_are_checked(reasoner: lf.Reasoner):
    with pytest.raises(ArityError, match=r"q has 1 argument in q\(a\)"):
        reasoner.push("q(a) .", at=1)
    reasoner.push("q(a, b) .", at=1)


def test_facts_without_rules_agree_with_each_other():
    reasoner = lf.Reasoner()
    with pytest.raises(ArityError, match="in other facts"):
        reasoner.add([("hot", "kitchen"), ("hot", "kitchen", 3)])
    reasoner.add("hot(kitchen) .")
    with pytest.raises(ArityError, match=r"hot has 2 arguments in hot.* and 1 argument in other"):
        reasoner.add("hot(kitchen, 3) .")


def test_a_name_is_free_again_when_its_last_fact_has_gone():
    reasoner = lf.Reasoner()
    reasoner.add("hot(kitchen) . hot(cellar) .")
    reasoner.remove("hot(kitchen) .")
    with pytest.raises(ArityError):
        reasoner.add("hot(kitchen, 3) .")
    reasoner.apply(remove="hot(cellar) .", add="hot(kitchen, 3) .")
    with pytest.raises(ArityError):
        reasoner.add("hot(kitchen) .")
    assert Fact("hot", ("kitchen", 3)) in reasoner


def test_rules_agree_with_the_asserted_facts():
    reasoner = lf.Reasoner()
    reasoner.add("q(a) .")
    with pytest.raises(ArityError, match="q has 2 arguments here and 1 argument in asserted facts"):
        reasoner.add_rules(RULES)
    assert not reasoner.rules
    reasoner.add("q(b) .")
    reasoner.apply(remove="q(a) . q(b) .", add_rules=RULES, add="q(a, b) .")
    assert Fact("p", ("a", "b")) in reasoner


def test_a_name_is_free_again_when_its_rules_have_gone(reasoner: lf.Reasoner):
    reasoner.apply(remove_rules=RULES, add="q(a) .")
    assert Fact("q", ("a",)) in reasoner

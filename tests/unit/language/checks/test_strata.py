"""Strata, against a plain twin that compares every head with every body atom."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from livefacts.errors import UnstratifiedError
from livefacts.language.checks.strata import Strata, body_atoms, stratify
from livefacts.language.formula import Atom, PredicateAtom, TripleAtom, Variable
from livefacts.language.program import Program, Rule
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse

STEADY = settings(deadline=None, derandomize=True)
PREFIX = "@prefix ex: <http://example.org/> .\n"


def ids(groups: tuple[tuple[Rule, ...], ...]) -> list[str]:
    return [" ".join(rule.id for rule in rules) for rules in groups]


def strata_of(text: str) -> Strata:
    return stratify(parse(PREFIX + text).rules)


def test_a_program_without_negation_has_one_level() -> None:
    assert ids(stratify(open_rules("rdfs").rules).levels) == [
        "rdfD2 rdfs2 rdfs3 rdfs4a rdfs4b rdfs5 rdfs6 rdfs7 rdfs8 rdfs9 rdfs10 rdfs11 rdfs12 rdfs13"
    ]


def test_no_rules_have_no_levels() -> None:
    assert stratify(()) == Strata((), (), {})


def test_negation_and_aggregates_raise_the_level_and_nothing_else_does() -> None:
    strata = strata_of(
        "a :- b . b :- not c . c :- d . e :- a, not f . g(?n) :- ?n = count { ?x : h(?x), e } ."
    )
    assert ids(strata.levels) == ["r3", "r1 r2 r4", "r5"]


def test_what_no_rule_concludes_is_complete_from_the_start() -> None:
    strata = strata_of("a :- not b . c(?n) :- ?n = count { ?x : d(?x) } . e :- not a .")
    assert ids(strata.levels) == ["r1 r2", "r3"]


def test_components_come_after_what_they_depend_on() -> None:
    strata = strata_of("c :- b . b :- a, d . d :- b . a :- e .")
    assert ids(strata.components) == ["r4", "r2 r3", "r1"]


def test_a_constant_keeps_rules_apart() -> None:
    strata = strata_of("[?x, a, ex:Dog] :- [?x, a, ex:Animal], not [?x, a, ex:Cat] .")
    assert ids(strata.levels) == ["r1"]


def test_a_constant_in_any_place_of_a_predicate_keeps_rules_apart() -> None:
    strata = strata_of("state(?x, off) :- thing(?x), not state(?x, on) .")
    assert not strata.is_recursive(strata.levels[0][0])


def test_a_variable_predicate_meets_every_triple() -> None:
    with pytest.raises(UnstratifiedError):
        strata_of("[?x, ?p, ex:b] :- [?p, ex:of, ?x], not [?x, ex:c, ?p] .")


def test_triples_and_predicates_of_three_have_nothing_in_common() -> None:
    strata = strata_of("[?x, ?y, ?z] :- t(?x, ?y, ?z) . t(?x, ?y, ?z) :- [?x, ?y, ?z] .")
    assert ids(strata.components) == ["r1 r2"]
    assert not strata_of("t(?x, ?y, ?z) :- [?x, ?y, ?z] .").components[0][1:]


def test_a_rule_is_recursive_when_it_feeds_itself_through_others() -> None:
    strata = strata_of("a(?x) :- b(?x) . b(?x) :- a(?x), c(?x) . c(?x) :- d(?x) . d(?x) :- d(?x) .")
    recursive = [rule.id for level in strata.levels for rule in level if strata.is_recursive(rule)]
    assert recursive == ["r1", "r2", "r4"]
    assert strata.recursive_atoms(strata.components[-1][1]) == (
        PredicateAtom("a", (Variable("x"),)),
    )


def test_a_constraint_may_negate_anything() -> None:
    strata = strata_of("p(?x) :- q(?x) . false :- q(?x), not p(?x) .")
    assert ids(strata.levels) == ["r1", "r2"]


def test_the_cycle_is_shown_rule_by_rule_from_its_negation_on() -> None:
    with pytest.raises(UnstratifiedError) as caught:
        strata_of("x :- a . a :- b, c . b :- d, not e . e :- f . f :- a .")
    shown = [line.split(":")[0].strip() for line in caught.value.message.split("\n")[1:]]
    assert shown == ["r3", "r2", "r5", "r4"]


SLOTS = st.sampled_from(["?x", "?y", "ex:a", "ex:b"])
ATOMS = st.one_of(
    st.tuples(SLOTS, SLOTS, SLOTS).map(lambda slots: f"[{', '.join(slots)}]"),
    st.tuples(SLOTS, SLOTS).map(lambda slots: f"p({', '.join(slots)})"),
    SLOTS.map(lambda slot: f"q({slot})"),
)
FORMULAS = st.one_of(
    ATOMS,
    ATOMS,
    ATOMS.map(lambda atom: f"not {atom}"),
    ATOMS.map(lambda atom: f"?n = count {{ ?x : {atom}, not q(ex:a) }}"),
)
RULES = st.tuples(ATOMS | st.just("false"), st.lists(FORMULAS, min_size=1, max_size=2)).map(
    lambda rule: f"{rule[0]} :- {', '.join(rule[1])} ."
)
PROGRAMS = st.lists(RULES, max_size=7).map(lambda rules: parse(PREFIX + "\n".join(rules)))


def meets(head: Atom, atom: Atom) -> bool:
    if isinstance(head, TripleAtom) != isinstance(atom, TripleAtom):
        return False
    if len(head.slots) != len(atom.slots):
        return False
    pairs = zip(head.slots, atom.slots, strict=True)
    return all(a == b or isinstance(a, Variable) or isinstance(b, Variable) for a, b in pairs)


def dependencies(program: Program) -> set[tuple[int, int, bool]]:
    """(rule, rule that depends on it, whether on its complete answer)."""
    return {
        (i, j, completely)
        for i, one in enumerate(program.rules)
        for j, other in enumerate(program.rules)
        for atom, completely in body_atoms(other.body)
        if one.head is not None and meets(one.head, atom)
    }


def closure(pairs: set[tuple[int, int]]) -> set[tuple[int, int]]:
    while True:
        more = {(a, d) for a, b in pairs for c, d in pairs if b == c} | pairs
        if more == pairs:
            return pairs
        pairs = more


def least_levels(edges: set[tuple[int, int, bool]], size: int) -> list[int]:
    level = [0] * size
    for _ in range(size * size + 1):
        for i, j, completely in edges:
            level[j] = max(level[j], level[i] + completely)
    return level


@given(PROGRAMS)
@STEADY
def test_levels_components_and_recursion_are_those_of_the_plain_twin(program: Program) -> None:
    edges = dependencies(program)
    reach = closure({(i, j) for i, j, _ in edges})
    if any(completely and (i == j or (j, i) in reach) for i, j, completely in edges):
        with pytest.raises(UnstratifiedError):
            stratify(program.rules)
        return
    strata = stratify(program.rules)
    number = {rule: n for n, rule in enumerate(program.rules)}
    levels = {number[r]: n for n, rules in enumerate(strata.levels) for r in rules}
    assert [levels[n] for n in range(len(program))] == least_levels(edges, len(program))
    assert {number[r] for r in program if strata.is_recursive(r)} == {i for i, j in reach if i == j}
    position = {number[r]: n for n, rules in enumerate(strata.components) for r in rules}
    for i in range(len(program)):
        for j in range(len(program)):
            together = i == j or ((i, j) in reach and (j, i) in reach)
            assert (position[i] == position[j]) == together
    assert all(position[i] <= position[j] for i, j in reach)


@pytest.mark.slow
def test_the_graph_of_many_patterns_stays_small() -> None:
    """Every head meets every body here: ten million pairs, which must not be listed."""
    heads = "".join(f"[?x, ex:p{n}, ?y] :- [?x, ex:q{n}, ?y] .\n" for n in range(3000))
    bodies = "".join(f"q{n}(?x) :- [?x, ?p, ex:o{n}] .\n" for n in range(3000))
    assert len(strata_of(heads + bodies).levels) == 1

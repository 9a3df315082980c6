"""Random rules, written as other systems write them, follow as what they were written from.

A rule is made as data, written in the language of another system by the few lines below, read
back, and its conclusions over random facts are compared with those of the rule as ours write it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

import pytest
from pyoxigraph import RdfFormat, Triple
from pyoxigraph import parse as parse_rdf
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.syntax.foreign_rules.dialects import dialect_of, read_foreign

SEEDS = 15
EX = "http://example.org/"
TYPE = "a"
Term = str
Atom = tuple[Term, Term, Term]
PREFIX = {
    "shacl": f"PREFIX ex: <{EX}>\n",
    "n3": f"@prefix ex: <{EX}> .\n@prefix math: <http://www.w3.org/2000/10/swap/math#> .\n"
    "@prefix log: <http://www.w3.org/2000/10/swap/log#> .\n",
    "jena": f"@prefix ex: <{EX}> .\n",
    "datalog": f"@prefix ex: <{EX}> .\n",
}
NEGATED = {"=": "!=", "!=": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
N3_TESTS = {
    "=": "math:equalTo",
    "!=": "math:notEqualTo",
    "<": "math:lessThan",
    ">=": "math:notLessThan",
    ">": "math:greaterThan",
    "<=": "math:notGreaterThan",
}
JENA_TESTS = {
    "=": "equal",
    "!=": "notEqual",
    "<": "lessThan",
    ">=": "ge",
    ">": "greaterThan",
    "<=": "le",
}
SUMS = {
    "+": ("math:sum", "sum"),
    "-": ("math:difference", "difference"),
    "*": ("math:product", "product"),
}


@dataclass(frozen=True)
class Made:
    """A rule as data: heads, atoms, tests, sums, and what must not be there."""

    heads: Sequence[Atom]
    atoms: Sequence[Atom]
    tests: Sequence[tuple[Term, str, Term]] = ()
    sums: Sequence[tuple[Term, Term, str, Term]] = ()
    missing: Sequence[Sequence[Atom]] = ()


def a_rule(random: Random, language: str) -> Made:
    """A rule that concludes only what no premise can need but the positive ones."""
    variables = ["?x", "?y", "?z"][: random.randint(1, 3)]

    def a_term(constants: float) -> Term:
        return (
            f"ex:{random.choice('abc')}"
            if random.random() < constants
            else random.choice(variables)
        )

    def a_premise() -> Atom:
        if random.random() < 0.3:
            return a_term(0.1), TYPE, f"ex:{random.choice('CD')}"
        return a_term(0.1), f"ex:{random.choice(['p', 'q', 'new0', 'new1'])}", a_term(0.2)

    atoms = [a_premise() for _ in range(random.randint(1, 3))]
    bound = sorted({term for atom in atoms for term in atom if term[0] == "?"})
    if not bound:
        return a_rule(random, language)
    number = f"ex:value{random.randrange(2)}"
    tests, sums = [], []
    if random.random() < 0.5:
        atoms.append((random.choice(bound), number, "?v"))
        tests.append(("?v", random.choice([*NEGATED]), str(random.randint(0, 9))))
        if random.random() < 0.5:
            sums.append(("?w", "?v", random.choice([*SUMS]), str(random.randint(1, 3))))
    missing = []
    if random.random() < 0.5 and language != "n3":
        # No rule concludes these: the program is stratified.
        group = [(random.choice(bound), "ex:told", random.choice([*bound, "?other", "ex:a"]))]
        if language in ("shacl", "datalog") and random.random() < 0.5:
            group.append((random.choice([*bound, "?other"]), TYPE, "ex:Told"))
        missing.append(group)
    known = [*bound, *(total[0] for total in sums)]
    heads = [
        (
            random.choice(bound),
            f"ex:{random.choice(['new0', 'new1'])}",
            random.choice([*bound, "ex:b"]),
        )
        for _ in range(random.randint(1, 2))
    ]
    if sums and random.random() < 0.7:
        heads.append((random.choice(bound), "ex:counted", known[-1]))
    return Made(heads, atoms, tests, sums, missing)


def in_ours(rules: Sequence[Made]) -> str:
    """The rules in the rule language; a negated group is a predicate."""
    lines = [f"@prefix ex: <{EX}> ."]
    for number, rule in enumerate(rules):
        body = [f"[{', '.join(atom)}]" for atom in rule.atoms]
        bound = sorted({term for atom in rule.atoms for term in atom if term[0] == "?"})
        body += [f"{result} = {left} {sign} {right}" for result, left, sign, right in rule.sums]
        body += [" ".join(test) for test in rule.tests]
        for place, group in enumerate(rule.missing):
            inside = sorted({t for atom in group for t in atom if t in bound})
            name = f"_there{number}_{place}" + (f"({', '.join(inside)})" if inside else "")
            inner = [f"[{', '.join(atom)}]" for atom in group]
            lines.append(f"{name} :- {', '.join(inner)} .")
            body.append(f"not {name}")
        lines += [f"[{', '.join(head)}] :- {', '.join(body)} ." for head in rule.heads]
    return "\n".join(lines)


def in_shacl(rule: Made, random: Random) -> str:
    def triples(atoms: Sequence[Atom]) -> str:
        return " . ".join(map(" ".join, atoms))

    body = [triples(rule.atoms), *(f"FILTER({' '.join(test)})" for test in rule.tests)]
    body += [f"SET({result} := {left} {sign} {right})" for result, left, sign, right in rule.sums]
    body += [f"NOT {{ {triples(group)} }}" for group in rule.missing]
    if random.random() < 0.5:
        return f"IF {{ {' '.join(body)} }} THEN {{ {triples(rule.heads)} }}"
    return f"RULE {{ {triples(rule.heads)} }} WHERE {{ {' '.join(body)} }}"


def in_n3(rule: Made, random: Random) -> str:
    body = [*map(" ".join, rule.atoms)]
    body += [
        f"({left} {right}) {SUMS[sign][0]} {result}" for result, left, sign, right in rule.sums
    ]
    body += [f"{left} {N3_TESTS[sign]} {right}" for left, sign, right in rule.tests]
    heads = " . ".join(map(" ".join, rule.heads))
    if random.random() < 0.5:
        return f"{{ {heads} }} <= {{ {' . '.join(body)} }} ."
    return f"{{ {' . '.join(body)} . }} => {{ {heads} . }} ."


def in_jena(rule: Made, random: Random) -> str:
    def triple(atom: Atom) -> str:
        return f"({' '.join('rdf:type' if term == TYPE else term for term in atom)})"

    body = [*map(triple, rule.atoms)]
    body += [
        f"{SUMS[sign][1]}({left}, {right}, {result})" for result, left, sign, right in rule.sums
    ]
    body += [f"{JENA_TESTS[sign]}({left}, {right})" for left, sign, right in rule.tests]
    body += [f"noValue({', '.join(atom)})" for group in rule.missing for atom in group]
    heads = " ".join(map(triple, rule.heads))
    if random.random() < 0.3:
        return f"[{heads} <- {' '.join(body)}]"
    return f"[{random.choice(['', 'name: '])}{' '.join(body)} -> {heads}]"


def in_datalog(rule: Made, random: Random) -> str:
    def atom(triple: Atom) -> str:
        if triple[1] == TYPE:
            return f"{triple[2]}[{triple[0]}]"
        if random.random() < 0.5:
            return f"{triple[1]}[{triple[0]}, {triple[2]}]"
        return f"[{', '.join(triple)}]"

    bound = {term for each in rule.atoms for term in each}
    body = [*map(atom, rule.atoms)]
    body += [f"BIND({left} {sign} {right} AS {result})" for result, left, sign, right in rule.sums]
    body += [f"FILTER({' '.join(test)})" for test in rule.tests]
    for group in rule.missing:
        own = sorted({t for each in group for t in each if t[0] == "?" and t not in bound})
        inside = ", ".join(map(atom, group))
        body.append(f"NOT EXISTS {', '.join(own)} IN ({inside})" if own else f"NOT ({inside})")
    return f"{', '.join(map(atom, rule.heads))} :- {', '.join(body)} ."


WRITERS: dict[str, Callable[[Made, Random], str]] = {
    "shacl": in_shacl,
    "n3": in_n3,
    "jena": in_jena,
    "datalog": in_datalog,
}


def random_facts(random: Random) -> list[Triple]:
    lines = [f"PREFIX ex: <{EX}>"]
    for _ in range(random.randint(5, 25)):
        subject = f"ex:{random.choice('abc')}"
        predicate = random.choice(["a", "ex:p", "ex:q", "ex:value0", "ex:value1", "ex:told"])
        value = f"ex:{random.choice('abc')}"
        if predicate == "a":
            value = random.choice(["ex:C", "ex:D", "ex:Told"])
        elif "value" in predicate:
            value = str(random.randint(0, 9))
        lines.append(f"{subject} {predicate} {value} .")
    return [quad.triple for quad in parse_rdf("\n".join(lines), format=RdfFormat.TURTLE)]


def check(language: str, seed: int) -> None:
    random = Random(f"{language}-{seed}")
    rules = [a_rule(random, language) for _ in range(random.randint(1, 4))]
    text = PREFIX[language] + "\n".join(WRITERS[language](rule, random) for rule in rules)
    recognised = dialect_of(text)
    # What RDFox writes as we do is ours.
    assert recognised in ({None, language} if language == "datalog" else {language}), text
    found = read_foreign(text, language)
    assert found.refused == (), text
    facts = random_facts(random)
    theirs, ours = lf.Reasoner(rules=found.program), lf.Reasoner(rules=in_ours(rules))
    theirs.add(facts[::2])
    theirs.add(facts[1::2])
    ours.add(facts)
    assert set(theirs.facts()) == set(ours.facts()), f"{text}\n\n{in_ours(rules)}"
    theirs.remove(facts[::3])
    ours.remove(facts[::3])
    assert set(theirs.facts()) == set(ours.facts()), f"{text}\n\n{in_ours(rules)}"


@pytest.mark.parametrize("chunk", chunks(20, usual=2))
@pytest.mark.parametrize("language", [*WRITERS])
def test_random_rules_of_other_systems_follow_as_ours_do(language: str, chunk: int) -> None:
    for seed in range(SEEDS):
        check(language, chunk * SEEDS + seed)


@pytest.mark.parametrize("seed", range(20))
def test_a_statement_that_is_cut_off_costs_no_other(seed: int) -> None:
    random = Random(seed)
    language = random.choice([*WRITERS])
    whole = [WRITERS[language](a_rule(random, language), random) for _ in range(4)]
    broken = whole[1].replace("ex:", "ex: ]", 1) if language != "jena" else "[(?x ex:p) -> ]"
    text = PREFIX[language] + "\n".join([whole[0], broken, *whole[2:]])
    found = read_foreign(text, language)
    assert {refusal.place.line for refusal in found.refused} == {PREFIX[language].count("\n") + 2}
    alone = read_foreign(PREFIX[language] + "\n".join([whole[0], *whole[2:]]), language)
    assert {rule.key() for rule in found.program} == {rule.key() for rule in alone.program}

"""Plain facts mean what the grammar makes of them."""

from __future__ import annotations

from random import Random

import pytest
from pyoxigraph import RdfFormat, parse

import livefacts as lf
from livefacts.errors import LivefactsError
from livefacts.model.facts import Fact
from livefacts.syntax.rulelang import rule_parser
from livefacts.syntax.rulelang.plain_facts import PlainFacts

NAMES = ["p", "reading", "größe", "_x", "e1", "E5", "a", "x²", "not", "at", "truth", "prefix", "q9"]
ARGUMENTS = [
    *("s1", "a", "true", "false", "in", "-x", "\u0661", "?x", "ex:a", "_:b", "p(1)", ""),
    *("0", "-0", "007", "95", "-12", "- 5", "+5", "--5", "1_000"),
    *("1.5", "-.5", "5.", "1.5.2", "1e5", "-1.E-3", ".5e+2", "1e", "e5", "1.5e400"),
    *('"x"', '"two, words"', '"a(b) ."', '"é"', '""', '"a\\nb"', '"a\nb"', "'x'", '"x"@en', '"'),
    *("<http://e/a>", "<urn:x>", "<a>", "<>", "<http://e/a b>", "<http://e/\\u00e9>", "<http://[>"),
]
SPACES = ["", "", " ", "  ", "\n", "\t", "\u00a0", " # remark\n"]
SEPARATORS = [",", ",", ",", ";", ",,"]


def text_of(pick: Random, rare: float) -> str:
    """A text of facts, in which what is no plain fact is as rare as this."""

    def choose(items: list[str], usual: int) -> str:
        return pick.choice(items if pick.random() < rare else items[:usual])

    def fact() -> str:
        space = [choose(SPACES, 6) for _ in range(6)]
        arguments = [
            choose(pick.choice([ARGUMENTS[:2], ARGUMENTS]), 2) for _ in range(pick.randrange(4))
        ]
        listed = f"{space[0]}{choose(SEPARATORS, 3)}{space[1]}".join(arguments)
        written = f"({space[2]}{listed}{space[3]})" if arguments or pick.random() < rare else ""
        return f"{choose(NAMES, 8)}{space[4]}{written}{space[5]}{choose(['.', '.', ' . .', ''], 2)}"

    return "".join(choose(SPACES, 6) + fact() for _ in range(pick.randrange(4)))


def by_grammar(text: str) -> list[Fact] | None:
    """The facts of a text that has facts alone, or None."""
    try:
        program = rule_parser.parse(text)
    except LivefactsError:
        return None
    facts = [fact for fact in program.facts if isinstance(fact, Fact)]
    return facts if len(facts) == len(program.facts) and not program.rules else None


@pytest.mark.parametrize("rare", [0.03, 0.3])
def test_whatever_is_read_as_plain_facts_the_grammar_reads_as_the_same(rare: float) -> None:
    pick, plain, read = Random(11), PlainFacts(), 0
    for _ in range(1500):
        text = text_of(pick, rare)
        facts = plain.read(text)
        if facts is not None:
            assert list(dict.fromkeys(facts)) == by_grammar(text), text
            read += 1
    assert read > (700 if rare < 0.1 else 100)


def test_no_text_of_plain_facts_is_turtle() -> None:
    pick, plain = Random(5), PlainFacts()
    texts = [text for _ in range(1000) if plain.read(text := text_of(pick, 0.1)) is not None]
    assert len(texts) > 100
    for text in texts:
        with pytest.raises(SyntaxError):
            list(parse(text, RdfFormat.TURTLE))


@pytest.mark.parametrize("argument", ["s1", "-12", "007", "1.5", "-1.E-3", '"two, words"', "true"])
def test_an_argument_of_every_kind_is_read_here(argument: str) -> None:
    text = f"p({argument}, <http://e/a>) .\nq({argument}) . r ."
    facts = PlainFacts().read(text)
    assert facts is not None
    assert facts == by_grammar(text)


@pytest.mark.parametrize(
    "text",
    ["", "p(?x) .", "p(1) . p(1, 2) .", "p(1) :- q .", "p(1) . q", "[a, b, c] .", "p(<a>) ."],
)
def test_anything_else_is_left_to_the_grammar(text: str) -> None:
    assert PlainFacts().read(text) is None


def test_facts_that_are_told_as_text_are_those_told_as_tuples() -> None:
    text = " ".join(f"reading(s{n}, {n}) . open ." for n in range(20))
    asserted, as_tuples = lf.Reasoner(), lf.Reasoner()
    asserted.add(text)
    as_tuples.add([("open",), *(("reading", f"s{n}", n) for n in range(20))])
    assert set(asserted) == set(as_tuples)


def test_the_arrivals_of_a_text_keep_their_order() -> None:
    reasoner = lf.Reasoner(rules="last(?x) :- sometime p(?x) in [2 facts] .")
    reasoner.push("p(1) . q(1, 2) . p(2) . q(3, 4) .", at=1)
    reasoner.advance(1)
    assert {str(fact) for fact in reasoner.facts(derived=True)} == {"last(2)"}

"""The examples in the documentation of the rule language do what it says.

A block of `rules` is accepted; `concludes` behind it is exactly what follows from it;
`refused` is refused with the `text` behind it.
"""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.errors import RuleError
from livefacts.language.checks.safety import check
from livefacts.syntax.rule_sets import open_rules
from livefacts.syntax.rulelang.rule_parser import parse

DOCS = Path(__file__).parents[4] / "docs"
PREFIX = "@prefix ex: <http://example.org/> . "
BLOCK = re.compile(r"^```(rules|concludes|refused|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: str) -> list[tuple[str, str]]:
    return [(match[1], match[2]) for match in BLOCK.finditer((DOCS / page).read_text("utf-8"))]


def accepted(page: str) -> list[str]:
    return [text for kind, text in blocks(page) if kind == "rules"]


def pairs(page: str, first: str, second: str) -> list[tuple[str, str]]:
    found = blocks(page)
    return [
        (text, following)
        for (kind, text), (behind, following) in pairwise(found)
        if (kind, behind) == (first, second)
    ]


EXAMPLES = [*accepted("rule-language.md"), *accepted("rulesets.md"), *accepted("owl-rules.md")]
CONCLUSIONS = pairs("rule-language.md", "rules", "concludes")
REFUSALS = pairs("rule-language.md", "refused", "text")


def test_the_documentation_has_examples_of_every_kind() -> None:
    assert len(EXAMPLES) > 15
    assert len(CONCLUSIONS) > 7
    assert len(REFUSALS) == 6


@pytest.mark.parametrize("text", EXAMPLES, ids=range(len(EXAMPLES)))
def test_an_example_is_accepted(text: str) -> None:
    check(parse(PREFIX + text))


@pytest.mark.parametrize(("text", "conclusions"), CONCLUSIONS, ids=range(len(CONCLUSIONS)))
def test_an_example_concludes_what_the_page_says(text: str, conclusions: str) -> None:
    reasoner = lf.Reasoner(rules=parse(PREFIX + text))
    assert set(reasoner.facts(derived=True)) == set(parse(PREFIX + conclusions).facts)


@pytest.mark.parametrize(("text", "message"), REFUSALS, ids=range(len(REFUSALS)))
def test_an_example_is_refused_with_the_message_on_the_page(text: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        check(parse(text))
    assert f"{caught.value}\n" == message


def test_the_page_on_rule_sets_shows_every_rule_of_them() -> None:
    shown = parse(PREFIX + "\n".join(accepted("rulesets.md")))
    assert set(shown.rules) == set(open_rules("rdfs-axioms").rules)


def test_the_page_on_rule_sets_counts_right() -> None:
    page = (DOCS / "rulesets.md").read_text("utf-8")
    program = open_rules("rdfs-axioms")
    triples = [fact for fact in program.facts if not isinstance(fact, tuple)]
    assert f"| `rho-df` | {len(open_rules('rho-df'))} |" in page
    assert f"| `rdfs` | {len(open_rules('rdfs'))} |" in page
    assert f"| `rdfs-axioms` | {len(program)}, and {len(program.facts)} facts |" in page
    assert f"as {len(triples)} facts" in page

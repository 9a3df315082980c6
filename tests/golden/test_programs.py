"""Golden programs: one directory per case, with what must follow from it.

A case is `program.rules`, its facts in `facts.nt` or `facts.rules`, and `expected.txt`: the
conclusions that are shown, as rule text or N-Triples, and the violations, one on a line.
A new case is a new directory, not new Python.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat, Triple
from pyoxigraph import parse as parse_rdf
from tests.oracle import closure, violations

import livefacts as lf
from livefacts.model.facts import Fact, Term
from livefacts.syntax.rulelang.rule_parser import parse

HERE = Path(__file__).parent / "programs"
CASES = sorted(path.name for path in HERE.iterdir() if path.is_dir())


def facts_of(case: str) -> list[Triple | Fact]:
    triples = HERE / case / "facts.nt"
    if triples.exists():
        return [quad.triple for quad in parse_rdf(path=triples, format=RdfFormat.N_TRIPLES)]
    return list(parse((HERE / case / "facts.rules").read_text()).facts)


def expected_of(case: str) -> set[str]:
    return set((HERE / case / "expected.txt").read_text().splitlines())


def lines_of(
    conclusions: Iterable[Triple | Fact],
    violated: Iterable[tuple[str, Iterable[tuple[str, Term]]]],
) -> set[str]:
    lines = {written(fact) for fact in conclusions}
    for constraint, bindings in violated:
        values = " ".join(f"?{name}={_short(term)}" for name, term in sorted(bindings))
        lines.add(f"violation {constraint} {values}")
    return lines


def written(fact: Triple | Fact) -> str:
    if isinstance(fact, Triple):
        return str(fact)
    arguments = ", ".join(map(_short, fact.arguments))
    return f"{fact.name}({arguments})" if fact.arguments else fact.name


def _short(term: Term) -> str:
    """Numbers as rule text writes them."""
    text, _, datatype = str(term).partition("^^<http://www.w3.org/2001/XMLSchema#")
    if datatype == "integer>":
        return text.strip('"')
    if datatype == "decimal>":
        return text.strip('"') + ("" if "." in text else ".0")
    return str(term)


@pytest.mark.parametrize("case", CASES)
def test_the_oracle_concludes_what_is_expected(case: str) -> None:
    program, facts = parse((HERE / case / "program.rules").read_text()), facts_of(case)
    conclusions = closure(program, facts) - set(facts)
    assert lines_of(conclusions, violations(program, facts)) == expected_of(case)


@pytest.mark.parametrize("case", CASES)
def test_the_reasoner_concludes_what_is_expected(case: str) -> None:
    reasoner = lf.Reasoner(rules=HERE / case / "program.rules")
    reasoner.add(facts_of(case))
    violated = [(v.constraint, v.bindings.items()) for v in reasoner.violations()]
    assert lines_of(reasoner.facts(derived=True), violated) == expected_of(case)

"""RDF Patch out: what goes and what comes, as one transaction.

Rows are written so that they can be read without any prefix; blank nodes have the labels
that the reasoner hands out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from livefacts.language.rule_text import write_fact
from livefacts.model.facts import Fact


def write_patch(number: int, removed: Iterable[str], added: Iterable[str]) -> str:
    """A patch of rows that go and rows that come; the number of the change is its id."""
    rows = "".join(_marked("D", removed)) + "".join(_marked("A", added))
    return f'H id "{number}" .\nTX .\n{rows}TC .\n'


def _marked(mark: str, texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if text:
            yield f"{mark} " + text[:-1].replace("\n", f"\n{mark} ") + "\n"


def fact_lines(facts: Iterable[Fact]) -> str:
    """Predicate facts as rows have them, a line each."""
    return "".join(f"{write_fact(fact, {})}\n" for fact in facts)

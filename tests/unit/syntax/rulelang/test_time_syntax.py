"""Time in the rule language: what can be written, and what is refused."""

from __future__ import annotations

import pytest

from livefacts.errors import RuleError
from livefacts.language.checks.safety import check
from livefacts.language.rule_text import write_program
from livefacts.syntax.rulelang.rule_parser import parse

TEXT = """@prefix ex: <http://e/> .
@tick 1 s .
@retain b 10 s .
@stream ex:positions in [range 10 s step 1 s] .
at ?t isSteam :- at ?t temp(?v) in [10 s], ?v >= 100 .
alarm :- always isSteam in [10 s] .
hot(?s) :- sometime [?s, ex:temperature, ?v] in [5 s on ex:kitchen], ?v > 90 .
freeze :- not sometime isSteam in [5], not always alarm in [2] .
x(?a) :- sometime not b(?a) in [3 facts of b], c(?a) .
x(?a) :- always b(?a) in [range 10 s step 5 s closed on ex:k], c(?a) .
x(?a) :- at 5 b(?a) in [range 1 m step 1 m] .
x(?a) :- at ?t not b(?a) in [10 s], c(?a), n(?t) .
x(?a) :- at ?t b(?a), ?n = count { ?z : sometime q(?z, ?a) in [3 facts] } .
"""


def test_what_is_written_is_read_back_the_same() -> None:
    program = parse(TEXT)
    check(program)
    assert parse(write_program(program)) == program


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a :- sometime b in [0 facts] .", "no facts"),
        ("a :- sometime b in [range 0 s] .", "no window"),
        ("a :- sometime b in [10 parsecs] .", "(?s)not a unit of time.*ns, us, ms, s, min, h, d"),
        ("a :- sometime b in [1.5] .", "not a whole number of time points"),
        ("a :- sometime b in [P1M] .", "no fixed length"),
        ("a :- sometime b in [5 closed] .", "can be closed"),
        ("@tick 5 .", "a tick is a length of time"),
        ("@tick 0 s .", "a tick is longer than 0"),
        ("@tick 1 s . @tick 2 s .", "already"),
        ("@stream <http://e/s> in [5] .", r"\[range … step …\]"),
        ("at 5 b .", "not part of a program"),
        ("at ?t false :- b(?t) .", "a constraint holds now"),
        ("a(?t) :- not at ?t b in [5] .", r"\?t is"),
        ("a(?x) :- sometime not b(?x) in [5] .", r"\?x is"),
        ("at ?t a :- b .", r"\?t is in the head"),
        ("a :- sometime a2 in [5], not b . b :- always a in [2] .", "circle"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(text: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        check(parse(text))

"""Facts are chosen by the name of a predicate, or by an atom with variables."""

from __future__ import annotations

import pickle
import random
from datetime import UTC, date, datetime, time
from uuid import UUID

import numpy as np
import pytest

import livefacts as lf
from livefacts.model.facts import Fact
from livefacts.service.change.arguments import as_argument

ROADS = "road(?x, ?y) :- road(?y, ?x) ."


@pytest.mark.parametrize("seed", range(20))
def test_a_pattern_chooses_what_fits_it(seed: int) -> None:
    chosen = random.Random(f"fact patterns {seed}")
    reasoner = lf.Reasoner(rules=ROADS if seed % 2 else "")
    for _ in range(12):
        reasoner.add([("road", chosen.choice("abc"), chosen.choice("abc"))])
        reasoner.add(
            [("road", chosen.choice("abc"))] if seed < 0 else [("place", chosen.choice("abc"))]
        )
        reasoner.remove([("road", chosen.choice("abc"), chosen.choice("abc"))])
    slots = [chosen.choice(["?x", "?y", "a", "b"]) for _ in range(2)]
    for derived in (None, True, False):
        facts = [fact for fact in reasoner.facts(derived=derived) if isinstance(fact, Fact)]
        roads = [fact for fact in facts if fact.name == "road"]
        expected = [fact for fact in roads if fits(slots, list(map(str, fact.arguments)))]
        found = reasoner.facts(f"road({', '.join(slots)})", derived=derived)
        assert sorted(map(str, found)) == sorted(map(str, expected))
        assert len(reasoner.facts("road", derived=derived)) == len(roads)
        with reasoner.snapshot() as version:
            assert len(version.facts("road", derived=derived)) == len(roads)


def fits(slots: list[str], arguments: list[str]) -> bool:
    bound: dict[str, str] = {}
    return all(
        bound.setdefault(slot, each) == each if slot[0] == "?" else slot == each
        for slot, each in zip(slots, arguments, strict=True)
    )


def test_triples_are_chosen_by_an_atom_with_known_prefixes() -> None:
    reasoner = lf.Reasoner()
    reasoner.add(
        "@prefix ex: <http://example.org/> . ex:tom a ex:Cat ; ex:age 3 . ex:ann a ex:Dog ."
    )
    assert [str(each.subject) for each in reasoner.facts("[?x, a, ex:Cat]")] == [  # type: ignore[union-attr]
        "<http://example.org/tom>"
    ]
    assert len(reasoner.facts("[?x, ?p, ?y]")) == 3
    assert len(reasoner.facts("[?x, ?x, ?y]")) == 0


@pytest.mark.parametrize("text", ["reading(", "a(?x), b(?x)", "not a(?x)", "?x > 3", ""])
def test_what_is_no_pattern_is_refused_with_two_that_are(text: str) -> None:
    with pytest.raises(lf.InputError, match="is no pattern of facts") as caught:
        lf.Reasoner().facts(text)
    assert "reading(?s, ?v)" in str(caught.value)


def test_a_flag_is_no_pattern() -> None:
    with pytest.raises(lf.OptionError, match="derived=True"):
        lf.Reasoner().facts(True)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (np.int64(3), "3"),
        (np.float32(2.5), "2.5"),
        (np.bool_(True), "true"),
        (np.datetime64("2026-05-01"), "2026-05-01"),
        (np.datetime64("2026-05-01T12:00:00.000000001", "ns"), "2026-05-01T12:00:00"),
        (date(2026, 5, 1), "2026-05-01"),
        (time(12, 30), "12:30:00"),
        (datetime(2026, 5, 1, tzinfo=UTC), "2026-05-01T00:00:00+00:00"),
        (UUID(int=5), "urn:uuid:00000000-0000-0000-0000-000000000005"),
    ],
)
def test_values_of_python_and_numpy_are_terms(value: object, written: str) -> None:
    assert as_argument(value).value == written  # type: ignore[union-attr]


def test_other_values_are_refused_by_their_type() -> None:
    with pytest.raises(lf.InputError, match="of type complex is no term"):
        lf.Reasoner().add(("p", 3 + 2j))


def test_a_reasoner_says_why_it_cannot_be_pickled() -> None:
    with pytest.raises(lf.LivefactsError, match="checkpoint"):
        pickle.dumps(lf.Reasoner())

"""`livefacts verify`: a report on standard output, and an exit code that scripts can use."""

from __future__ import annotations

import json
from pathlib import Path
from unittest.mock import patch

import pytest
from tests.system.running import livefacts

from livefacts.model.facts import Fact, Symbol
from livefacts.service.reasoner.facade import Reasoner
from livefacts.service.reasoner.verification import Difference, VerifyReport

RULES = "route(?x, ?z) :- road(?x, ?y), route(?y, ?z) . route(?x, ?y) :- road(?x, ?y) .\n"


@pytest.fixture
def roads(tmp_path: Path) -> str:
    path = tmp_path / "roads.rules"
    path.write_text(RULES + "road(a, b) . road(b, c) . road(c, d) .\n")
    return str(path)


def test_files_that_are_loaded_pass(roads: str) -> None:
    ended = livefacts("verify", roads)
    assert ended.code == 0
    assert "everything is as it should be" in ended.out


def test_patches_are_followed_one_by_one_before(tmp_path: Path, roads: str) -> None:
    day = tmp_path / "day.rdfp"
    day.write_text("D road(b, c) .\n")
    night = tmp_path / "night.rdfp"
    night.write_text("A road(d, a) .\n")
    ended = livefacts("verify", roads, "--patch", str(day), "--patch", str(night))
    assert ended.code == 0
    assert "day.rdfp: 0 facts became true, 5 facts ended" in ended.err
    assert "night.rdfp: 5 facts became true, 0 facts ended" in ended.err
    assert "everything is as it should be" in ended.out


def test_a_report_can_be_had_as_json(roads: str) -> None:
    report = json.loads(livefacts("verify", roads, "--format", "json").out)
    assert report["ok"] is True
    assert report["facts"] == 10
    assert report["differences"] == []


@pytest.mark.parametrize("form", ["text", "json"])
def test_differences_are_listed_and_end_with_1(roads: str, form: str) -> None:
    fact = Fact("route", (Symbol("a"), Symbol("d")))
    broken = VerifyReport((Difference("plain count", fact, 1, 2),), {"plain count": 1}, 10, 6, 0.1)
    with patch.object(Reasoner, "verify", lambda self: broken):
        ended = livefacts("verify", roads, "--format", form)
    assert ended.code == 1
    if form == "text":
        assert "route(a, d): plain count is 2, should be 1" in ended.out
    else:
        assert json.loads(ended.out)["differences"][0]["fact"] == "route(a, d)"


def test_standard_input_can_be_read_once_only() -> None:
    assert livefacts("verify", "-", "--patch", "-").code == 2

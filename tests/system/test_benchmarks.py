"""The experiments with changes run, and agree with a closure from scratch, on tiny data.

Their workers are scripts, which take seconds to start; two are started as `bench` does it, the
others do their work in this process.
"""

from __future__ import annotations

import gc
import runpy
import sys
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from benchmarks import datasets, earlier, serve
from benchmarks.generic import TRANSITIVE
from benchmarks.measuring import WORKERS, run_worker

from livefacts.generate import GeneratedOntology, random_graph, university

pytestmark = pytest.mark.slow


def written(path: Path, pieces: Iterable[bytes]) -> str:
    path.write_bytes(b"".join(pieces))
    return str(path)


def found(worker: str, job: dict[str, Any]) -> dict[str, Any]:
    """What a worker finds, in this process."""
    with patch.object(sys, "path", [str(WORKERS), *sys.path]), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        script = runpy.run_path(str(WORKERS / f"{worker}.py"))
        try:
            return script["main"](job, script["Stages"]())  # type: ignore[no-any-return]
        finally:
            gc.unfreeze()


def reported(worker: str, job: dict[str, Any]) -> dict[str, Any]:
    """What a worker reports that is started as a script."""
    report = run_worker(worker, job)
    assert "failure" not in report, report["failure"]
    assert report["peak"] > 0
    return report


@pytest.fixture
def campus(tmp_path: Path) -> str:
    lines = b"".join(university(1)).splitlines(keepends=True)[:3000]
    return written(tmp_path / "campus.nt", lines)


def test_changes_are_told_to_those_who_follow_a_server(tmp_path: Path) -> None:
    with patch.object(serve, "LISTENERS", (1, 3)):
        lines = serve._fan_out(tmp_path, 0.1).splitlines()
    told = [[float(cell.replace(",", "")) for cell in line.split("|")[2:4]] for line in lines[2:]]
    assert all(changes > 0 and events >= changes for changes, events in told)


def test_the_road_of_one_triple_is_short() -> None:
    report = found("livefacts_road", {"turns": 20})
    assert report["push"]["calls"] <= 100
    assert report["register"]["calls"] <= 920
    assert report["register"]["files"] <= 50
    assert {given: report[given]["calls"] <= 120 for given in ("text", "triple")} == {
        "text": True,
        "triple": True,
    }
    assert max(report[given]["files"] for given in ("text", "triple")) <= 25


@pytest.mark.parametrize("through", ["engine", "api"])
def test_changes_end_where_a_closure_from_scratch_does(campus: str, through: str) -> None:
    job = {"input": campus, "rules": "rdfs", "through": through, "compare": True}
    ask = reported if through == "api" else found
    report = ask("livefacts_changes", {**job, "sizes": [[1, 3], [50, 2]]})
    assert [change["same"] for change in report["changes"]] == [True, True]


def test_updates_leave_the_same_states_whatever_follows_them(campus: str) -> None:
    job = {"input": campus, "rules": "rho-df", "turns": 1, "more": 0}
    states = [
        [
            update["states"]
            for update in found("livefacts_updates", {**job, "maintenance": way})["updates"]
        ]
        for way in ("counting-dred", "dred", "recompute")
    ]
    assert states[0] == states[1] == states[2]
    assert len({tuple(map(tuple, update)) for update in states[0]}) == len(states[0])


@pytest.mark.parametrize("shape", ["chain", "star", "values"])
def test_groups_of_equal_things_are_the_same_merged_and_by_the_rules(shape: str) -> None:
    job = {"shape": shape, "members": 14, "facts": 1, "turns": 2}
    merged, ruled = (
        found("livefacts_equality", {**job, "same_as": way}) for way in ("merge", "rules")
    )
    assert merged["state"] == ruled["state"]
    assert merged["same"]
    assert ruled["same"]


def test_edges_come_back_to_the_same_paths(tmp_path: Path) -> None:
    job = {"input": written(tmp_path / "graph.nt", random_graph(12, 30)), "rules": TRANSITIVE}
    report = found("livefacts_edges", {**job, "maintenance": "counting-dred", "turns": 10})
    before, without, after = report["states"]
    assert before == after != without


@pytest.mark.parametrize("kind", ["taxonomy", "db", "dl"])
def test_ontologies_have_all_measures(tmp_path: Path, kind: str) -> None:
    ontology = GeneratedOntology(kind, 2)
    files = {
        "input": written(tmp_path / "o.nt", ontology.facts()),
        "rules": written(tmp_path / "o.rules", ontology.rules()),
    }
    job = {**files, "kind": kind, "depth": 2, "turns": 1, "rule_turns": 2, "percents": [10]}
    report = found("livefacts_ontology", {**job, "warm_up": {}})
    assert report["same"]
    assert set("abcdg") <= set(report)
    assert set("ef") <= set(report["changes"][0])


def test_a_release_becomes_the_next_by_their_difference(tmp_path: Path) -> None:
    old, new = (
        GeneratedOntology("db", 2, subclasses=3, properties=1, seed=seed) for seed in (1, 2)
    )
    job = {
        "old": written(tmp_path / "old.nt", old.facts()),
        "new": written(tmp_path / "new.nt", new.facts()),
        "rules": "rdfs",
        "turns": 1,
    }
    assert found("livefacts_releases", job)["same"]


def test_a_window_over_trees_is_the_same_in_every_way_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(datasets, "FOLDER", tmp_path)
    job = {"input": str(datasets.places(900)), "background": 300, "percents": [1, 10, 50]}
    steps = found("livefacts_imars", {**job, "turns": 3})["steps"]
    assert [step["same"] for step in steps] == [True] * 3
    assert [step["entering"] for step in steps] == [3, 30, 150]


def test_a_window_with_a_self_join_has_answers_that_end() -> None:
    report = found("livefacts_window", {"points": 4, "rate": 30, "nodes": 40})
    assert report["rows"] > 0
    assert report["ended"] > 30


@pytest.mark.parametrize("kind", ["diamond", "box", "join", "cooling"])
def test_a_timed_stream_has_every_part_measured_and_answers(kind: str) -> None:
    job = {"kind": kind, "rate": 40, "windows": [2], "rules": [1, 2], "ticks": 3}
    one, two = found("livefacts_laser", job)["cells"]
    assert all(one[part] > 0 for part in ("push", "advance", "answers"))
    assert one["rows"] > 0
    assert two["rows"] == (one["rows"] if kind == "cooling" else 2 * one["rows"])


def test_the_edges_of_a_steady_join_have_as_many_answers_in_every_window() -> None:
    job = {"kind": "join", "rate": 40, "windows": [2, 8], "ticks": 6, "steady": True}
    few, many = found("livefacts_laser", job)["cells"]
    assert few["begun"] > 1
    assert many["begun"] == pytest.approx(few["begun"], rel=0.3)


def test_timed_facts_of_a_file_are_read_and_followed() -> None:
    report = reported("livefacts_timed_file", {"kind": "box", "points": 4, "rate": 30})
    assert report["answers"] == 30
    assert all(report[part] > 0 for part in ("read", "grammar", "run"))


def test_rules_of_owl_made_for_axioms_end_where_the_generic_ones_do(campus: str) -> None:
    made, generic = (
        found("livefacts_owl", {"input": campus, "asserted": 0, "generic": generic})
        for generic in (False, True)
    )
    assert made["same"]
    assert generic["same"]
    assert made["state"] == generic["state"]


def test_patterns_end_with_the_answers_of_a_fresh_query(campus: str) -> None:
    vocabulary = "http://livefacts.example/university#"
    star = f"SELECT ?x {{ ?x a <{vocabulary}Publication> }}"
    path = f"SELECT ?s ?c {{ ?s <{vocabulary}advisor> ?p . ?p <{vocabulary}teacherOf> ?c }}"
    job = {
        "input": campus,
        "messages": 4000,
        "single": 200,
        "queries": {"star": star, "path": path},
    }
    report = found(
        "livefacts_patterns", {**job, "star": star, "steps": [1000], "standing": [star, path]}
    )
    assert [each["same"] for each in report["queries"]] == [True, True]
    assert report["queries"][0]["changes"] > 0
    assert report["many"]["queries"] == 2


def test_times_of_an_earlier_checkout_are_compared_figure_by_figure() -> None:
    job = {"input": "campus.nt", "rules": "rdfs"}
    for turn in (1.0, 2.0):
        now = {"stages": {"close": 3.0 * turn}, "in": {"p50": 1.0, "p99": 9.0}, "facts": 7}
        before = {"stages": {"close": 2.0 * turn}, "in": {"p50": 2.0, "p99": 1.0}, "facts": 8}
        earlier.note("livefacts_changes", job, now, before)
    report = earlier.report()
    assert (
        "| livefacts_changes | rdfs None | 0.87 | stages.close | 1.50 (3.0 s / 2.0 s) |" in report
    )
    assert earlier.report() == ""

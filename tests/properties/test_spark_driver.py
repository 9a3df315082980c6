"""Changes that the driver makes on its own, by tables, against the oracle after every change.

No session is needed: under rules of single triples a small change is made in the driver, and
under general rules it is handed to the embedded engine where everything fits into memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.oracle import closure
from tests.properties.compare.spark_tables import Facts, stored_delta, stored_facts
from tests.properties.generate.histories import Change, History, draw_history, draw_schema_history
from tests.properties.generate.seeds import chunks

import livefacts as lf
from livefacts.kb import compaction, tables
from livefacts.language.program import Program
from livefacts.spark import Pipeline
from livefacts.syntax import rule_sets

pytestmark = pytest.mark.filterwarnings("ignore::livefacts.LivefactsWarning")


@pytest.fixture(autouse=True)
def often_tidied(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (compaction, tables):
        monkeypatch.setattr(module, "TIDY_EVERY", 3)


def opened(folder: Path, history: History) -> Pipeline:
    """A knowledge base without facts, made by a reasoner."""
    lf.Reasoner(rules=Program().plus(history.start)).checkpoint(folder / "kb")
    return Pipeline(None, folder / "kb", memory="1g")  # type: ignore[arg-type]


def made(pipeline: Pipeline, change: Change) -> Iterator[int]:
    """The changes of a step, each when it is made."""
    if change.added or change.removed:
        yield pipeline.update(add=change.added, remove=change.removed).seq  # type: ignore[arg-type]
    if change.rules_added or change.rules_removed:
        gone = [rule for rule in change.rules_removed if rule not in change.rules_added]
        yield pipeline.change_rules(change.rules_added, gone).seq


def differences(pipeline: Pipeline, history: History) -> Iterator[str]:
    """Where the tables differ from the oracle after a change, in words."""
    told, rules, before = frozenset(), history.start, dict[object, bool]()
    for number, change in enumerate(history.changes, 1):
        told, was = change.asserted_after(told), rules
        for seq in made(pipeline, change):
            commit = pipeline.base.commit(seq)
            rules = change.rules_after(was) if commit.kind == "change rules" else rules
            truth: Facts = {
                fact: fact in told
                for fact in closure(Program().plus(rules), told)  # type: ignore[arg-type]
            }
            if stored_facts(pipeline.base, commit) != truth:
                yield f"step {number}: the facts are not those of the oracle"
            signed = dict.fromkeys(truth.keys() - before.keys(), 1)
            signed |= dict.fromkeys(before.keys() - truth.keys(), -1)
            if stored_delta(pipeline.base, commit) != signed:
                yield f"step {number}: the delta is wrong"
            before = dict(truth)


@pytest.mark.parametrize("seed", chunks(40, 12))
def test_a_random_history_of_facts_and_rules_is_what_the_oracle_computes(
    tmp_path: Path, seed: int
) -> None:
    history = draw_history(seed, steps=6)
    pipeline = opened(tmp_path, history)
    assert next(differences(pipeline, history), None) is None, str(history)


@pytest.mark.parametrize("rules", ["rho-df", "rdfs"])
@pytest.mark.parametrize("seed", chunks(10, 3))
def test_a_random_history_of_a_schema_is_what_the_oracle_computes(
    tmp_path: Path, rules: str, seed: int
) -> None:
    history = draw_schema_history(seed, rule_sets.open_rules(rules).rules, steps=6)
    pipeline = opened(tmp_path, history)
    assert next(differences(pipeline, history), None) is None, str(history)

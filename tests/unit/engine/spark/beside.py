"""A pipeline beside a reasoner: both get the same changes, and have to say the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import livefacts as lf
from livefacts.spark import Pipeline


def texts_of(facts: Any) -> set[str]:
    """Facts of a reasoner, as texts."""
    return {
        str((f.name, *map(str, f.arguments))) if isinstance(f, lf.Fact) else str(f) for f in facts
    }


def text_of_row(row: Any) -> str:
    """A fact of a pipeline in the same way."""
    has_name = "name" in row.asDict() and row.name is not None
    return (
        str((row.name, *map(_written, row.arguments))) if has_name else f"{row.s} {row.p} {row.o}"
    )


def _written(text: str) -> str:
    return text[1:] if text.startswith("'") else text


def facts_of(pipeline: Pipeline) -> set[str]:
    """Everything that holds."""
    rows = [
        *pipeline.facts(decoded=True).collect(),
        *pipeline.predicate_facts(decoded=True).collect(),
    ]
    return set(map(text_of_row, rows))


def delta_of(pipeline: Pipeline, seq: int) -> tuple[set[str], set[str]]:
    """What a change added, and what it removed."""
    rows = pipeline.delta(seq, decoded=True).collect()
    assert len({(text_of_row(row), row.sign) for row in rows}) == len(rows), "a fact twice"
    return (
        {text_of_row(row) for row in rows if row.sign > 0},
        {text_of_row(row) for row in rows if row.sign < 0},
    )


class Beside:
    """A knowledge base of its own for a test."""

    def __init__(self, spark: Any, folder: Path, told: str, rules: str, **options: Any) -> None:
        (folder / "told.nt").write_text(told, encoding="utf-8")
        options = {"memory": None, **options}
        self.pipeline = Pipeline(spark, folder / "kb", buckets=2, **options)
        self.pipeline.ingest(folder / "told.nt")
        self.pipeline.materialize(rules)
        self.reasoner = lf.Reasoner(rules=rules)
        self.reasoner.add(told)
        assert facts_of(self.pipeline) == texts_of(self.reasoner)

    def check(self, seq: int, delta: lf.Delta) -> None:
        """The change had the same effect on both."""
        assert delta_of(self.pipeline, seq) == (texts_of(delta.added), texts_of(delta.removed))
        assert facts_of(self.pipeline) == texts_of(self.reasoner)

    def update(self, add: str = "", remove: str = "") -> None:
        report = self.pipeline.update(add=add, remove=remove)
        delta = self.reasoner.apply(add=add, remove=remove)
        assert report.figures["added"] == len(delta.added)
        assert report.figures["removed"] == len(delta.removed)
        self.check(report.seq, delta)

    def change_rules(self, add: str = "", remove: Any = ()) -> None:
        report = self.pipeline.change_rules(add, remove)
        self.check(report.seq, self.reasoner.apply(add_rules=add, remove_rules=remove))
        ours = [(rule.id, rule.key()) for rule in self.pipeline.program]
        assert ours == [(rule.id, rule.key()) for rule in self.reasoner.rules]

"""The knowledge base on disk: commits are all or nothing, and strangers are refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from tests.system.running import environment

import livefacts as lf
from livefacts.cli import run
from livefacts.kb.tables import (
    RULES,
    SCHEMAS,
    TERMS,
    Commit,
    KnowledgeBase,
    Write,
    write_file,
)
from livefacts.spark import Pipeline

TRIPLE = "<http://example.org/a> <http://example.org/p> <http://example.org/b> .\n"
OTHER = "<http://example.org/a> <http://example.org/p> <http://example.org/c> .\n"
DYING = """
import os, sys
from livefacts.kb import tables
from tests.unit.kb.test_tables import two_tables
base = tables.KnowledgeBase(sys.argv[1])
base.reached = lambda step: os._exit(9) if step == sys.argv[2] else None
with base.writing() as start:
    two_tables(base, start, "second")
"""


def two_tables(base: KnowledgeBase, start: Commit, text: str) -> Commit:
    """A change of two tables that tells its own name."""
    rows = pa.table([[start.seq], [text]], SCHEMAS[RULES])
    terms = pa.table([[len(text)], [text]], SCHEMAS[TERMS])
    writes = {
        TERMS: Write((write_file(base.path / TERMS, terms),)),
        RULES: Write((write_file(base.path / RULES, rows),)),
    }
    return base.publish(start, "test", writes, notes={})


def texts(base: KnowledgeBase, table: str) -> list[str]:
    return sorted(base.read(table, base.last())["text"].to_pylist())


@pytest.fixture
def base(tmp_path: Path) -> KnowledgeBase:
    made = KnowledgeBase(tmp_path / "kb")
    made.create({"buckets": 1})
    with made.writing() as start:
        two_tables(made, start, "first")
    return made


@pytest.mark.slow
@pytest.mark.parametrize("step", ["data written", "terms committed", "rules committed"])
def test_a_writer_that_dies_inside_a_commit_leaves_what_was_there(
    base: KnowledgeBase, step: str
) -> None:
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", DYING, str(base.path), step],
        cwd=root,
        env=environment() | {"PYTHONPATH": f"{root}:{root / 'src'}"},
        check=False,
    )
    assert done.returncode == 9
    again = KnowledgeBase(base.path)
    assert again.last().seq == 1
    assert texts(again, TERMS) == texts(again, RULES) == ["first"]
    with again.writing() as start:
        two_tables(again, start, "third")
    assert texts(again, TERMS) == texts(again, RULES) == ["first", "third"]


def test_a_second_writer_is_refused_while_the_first_one_writes(base: KnowledgeBase) -> None:
    other = KnowledgeBase(base.path)
    with (
        base.writing(),
        pytest.raises(lf.ConflictError, match="someone else is writing"),
        other.writing(),
    ):
        pass


def test_a_writer_that_starts_from_an_old_state_is_refused(base: KnowledgeBase) -> None:
    old = base.last()
    two_tables(base, old, "second")
    with pytest.raises(lf.ConflictError, match="version 2"):
        two_tables(KnowledgeBase(base.path), old, "late")
    assert texts(KnowledgeBase(base.path), TERMS) == ["first", "second"]


def test_every_earlier_version_stays_readable(base: KnowledgeBase) -> None:
    for number in range(2, 5):
        two_tables(base, base.last(), f"text {number}")
    again = KnowledgeBase(base.path)
    counts = [len(again.read(TERMS, again.commit(seq))) for seq in (1, 2, 3, 4)]
    assert counts == [1, 2, 3, 4]


@pytest.mark.slow
def test_many_commits_stay_in_few_files(base: KnowledgeBase) -> None:
    for number in range(2, 260):
        two_tables(base, base.last(), f"text {number}")
    assert [commit.seq for commit in base.commits()] == list(range(1, 260))
    again = KnowledgeBase(base.path)
    assert again.commits() == base.commits()
    assert len(again.read(TERMS, again.commit(30))) == 30


def test_a_folder_that_is_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(lf.InputError, match="no knowledge base"):
        KnowledgeBase(tmp_path)
    with pytest.raises(lf.InputError, match="is a file"):
        KnowledgeBase(tmp_path / "notes.txt")


def test_a_table_of_a_knowledge_base_is_not_taken_for_the_whole(base: KnowledgeBase) -> None:
    with pytest.raises(lf.InputError, match="no knowledge base") as refused:
        KnowledgeBase(base.path / RULES)
    assert str(base.path) in refused.value.hint


def test_a_file_url_is_a_folder(base: KnowledgeBase) -> None:
    assert KnowledgeBase(f"file://{base.path}").last() == base.last()


def test_a_writer_that_was_cut_off_before_its_first_commit_is_no_obstacle(tmp_path: Path) -> None:
    (tmp_path / ".livefacts.json.123").write_text("{", encoding="utf-8")
    (tmp_path / TERMS / "_delta_log").mkdir(parents=True)
    (tmp_path / TERMS).rename(tmp_path.parent / "aside")
    made = KnowledgeBase(tmp_path)
    made.create({"buckets": 1})
    (tmp_path.parent / "aside").rename(tmp_path / TERMS)
    with made.writing() as start:
        two_tables(made, start, "first")
    assert texts(made, TERMS) == ["first"]
    assert not (tmp_path / ".livefacts.json.123").exists()


def test_a_table_of_a_newer_delta_is_said_to_be_one(base: KnowledgeBase) -> None:
    made_newer(base)
    again = KnowledgeBase(base.path)
    with pytest.raises(lf.InputError, match="newer version of Delta") as refused, again.writing():
        pass
    assert "upgrade" in refused.value.hint
    with pytest.raises(lf.InputError, match="newer version of Delta"):
        lf.Reasoner.open(base.path, read_only=True, storage_options=base.options)


def made_newer(base: KnowledgeBase) -> None:
    """Add an entry to a log that a later version of Delta might."""
    entry = {"protocol": {"minReaderVersion": 99, "minWriterVersion": 99}}
    log = base.path / "commits" / "_delta_log"
    (log / f"{base.version('commits') + 1:020d}.json").write(json.dumps(entry).encode())


def test_of_two_who_make_a_folder_the_first_one_chooses_its_settings(tmp_path: Path) -> None:
    first, second = KnowledgeBase(tmp_path / "kb"), KnowledgeBase(tmp_path / "kb")
    first.create({"buckets": 3})
    second.create({"buckets": 5})
    assert second.settings["buckets"] == first.settings["buckets"] == 3


def test_a_writer_that_is_overtaken_inside_its_commit_is_refused(base: KnowledgeBase) -> None:
    other = KnowledgeBase(base.path)

    def overtake(step: str) -> None:
        base.reached = lambda step: None
        two_tables(other, other.last(), "quick")

    base.reached = overtake
    with pytest.raises(lf.ConflictError, match="version 2"):
        two_tables(base, base.last(), "slow")
    for each in (base, other, KnowledgeBase(base.path)):
        assert texts(each, TERMS) == texts(each, RULES) == ["first", "quick"]


def test_a_newer_layout_is_refused_with_what_to_do(base: KnowledgeBase) -> None:
    (base.path / "livefacts.json").write(json.dumps({"format": 99}).encode())
    with pytest.raises(lf.InputError, match="newer livefacts") as refused:
        KnowledgeBase(base.path)
    assert "upgrade" in refused.value.hint


def test_the_command_line_ingests_materializes_updates_and_prints(
    spark: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told, new = tmp_path / "told.nt", tmp_path / "new.nt"
    told.write_text(TRIPLE, encoding="utf-8")
    new.write_text(OTHER, encoding="utf-8")
    kb = ["--kb", str(tmp_path / "kb")]
    assert run(["spark", "ingest", str(told), *kb]) == 0
    assert "1 asserted" in capsys.readouterr().err
    assert run(["spark", "materialize", "--rules", "rho-df", *kb]) == 0
    assert "close and publish" in capsys.readouterr().err
    assert run(["spark", "update", "--add", str(new), "--remove", str(told), *kb]) == 0
    printed = sorted(capsys.readouterr().out.splitlines())
    assert printed == [f"A {OTHER.strip()}", f"D {TRIPLE.strip()}"]
    assert run(["spark", "facts", *kb]) == 0
    assert capsys.readouterr().out == OTHER
    assert run(["spark", "facts", "--version", "2", *kb]) == 0
    assert capsys.readouterr().out == TRIPLE
    assert run(["spark", "optimize", "--keep", "1", *kb]) == 0
    assert "bytes freed" in capsys.readouterr().err
    assert run(["spark", "history", *kb]) == 0
    lines = capsys.readouterr().out.splitlines()
    kinds = [line.split()[3] for line in lines]
    assert kinds == ["ingest", "materialize", "update", "optimize"]
    assert ["no longer kept" in line for line in lines] == [True, True, True, False]
    assert run(["spark", "facts", "--version", "2", *kb]) == 1
    assert "no longer kept" in capsys.readouterr().err


def test_the_view_in_the_documentation_gives_the_facts_in_duckdb(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "told.nt").write_text(TRIPLE + OTHER, encoding="utf-8")
    pipeline = Pipeline(spark, tmp_path / "kb", buckets=2)
    pipeline.ingest(tmp_path / "told.nt")
    pipeline.materialize("rho-df")
    page = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
    block = next(b for b in page.split("```python\n") if b.startswith("import duckdb"))
    (view,) = [b.split("```")[0] for b in page.split("```sql\n") if "CREATE VIEW facts" in b]
    monkeypatch.chdir(tmp_path)
    for told in (2, 1):
        found: dict[str, Any] = {"VIEW": view}
        exec(block.split("```")[0], found)
        rows = found["rows"]
        assert len(rows) == pipeline.facts().count() == told
        assert {f"{s} {p} {o} .\n" for s, p, o in rows} <= {TRIPLE, OTHER}
        pipeline.update(remove=OTHER)


def test_the_lines_in_the_documentation_read_the_tables_with_polars(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("polars")
    reasoner = lf.Reasoner()
    reasoner.add(TRIPLE + OTHER)
    reasoner.checkpoint(tmp_path / "kb")
    base = KnowledgeBase(tmp_path / "kb")
    page = (Path(__file__).parents[3] / "docs" / "spark.md").read_text(encoding="utf-8")
    block = next(b for b in page.split("```python\n") if b.startswith("import polars"))
    monkeypatch.chdir(tmp_path)
    found: dict[str, Any] = {"versions": base.last().versions}
    exec(block.split("```")[0], found)
    assert {f"{s} {p} {o} .\n" for s, p, o in found["rows"].rows()} == {TRIPLE, OTHER}

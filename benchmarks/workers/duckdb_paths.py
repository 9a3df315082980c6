"""Paths as SQL: one recursive query over a table of edges."""

from __future__ import annotations

from typing import Any

import duckdb
from duckdb_closure import ENCODE, READ
from reporting import Stages, run, write_lines

PATHS = """
CREATE TABLE paths AS
  WITH RECURSIVE path(s, o) AS (
    SELECT s, o FROM facts UNION SELECT path.s, facts.o FROM path JOIN facts ON path.o = facts.s)
  SELECT * FROM path
"""


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    database = duckdb.connect()
    database.execute("SET threads = 1")
    with stages.stage("load"):
        database.execute(READ, {"input": job["input"]})
        database.execute(ENCODE)
    with stages.stage("close"):
        database.execute(PATHS)
    (asserted,) = database.execute("SELECT count(*) FROM facts").fetchone()
    (paths,) = database.execute("SELECT count(*) FROM paths").fetchone()
    if job.get("output"):
        write_lines(job["output"], _lines(database, job["path"]))
    return {"asserted": asserted, "true": asserted + paths}


def _lines(database: duckdb.DuckDBPyConnection, path: str) -> list[str]:
    named = "SELECT a.term, {p}, c.term FROM {t} JOIN terms a ON a.id = s JOIN terms c ON c.id = o"
    edges = database.execute(
        "SELECT a.term, b.term, c.term FROM facts JOIN terms a ON a.id = s "
        "JOIN terms b ON b.id = p JOIN terms c ON c.id = o"
    ).fetchall()
    paths = database.execute(named.format(p=f"'<{path}>'", t="paths")).fetchall()
    return [f"{s} {p} {o} ." for s, p, o in (*edges, *paths)]


if __name__ == "__main__":
    run(main, "duckdb")

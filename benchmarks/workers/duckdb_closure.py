"""The closure as SQL: ids in a table, and one round after another until nothing is new.

Every round joins what the last round found with all of the schema, and, where the last
round found schema, that with all facts: semi-naive evaluation as one would write it by
hand.  Literals have negative ids, so that no rule makes one a subject.
"""

from __future__ import annotations

from typing import Any

import duckdb
from reporting import Stages, run, write_lines

RDF = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
RDFS = "http://www.w3.org/2000/01/rdf-schema#"
WORDS = {
    "type": RDF + "type",
    "class": RDFS + "subClassOf",
    "property": RDFS + "subPropertyOf",
    "domain": RDFS + "domain",
    "range": RDFS + "range",
}
READ = r"""
CREATE TABLE text AS
  SELECT part.s AS s, part.p AS p, part.o AS o FROM (
    SELECT regexp_extract(line, '^(\S+) (\S+) (.*) \.$', ['s', 'p', 'o']) AS part
    FROM read_csv($input, columns = {'line': 'VARCHAR'}, header = false, delim = '\x01',
                  quote = '', escape = '', auto_detect = false, max_line_size = 10000000));
"""
ENCODE = """
CREATE TABLE terms AS
  SELECT term, row_number() OVER () * (CASE WHEN term[1] = '"' THEN -1 ELSE 1 END) AS id
  FROM (SELECT s AS term FROM text UNION SELECT p FROM text UNION SELECT o FROM text);
CREATE TABLE facts AS
  SELECT DISTINCT a.id AS s, b.id AS p, c.id AS o FROM text
  JOIN terms a ON a.term = text.s JOIN terms b ON b.term = text.p JOIN terms c ON c.term = text.o;
"""
ROUND = """
CREATE OR REPLACE TABLE found AS
  SELECT DISTINCT * FROM (
    SELECT d.s, {type} AS p, x.o FROM {delta} d JOIN {schema} x ON x.s = d.p AND x.p = {domain}
    UNION ALL
    SELECT d.o, {type}, x.o FROM {delta} d JOIN {schema} x ON x.s = d.p AND x.p = {range}
      WHERE d.o > 0
    UNION ALL
    SELECT d.s, x.o, d.o FROM {delta} d JOIN {schema} x ON x.s = d.p AND x.p = {property}
    UNION ALL
    SELECT d.s, {type}, x.o FROM {delta} d JOIN {schema} x ON x.s = d.o AND x.p = {class}
      WHERE d.p = {type}
    UNION ALL
    SELECT d.s, d.p, x.o FROM {delta} d JOIN {schema} x ON x.s = d.o AND x.p = d.p
      WHERE d.p IN ({class}, {property})
  ) WHERE p > 0 AND s > 0
"""
IS_SCHEMA = "p IN ({class}, {property}, {domain}, {range})"


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    database = duckdb.connect()
    database.execute("SET threads = 1")
    with stages.stage("load"):
        database.execute(READ, {"input": job["input"]})
        database.execute(ENCODE)
    (asserted,) = database.execute("SELECT count(*) FROM facts").fetchone()
    with stages.stage("close"):
        close(database)
    (true,) = database.execute("SELECT count(*) FROM facts").fetchone()
    write_lines(job.get("output"), _lines(database))
    return {"asserted": asserted, "true": true}


def close(database: duckdb.DuckDBPyConnection) -> None:
    ids = _ids(database)
    database.execute("CREATE TABLE delta AS SELECT * FROM facts")
    database.execute(f"CREATE TABLE schema_now AS SELECT * FROM facts WHERE {_schema(ids)}")
    database.execute("CREATE TABLE schema_new AS SELECT * FROM facts LIMIT 0")
    while True:
        database.execute(ROUND.format(delta="delta", schema="schema_now", **ids))
        if database.execute("SELECT 1 FROM schema_new LIMIT 1").fetchone():
            _add_schema_joins(database, ids)
        new = "SELECT DISTINCT * FROM found ANTI JOIN facts USING (s, p, o)"
        database.execute(f"CREATE OR REPLACE TABLE delta AS {new}")
        if not database.execute("SELECT 1 FROM delta LIMIT 1").fetchone():
            return
        database.execute("INSERT INTO facts SELECT * FROM delta")
        database.execute(
            f"CREATE OR REPLACE TABLE schema_new AS SELECT * FROM delta WHERE {_schema(ids)}"
        )
        database.execute("INSERT INTO schema_now SELECT * FROM schema_new")


def _add_schema_joins(database: duckdb.DuckDBPyConnection, ids: dict[str, int]) -> None:
    database.execute("ALTER TABLE found RENAME TO found_by_facts")
    database.execute(ROUND.format(delta="facts", schema="schema_new", **ids))
    database.execute("INSERT INTO found SELECT * FROM found_by_facts")
    database.execute("DROP TABLE found_by_facts")


def _ids(database: duckdb.DuckDBPyConnection) -> dict[str, int]:
    found = {}
    for name, iri in WORDS.items():
        row = database.execute("SELECT id FROM terms WHERE term = ?", [f"<{iri}>"]).fetchone()
        if row is None:
            (last,) = database.execute("SELECT max(abs(id)) FROM terms").fetchone()
            row = (last + 1,)
            database.execute("INSERT INTO terms VALUES (?, ?)", [f"<{iri}>", row[0]])
        found[name] = row[0]
    return found


def _schema(ids: dict[str, int]) -> str:
    return IS_SCHEMA.format(**ids)


def _lines(database: duckdb.DuckDBPyConnection) -> Any:
    cursor = database.execute(
        "SELECT a.term, b.term, c.term FROM facts JOIN terms a ON a.id = s "
        "JOIN terms b ON b.id = p JOIN terms c ON c.id = o"
    )
    while rows := cursor.fetchmany(50_000):
        for s, p, o in rows:
            yield f"{s} {p} {o} ."


if __name__ == "__main__":
    run(main, "duckdb")

"""SQL views: a version of a knowledge base as a database of views, for whoever speaks SQL to Spark.

The views name the data files of one version, so that they need nothing but Spark: they stay
what they were when changes come, until they are made again.  `triples` has terms as N-Triples
text, `vertices` and `edges` have the columns of GraphFrames.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from livefacts.engine.spark.jobs import frames
from livefacts.errors import ConflictError, InputError
from livefacts.kb.tables import (
    CHANGES,
    GRAPHS,
    PREDICATE_CHANGES,
    PREDICATES_TABLE,
    SCHEMAS,
    TERMS,
    TRIPLES_TABLE,
    Commit,
    KnowledgeBase,
)
from livefacts.model.namespaces import RDF
from livefacts.store.terms.hash_ids import KIND_MASK
from livefacts.store.terms.text_table import BLANK, IRI, SYMBOL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
OWNER, VERSION = "livefacts.kb", "livefacts.version"
"""Properties of a view that say whose it is."""
FACTS = "facts_"
"""How the views of predicate facts begin."""

IDS = f"""
SELECT s, p, o, told FROM {{facts}}
WHERE (s & {KIND_MASK}) IN ({IRI}, {BLANK}) AND (p & {KIND_MASK}) = {IRI} AND (o & {KIND_MASK}) <> {SYMBOL}
"""
TRIPLES = """
SELECT a.text AS s, b.text AS p, c.text AS o, told FROM {db}.ids
JOIN {db}.terms a ON a.id = s JOIN {db}.terms b ON b.id = p JOIN {db}.terms c ON c.id = o
"""
QUADS = """
SELECT a.text AS s, b.text AS p, c.text AS o, d.text AS g
FROM (SELECT s, p, o, g FROM {graphs} GROUP BY s, p, o, g HAVING sum(sign) > 0)
JOIN {db}.terms a ON a.id = s JOIN {db}.terms b ON b.id = p JOIN {db}.terms c ON c.id = o
LEFT JOIN {db}.terms d ON d.id = g
"""
CLASSES = f"""
SELECT o AS class, count(*) AS instances FROM {{db}}.triples WHERE p = '<{RDF}type>' GROUP BY o
"""
VERTICES = f"""
SELECT text AS id FROM {{db}}.terms
LEFT SEMI JOIN (
  SELECT s AS node FROM {{db}}.ids
  UNION ALL SELECT o FROM {{db}}.ids WHERE (o & {KIND_MASK}) IN ({IRI}, {BLANK})
) ON id = node
"""
EDGES = """
SELECT s AS src, o AS dst, p AS relationship FROM {db}.triples WHERE o NOT LIKE '"%' AND o NOT LIKE '<<%'
"""


@dataclass(frozen=True, slots=True)
class SqlViews:
    """The views of a knowledge base at a commit, in one database."""

    session: SparkSession
    base: KnowledgeBase
    commit: Commit
    database: str

    def create(self) -> list[str]:
        """Make them, in place of those of another version; their names."""
        if not NAME.fullmatch(self.database):
            raise InputError(
                f"{self.database!r} is no name of a database",
                hint="letters, digits and _, as in kg",
            )
        definitions = self._definitions()
        self.session.sql(f"CREATE DATABASE IF NOT EXISTS {self.database}")
        known = self._known()
        self._check_free(definitions, known)
        for name, text in definitions.items():
            properties = (
                f"'{OWNER}' = '{_quoted(str(self.base.path))}', '{VERSION}' = '{self.commit.seq}'"
            )
            self.session.sql(
                f"CREATE OR REPLACE VIEW {self.database}.{name} TBLPROPERTIES ({properties}) AS {text}"
            )
        for name in known:
            if name.startswith(FACTS) and name not in definitions and self._is_ours(name):
                self.session.sql(f"DROP VIEW {self.database}.{name}")
        return [f"{self.database}.{name}" for name in definitions]

    def _definitions(self) -> dict[str, str]:
        """The text of each view; later ones may use earlier ones."""
        facts = self._holding(TRIPLES_TABLE, CHANGES)
        db = self.database
        found = {
            "terms": f"SELECT id, text FROM {self._table(TERMS)}",
            "ids": IDS.format(facts=facts),
            "triples": TRIPLES.format(db=db),
            "graphs": QUADS.format(db=db, graphs=self._table(GRAPHS)),
            "classes": CLASSES.format(db=db),
            "vertices": VERTICES.format(db=db),
            "edges": EDGES.format(db=db),
        }
        return found | self._of_predicates()

    def _of_predicates(self) -> dict[str, str]:
        facts = self._holding(PREDICATES_TABLE, PREDICATE_CHANGES)
        found = {}
        for name, (predicate, size) in _named(self._predicates()).items():
            joins = "".join(
                f" JOIN {self.database}.terms t{n} ON t{n}.id = arguments[{n}]" for n in range(size)
            )
            columns = "".join(f"t{n}.text AS a{n + 1}, " for n in range(size))
            found[name] = (
                f"SELECT {columns}told FROM {facts}{joins} "
                f"WHERE pred = {predicate} AND size(arguments) = {size}"
            )
        return found

    def _predicates(self) -> list[tuple[str, int, int]]:
        """Names of predicates that users see, with their ids and how many arguments there are."""
        from pyspark.sql import functions as F  # noqa: N812

        if PREDICATES_TABLE not in self.commit.versions:
            return []
        facts = frames.counted_predicates(self.session, self.base, self.commit)
        kinds = facts.select("pred", F.size("arguments").alias("size")).distinct()
        terms = frames.terms_frame(self.session, self.base, self.commit)
        rows = kinds.join(terms, kinds["pred"] == terms["id"]).collect()
        named = ((row.text[1:], row.pred, row.size) for row in rows)
        return sorted(each for each in named if not each[0].startswith("_"))

    # tables as SQL

    def _holding(self, table: str, changed: str) -> str:
        """What the facts of a table and their signed changes come to, as a subquery."""
        keys = [field.name for field in SCHEMAS[table] if field.name not in frames.COUNTS]
        listed = ", ".join(keys)
        whole = f"SELECT {listed}, support, told FROM {self._table(table)}"
        if self.base.files(changed, self.commit):
            whole += f" UNION ALL SELECT {listed}, support, told FROM {self._table(changed)}"
            whole = (
                f"SELECT {listed}, sum(support) AS support, sum(told) AS told FROM ({whole}) "
                f"GROUP BY {listed} HAVING sum(support) > 0 OR sum(told) > 0"
            )
        return f"(SELECT {listed}, told > 0 AS told FROM ({whole}))"

    def _table(self, table: str) -> str:
        """The files of a table, as one that can be selected from."""
        files = [str(file) for file in self.base.files(table, self.commit)]
        if not files:
            columns = ", ".join(
                f"CAST(NULL AS {frames.TYPES[field.type]}) AS `{field.name}`"
                for field in SCHEMAS[table]
            )
            return f"(SELECT {columns} WHERE false)"
        folder, _, first = files[0].rpartition("/")
        names = ",".join(name.rpartition("/")[2] for name in files)
        # Several files are a pattern; the names that we give them have nothing to be escaped.
        path = f"{frames.literally(folder)}/{f'{{{names}}}' if len(files) > 1 else first}"
        return f"parquet.`{path.replace('`', '``')}`"

    # the database

    def _known(self) -> set[str]:
        """The tables and views that the database has."""
        rows = self.session.sql(f"SHOW TABLES IN {self.database}").collect()
        return {row.tableName for row in rows if not row.isTemporary}

    def _check_free(self, names: Iterable[str], known: set[str]) -> None:
        for name in names:
            if name in known and not self._is_ours(name):
                raise ConflictError(
                    f"{self.database}.{name} is there, and is no view of a knowledge base",
                    hint="give the views a database of their own: create_views(name)",
                )

    def _is_ours(self, name: str) -> bool:
        rows = self.session.sql(f"SHOW TBLPROPERTIES {self.database}.{name}").collect()
        return OWNER in {row.key for row in rows}


def _named(predicates: Iterable[tuple[str, int, int]]) -> Mapping[str, tuple[int, int]]:
    """The view of each predicate, by names that differ for SQL, where case makes no difference.

    >>> list(_named([("isIn", 1, 2), ("isIn", 1, 3), ("is-in", 2, 2), ("dry", 3, 0)]))
    ['facts_isin', 'facts_isin_3', 'facts_is_in', 'facts_dry']
    """
    found: dict[str, tuple[int, int]] = {}
    for name, predicate, size in predicates:
        plain = FACTS + re.sub(r"\W", "_", name.lower(), flags=re.ASCII)
        choices = [plain, f"{plain}_{size}", *(f"{plain}_{size}_{n}" for n in range(2, 1000))]
        found[next(choice for choice in choices if choice not in found)] = predicate, size
    return found


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace("'", "\\'")

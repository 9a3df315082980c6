"""Combinations of operators that a random search has tried: answers are those of pyoxigraph."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from pyoxigraph import RdfFormat, Store

import livefacts as lf

DATA = """
<x:a> <x:p> <x:b> . <x:b> <x:p> <x:c> . <x:c> <x:q> <x:a> . <x:b> <x:q> 1 . <x:c> <x:r> 2.5 .
<x:a> <x:t> "2026-11-16T10:00:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<x:b> <x:t> "2026-11-16T10:00:00+05:00"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<x:c> <x:t> "2026-11-16T10:00:00Z"^^<http://www.w3.org/2001/XMLSchema#dateTime> .
<x:d> <x:t> "2026-11-16"^^<http://www.w3.org/2001/XMLSchema#date> .
"""
INNER = "{ SELECT ?z (COUNT(*) AS ?m) { ?z <x:p> ?w } GROUP BY ?z }"
QUERIES = {
    "an inner query of an inner query in EXISTS": f"""
        SELECT ?x {{ ?x <x:p> ?y FILTER EXISTS {{ {{ SELECT ?x (1 AS ?n) {{ {INNER} }} }} }} }}""",
    "LIMIT in OPTIONAL": """
        SELECT * { ?x <x:p> ?y OPTIONAL { { SELECT ?y { ?y <x:q> ?k } ORDER BY ?y LIMIT 1 } } }""",
    "paths in MINUS": "SELECT * { ?x <x:p>|<x:q> ?y MINUS { ?y <x:p>+/<x:q> ?x } }",
    "UNDEF beside OPTIONAL": """
        SELECT * { VALUES (?x ?k) { (UNDEF 1) (<x:c> UNDEF) } ?x <x:p>? ?y
          OPTIONAL { ?y <x:q> ?k } }""",
    "totals of nothing": "SELECT (COUNT(*) AS ?n) (SUM(?y) AS ?s) (MAX(?y) AS ?m) { ?x <x:no> ?y }",
    "groups of nothing": "SELECT ?x (COUNT(*) AS ?n) { ?x <x:no> ?y } GROUP BY ?x",
    "EXISTS in a total": """
        SELECT (SUM(IF(EXISTS { ?x <x:q> ?k }, 1, 0)) AS ?n) { ?x ?p ?y }
        HAVING (COUNT(*) > 1)""",
    "times with and without zones": """
        SELECT ?x ?y ((?a < ?b) AS ?l) (COALESCE(TZ(?a), "none") AS ?z) {
          ?x <x:t> ?a . ?y <x:t> ?b FILTER(COALESCE(?a <= ?b, true)) }""",
}


def bag(result: Any) -> Counter[Any]:
    names = sorted(getattr(name, "value", name) for name in result.variables)
    return Counter(tuple(str(row[name]) for name in names) for row in result)


@pytest.mark.parametrize("name", QUERIES)
def test_operators_go_together(name: str) -> None:
    r, store = lf.Reasoner(), Store()
    r.add(DATA)
    store.load(DATA.encode(), RdfFormat.TURTLE)
    expected = bag(store.query(QUERIES[name]))
    assert bag(r.query(QUERIES[name])) == expected
    assert bag(r.watch(QUERIES[name]).answers()) == expected

"""Query texts: what the benchmark of queries asks, in SPARQL and some of it in SQL.

LUBM's fourteen queries, or queries of the same shapes over generated universities; then groups,
stars and snowflakes over the same data; cycles in a graph, and paths in a tree.  In SQL,
`t(s, p, o)` is the table of ids, and names in braces stand for ids.
"""

from __future__ import annotations

from collections.abc import Iterable

FOURTEEN = {
    "Q1": "?x a ub:GraduateStudent ; ub:takesCourse <{home}/GraduateCourse0> .",
    "Q2": "?x a ub:GraduateStudent . ?y a ub:University . ?z a ub:Department . ?x ub:memberOf ?z . "
    "?z ub:subOrganizationOf ?y . ?x ub:undergraduateDegreeFrom ?y .",
    "Q3": "?x a ub:Publication ; ub:publicationAuthor <{home}/AssistantProfessor0> .",
    "Q4": "?x a ub:Professor ; ub:worksFor <{home}> ; ub:name ?y1 ; ub:emailAddress ?y2 ; ub:telephone ?y3 .",
    "Q5": "?x a ub:Person ; ub:memberOf <{home}> .",
    "Q6": "?x a ub:Student .",
    "Q7": "?x a ub:Student . ?y a ub:Course . ?x ub:takesCourse ?y . <{home}/AssociateProfessor0> ub:teacherOf ?y .",
    "Q8": "?x a ub:Student . ?y a ub:Department . ?x ub:memberOf ?y . "
    "?y ub:subOrganizationOf <{university}> . ?x ub:emailAddress ?z .",
    "Q9": "?x a ub:Student . ?y a ub:Faculty . ?z a ub:Course . ?x ub:advisor ?y . ?y ub:teacherOf ?z . "
    "?x ub:takesCourse ?z .",
    "Q10": "?x a ub:Student ; ub:takesCourse <{home}/GraduateCourse0> .",
    "Q11": "?x a ub:ResearchGroup ; ub:subOrganizationOf <{university}> .",
    "Q12": "?x a ub:Chair . ?y a ub:Department . ?x ub:worksFor ?y . ?y ub:subOrganizationOf <{university}> .",
    "Q13": "?x a ub:Person . <{university}> ub:hasAlumnus ?x .",
    "Q14": "?x a ub:UndergraduateStudent .",
}
OTHERS = {
    "everything by class": "SELECT ?c (COUNT(*) AS ?n) { ?x a ?c } GROUP BY ?c",
    "COUNT of everything": "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
    "distinct predicates": "SELECT DISTINCT ?p { ?s ?p ?o }",
    "star with OPTIONAL": "SELECT ?x ?n ?e { ?x a ub:FullProfessor ; ub:name ?n OPTIONAL { ?x ub:emailAddress ?e } }",
    "snowflake": "SELECT ?x ?u ?c { ?x ub:advisor ?p . ?p ub:worksFor ?d . ?d ub:subOrganizationOf ?u . "
    "?p ub:teacherOf ?c . ?x ub:takesCourse ?c }",
    "FILTER NOT EXISTS": "SELECT ?x { ?x a ub:GraduateStudent FILTER NOT EXISTS { ?x ub:advisor ?p . ?p a ub:FullProfessor } }",
    "ORDER BY, LIMIT": "SELECT ?x ?n { ?x a ub:Student ; ub:name ?n } ORDER BY DESC(?n) ?x LIMIT 20",
    "courses by professor": "SELECT ?p (COUNT(DISTINCT ?x) AS ?n) { ?p ub:teacherOf ?c . ?x ub:takesCourse ?c } GROUP BY ?p",
}
EDGES = {
    "triangles": "SELECT (COUNT(*) AS ?n) { ?a <x:e> ?b . ?b <x:e> ?c . ?c <x:e> ?a }",
    "4-cycles": "SELECT (COUNT(*) AS ?n) { ?a <x:e> ?b . ?b <x:e> ?c . ?c <x:e> ?d . ?d <x:e> ?a }",
    "4-cliques": "SELECT (COUNT(*) AS ?n) { ?a <x:e> ?b . ?a <x:e> ?c . ?a <x:e> ?d . ?b <x:e> ?c . ?b <x:e> ?d . ?c <x:e> ?d }",
    "a hub without triangles": "SELECT (COUNT(*) AS ?n) { ?a <x:h> ?b . ?b <x:h> ?c . ?c <x:h> ?a }",
    "paths * below a node": "SELECT ?y { <x:n2> <x:up>* ?y }",
    "paths + from below": "SELECT ?y { ?y <x:up>+ <x:n9> }",
}


def _joined(shown: str, patterns: Iterable[tuple[str, str, str]]) -> str:
    """Triple patterns as SQL: names in braces are ids, others are variables."""
    first: dict[str, str] = {}
    tests, tables = [], []
    for number, slots in enumerate(patterns):
        tables.append(f"t t{number}")
        for column, slot in zip("spo", slots, strict=True):
            here = f"t{number}.{column}"
            if slot[0] == "{":
                tests.append(f"{here} = {slot}")
            elif slot in first:
                tests.append(f"{here} = {first[slot]}")
            else:
                first[slot] = here
    listed = "COUNT(*) AS n" if shown == "n" else ", ".join(f"{first[v]} AS {v}" for v in shown)
    return f"SELECT {listed} FROM {', '.join(tables)} WHERE {' AND '.join(tests)}"


TYPE, EDGE = "{rdf:type}", "{<x:e>}"
SQL = {
    "Q2": _joined(
        "xyz",
        [
            ("x", TYPE, "{ub:GraduateStudent}"),
            ("y", TYPE, "{ub:University}"),
            ("z", TYPE, "{ub:Department}"),
            ("x", "{ub:memberOf}", "z"),
            ("z", "{ub:subOrganizationOf}", "y"),
            ("x", "{ub:undergraduateDegreeFrom}", "y"),
        ],
    ),
    "Q6": _joined("x", [("x", TYPE, "{ub:Student}")]),
    "Q9": _joined(
        "xyz",
        [
            ("x", TYPE, "{ub:Student}"),
            ("y", TYPE, "{ub:Faculty}"),
            ("z", TYPE, "{ub:Course}"),
            ("x", "{ub:advisor}", "y"),
            ("y", "{ub:teacherOf}", "z"),
            ("x", "{ub:takesCourse}", "z"),
        ],
    ),
    "everything by class": "SELECT o AS c, COUNT(*) AS n FROM t WHERE p = {rdf:type} GROUP BY o",
    "star with OPTIONAL": "SELECT a.s AS x, b.o AS name, c.o AS e FROM t a JOIN t b ON b.s = a.s "
    "LEFT JOIN t c ON c.s = a.s AND c.p = {ub:emailAddress} "
    "WHERE a.p = {rdf:type} AND a.o = {ub:FullProfessor} AND b.p = {ub:name}",
    "triangles": _joined("n", [("a", EDGE, "b"), ("b", EDGE, "c"), ("c", EDGE, "a")]),
    "a hub without triangles": _joined(
        "n", [("a", "{<x:h>}", "b"), ("b", "{<x:h>}", "c"), ("c", "{<x:h>}", "a")]
    ),
}
"""Hand-written; by the names of the same queries in SPARQL."""

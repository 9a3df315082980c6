"""Random shapes over random graphs that change: violations as pyshacl finds them.

Results are compared by focus node, path, value and component.  pyshacl reads everything anew after
each change; here a violation comes and goes with it.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from pyoxigraph import RdfFormat, Triple
from pyoxigraph import parse as parse_rdf
from tests.properties.generate.seeds import chunks

import livefacts as lf

pyshacl = pytest.importorskip("pyshacl", reason="pyshacl is the second opinion")
rdflib = pytest.importorskip("rdflib")

SEEDS = 5
EX = "http://example.org/"
SH = "http://www.w3.org/ns/shacl#"
PREFIXES = f"""@prefix : <{EX}> .
@prefix sh: <{SH}> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
NODES = [":a", ":b", ":c", ":d"]
VALUES = [*NODES, '"x"', "1", "5", "2.5", '"y"@en', '"2026-01-31"^^xsd:date']
DATA = VALUES[:-1]
"""pySHACL has dates below numbers, where SPARQL cannot compare them: there are none among these."""
PATHS = [":p", ":q", ":r"]


def some_constraints(random: Random, depth: int, most: int) -> list[str]:
    """Constraints of one shape, which may have one `sh:in` and one `sh:nodeKind`."""
    found = [a_constraint(random, depth) for _ in range(most)]
    single = {each.split()[0]: each for each in found if each.startswith(("sh:in ", "sh:nodeKind"))}
    return [each for each in found if single.get(each.split()[0], each) == each]


def a_constraint(random: Random, depth: int) -> str:
    """What a shape asks of values."""
    simple = [
        lambda: f"sh:class :{random.choice('CDE')}",
        lambda: f"sh:datatype xsd:{random.choice(['string', 'integer', 'decimal', 'date'])}",
        lambda: f"sh:nodeKind sh:{random.choice(['Literal', 'BlankNodeOrIRI'])}",
        lambda: (
            f"sh:{random.choice(['min', 'max'])}{random.choice(['In', 'Ex'])}clusive {random.choice(['2', '5', '3.5'])}"
        ),
        lambda: f"sh:in ( {' '.join(random.sample(VALUES, random.randint(1, 5)))} )",
        lambda: f"sh:hasValue {random.choice(VALUES)}",
    ]
    nested = [
        lambda: f"sh:not {a_shape(random, depth + 1)}",
        lambda: f"sh:or ( {a_shape(random, depth + 1)} {a_shape(random, depth + 1)} )",
        lambda: f"sh:and ( {a_shape(random, depth + 1)} {a_shape(random, depth + 1)} )",
        lambda: f"sh:node {a_shape(random, depth + 1)}",
    ]
    choices = [*simple, *nested] if depth < 2 else simple
    return random.choice(choices)()


def a_property(random: Random, depth: int) -> str:
    path = random.choice(PATHS)
    kind = random.random()
    if kind < 0.15:
        path = f"[ sh:inversePath {path} ]"
    elif kind < 0.3:
        path = f"( {path} {random.choice(PATHS)} )"
    asked = some_constraints(random, depth, random.randint(0, 2))
    if random.random() < 0.6:
        asked.append(f"sh:{random.choice(['min', 'max'])}Count {random.randint(0, 2)}")
    if random.random() < 0.2:
        asked.append(f"sh:{random.choice(['equals', 'disjoint'])} {random.choice(PATHS)}")
    # Of most constraints a shape has one at most.
    once = {each.split()[0]: each for each in asked}
    return f"[ sh:path {path} ; {' ; '.join(once.values())} ]".replace(" ;  ]", " ]")


def a_shape(random: Random, depth: int) -> str:
    """A shape without a name."""
    if random.random() < 0.5:
        return f"[ sh:property {a_property(random, depth)} ]"
    return f"[ {a_constraint(random, max(depth, 1))} ]"


def random_shapes(random: Random) -> str:
    lines = [PREFIXES]
    for number in range(random.randint(1, 3)):
        target = random.choice(
            [
                "sh:targetClass :C",
                "sh:targetNode :a",
                "sh:targetSubjectsOf :p",
                "sh:targetObjectsOf :q",
            ]
        )
        parts = [
            target,
            *(f"sh:property {a_property(random, 0)}" for _ in range(random.randint(1, 2))),
        ]
        if random.random() < 0.3:
            parts.append(a_constraint(random, 1))
        if random.random() < 0.2:
            parts.append(
                "sh:closed true ; sh:ignoredProperties ( <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> )"
            )
        lines.append(f":S{number} a sh:NodeShape ; {' ; '.join(parts)} .")
    return "\n".join(lines)


def random_data(random: Random) -> list[Triple]:
    lines = [PREFIXES, ":C rdfs:subClassOf :D .", ":D rdfs:subClassOf :E ."]
    for _ in range(random.randint(8, 25)):
        if random.random() < 0.3:
            lines.append(f"{random.choice(NODES)} a :{random.choice('CDE')} .")
        else:
            lines.append(f"{random.choice(NODES)} {random.choice(PATHS)} {random.choice(DATA)} .")
    return list(
        dict.fromkeys(q.triple for q in parse_rdf("\n".join(lines), format=RdfFormat.TURTLE))
    )


def as_text(term: object) -> str | None:
    return None if term is None else str(term)


def ours(r: lf.Reasoner) -> set[tuple[str | None, ...]]:
    found = set()
    for violation in r.violations():
        given = violation.bindings
        component = given["component"].value.removeprefix(SH)
        value = None if component == "HasValueConstraintComponent" else as_text(given.get("value"))
        found.add((as_text(given["focus"]), as_text(given.get("path")), value, component))
    return found


def theirs(facts: list[Triple], shapes: str) -> set[tuple[str | None, ...]]:
    data = rdflib.Graph().parse(data="".join(f"{fact} .\n" for fact in facts), format="nt")
    graph = rdflib.Graph().parse(data=shapes, format="turtle")
    _, report, _ = pyshacl.validate(data, shacl_graph=graph)
    sh = rdflib.Namespace(SH)
    found = set()
    for result in report.objects(None, sh.result):
        path, value = report.value(result, sh.resultPath), report.value(result, sh.value)
        component = str(report.value(result, sh.sourceConstraintComponent)).removeprefix(SH)
        # A blank node is the path of a sequence or an inversion.
        named = None if path is None or isinstance(path, rdflib.BNode) else path.n3()
        focus = report.value(result, sh.focusNode)
        found.add((focus.n3(), named, None if value is None else value.n3(), component))
    return found


def plain(results: set[tuple[str | None, ...]]) -> set[tuple[str | None, ...]]:
    """Without values of components for which the two write them differently."""
    silent = {"HasValueConstraintComponent", "NotConstraintComponent"}
    return {(f, p, None if c in silent else v, c) for f, p, v, c in results}


def check(seed: int, folder: Path) -> None:
    random = Random(seed)
    shapes, facts = random_shapes(random), random_data(random)
    path = folder / f"shapes{seed}.ttl"
    path.write_text(shapes, encoding="utf-8")
    r = lf.Reasoner(rules=f"shacl:{path}")
    present: dict[Triple, None] = {}
    seen: set[object] = {*map(str, r.violations())}
    for step in range(3):
        came, gone = facts[step::3], [f for f in present if random.random() < 0.4]
        present = {f: None for f in [*present, *came] if f not in gone or f in came}
        d = r.apply(add=came, remove=gone)
        seen = (seen - {*map(str, d.resolved)}) | {*map(str, d.violations)}
        assert seen == {*map(str, r.violations())}
        expected = theirs(list(present), shapes)
        assert plain(ours(r)) == plain(expected), f"{shapes}\n{[*map(str, present)]}"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("chunk", chunks(40, usual=4))
def test_violations_of_random_shapes_come_and_go_as_pyshacl_finds_them(
    chunk: int, tmp_path: Path
) -> None:
    for seed in range(SEEDS):
        check(chunk * SEEDS + seed, tmp_path)

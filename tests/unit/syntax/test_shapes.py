"""Shapes of SHACL, where rules are taken."""

from __future__ import annotations

from pathlib import Path

import pytest

import livefacts as lf

PREFIXES = """@prefix sh: <http://www.w3.org/ns/shacl#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
@prefix : <http://example.org/> .
"""


def reasoner(folder: Path, shapes: str, **options: str) -> lf.Reasoner:
    path = folder / "shapes.ttl"
    path.write_text(PREFIXES + shapes, encoding="utf-8")
    return lf.Reasoner(rules=f"shacl:{path}", **options)  # type: ignore[arg-type]


def add(r: lf.Reasoner, data: str) -> lf.Delta:
    return r.add(PREFIXES + data)


def test_a_violation_says_where_and_why_and_goes_with_its_cause(tmp_path: Path) -> None:
    r = reasoner(
        tmp_path,
        ':S a sh:NodeShape ; sh:targetClass :C ; sh:property [ sh:path :p ; sh:minCount 2 ; sh:message "two" ] .',
    )
    d = add(r, ":a a :C ; :p 1 .")
    (violation,) = d.violations
    shown = {name: str(term) for name, term in violation.bindings.items()}
    assert shown == {
        "focus": "<http://example.org/a>",
        "path": "<http://example.org/p>",
        "component": "<http://www.w3.org/ns/shacl#MinCountConstraintComponent>",
        "message": '"two"',
    }
    assert add(r, ":a :p 2 .").resolved == (violation,)
    assert r.verify()


def test_a_shape_of_a_superclass_is_asked_of_instances_of_its_subclasses(tmp_path: Path) -> None:
    r = reasoner(tmp_path, ":S a sh:NodeShape ; sh:targetClass :C ; sh:closed true .")
    rdfs = "<http://www.w3.org/2000/01/rdf-schema#subClassOf>"
    d = add(r, f":B {rdfs} :C . :a a :B ; :p 1 .")
    # rdf:type itself is not ignored by itself.
    assert sorted(str(v.bindings["path"]) for v in d.violations) == [
        "<http://example.org/p>",
        "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>",
    ]


def test_a_change_that_violates_a_shape_can_be_refused(tmp_path: Path) -> None:
    shapes = (
        ":S a sh:NodeShape ; sh:targetSubjectsOf :p ; sh:property [ sh:path :p ; sh:in ( 1 2 ) ] ."
    )
    r = reasoner(tmp_path, shapes, on_violation="refuse")
    add(r, ":a :p 1 .")
    with pytest.raises(lf.ViolationError, match="the change violates"):
        add(r, ":a :p 3 .")
    assert len(r) == 1


def test_what_is_not_read_is_listed_and_the_rest_is_checked(tmp_path: Path) -> None:
    shapes = """:S a sh:NodeShape ; sh:targetNode :a ; sh:property [ sh:path :p ; sh:pattern "x" ; sh:maxCount 1 ] ;
        sh:property [ sh:path [ sh:alternativePath ( :p :q ) ] ; sh:minCount 1 ] ; sh:nodeKind sh:IRI ."""
    with pytest.warns(lf.LivefactsWarning) as caught:
        r = reasoner(tmp_path, shapes)
    assert [line.split(": ", 1)[1] for line in str(caught[0].message).splitlines()[1:]] == [
        "<http://example.org/S>: sh:nodeKind: only sh:Literal and sh:BlankNodeOrIRI can be told apart",
        "a shape without a name: sh:pattern: this constraint is not read",
        "a shape without a name: sh:path: only properties, their inversions and sequences of them are read",
    ]
    assert len(add(r, ":a :p 1, 2 .").violations) == 1


def test_a_shape_that_negates_itself_is_refused(tmp_path: Path) -> None:
    with pytest.raises(lf.UnstratifiedError):
        reasoner(tmp_path, ":S a sh:NodeShape ; sh:targetNode :a ; sh:not :S .")


def test_a_deactivated_shape_asks_nothing(tmp_path: Path) -> None:
    r = reasoner(
        tmp_path,
        ":S a sh:NodeShape ; sh:targetNode :a ; sh:deactivated true ; sh:property [ sh:path :p ; sh:minCount 1 ] .",
    )
    assert r.violations() == []


def test_shapes_without_a_file_are_refused() -> None:
    with pytest.raises(lf.RuleError, match="needs a file of shapes"):
        lf.Reasoner(rules="shacl:")


@pytest.mark.parametrize(
    "denied",
    [
        '[ sh:property [ sh:path :p ; sh:pattern "x" ] ]',
        "[ sh:path [ sh:zeroOrMorePath :p ] ; sh:minCount 1 ]",
        '[ sh:or ( [ sh:not [ sh:node [ sh:pattern "x" ] ] ] [ sh:hasValue :b ] ) ]',
    ],
)
def test_what_denies_a_shape_that_is_not_all_read_is_not_read(tmp_path: Path, denied: str) -> None:
    shapes = f":S a sh:NodeShape ; sh:targetClass :C ; sh:not {denied} ; sh:hasValue :b ."
    with pytest.warns(lf.LivefactsWarning, match="sh:not: not all of what it denies is read"):
        r = reasoner(tmp_path, shapes)
    (violation,) = add(r, ':a a :C ; :p "1" .').violations
    assert "HasValue" in str(violation.bindings["component"])


def test_long_lists_of_two_shapes_are_told_apart_by_any_item(tmp_path: Path) -> None:
    shape = (
        ":S{0} a sh:NodeShape ; sh:targetClass :C{0} ; sh:property [ sh:path :p ; sh:in ({1}) ] ."
    )
    r = reasoner(
        tmp_path, "".join(shape.format(n, " ".join(map(str, range(n)))) for n in (2000, 2001))
    )
    assert len(add(r, ":a a :C2000 ; :p 2000 . :b a :C2001 ; :p 2000 .").violations) == 1


def test_shapes_without_a_name_in_a_circle_are_read(tmp_path: Path) -> None:
    r = reasoner(
        tmp_path,
        ":S a sh:NodeShape ; sh:targetClass :C ; sh:property _:p, _:q ."
        "_:p sh:path :p ; sh:property _:p, _:q ; sh:maxInclusive 1 ."
        "_:q sh:path :q ; sh:property _:q, _:p ; sh:maxInclusive 2 .",
    )
    assert len(add(r, ":a a :C ; :p 2 ; :q 2 .").violations) == 1


@pytest.mark.parametrize(
    ("shapes", "reason"),
    [
        (":S a sh:NodeShape ; sh:targetClass :C ; sh:property [ sh:minCount 1 ] .", "sh:path"),
        (":S a sh:NodeShape ; sh:targetClass :C ; sh:property :Missing .", "Missing.*sh:path"),
        (
            ":S a sh:NodeShape ; sh:property [ sh:path :p ; sh:minCount 1 ] .",
            "no shape with a target",
        ),
        (":S :minCount 1 .", "no shape with a target"),
    ],
)
def test_shapes_that_would_check_nothing_are_listed(
    tmp_path: Path, shapes: str, reason: str
) -> None:
    with pytest.warns(lf.LivefactsWarning, match=reason):
        reasoner(tmp_path, shapes)


def test_shapes_that_are_nested_too_deeply_are_an_error(tmp_path: Path) -> None:
    sh = "http://www.w3.org/ns/shacl#"
    lines = [f"_:b{n} <{sh}not> _:b{n + 1} .\n" for n in range(2000)]
    path = tmp_path / "deep.nt"
    path.write_text(f"_:b0 <{sh}targetNode> <x:a> .\n" + "".join(lines), encoding="utf-8")
    with pytest.raises(lf.LivefactsError, match="nested too deeply"):
        lf.Reasoner(rules=f"shacl:{path}")

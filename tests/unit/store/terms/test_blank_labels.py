"""Labels of blank nodes do not grow, however often a dump is loaded and written again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, RdfFormat, parse
from pyspark.sql import SparkSession

import livefacts as lf
from livefacts.spark import Pipeline
from livefacts.store.terms.blank_labels import LABEL, ScopedLabels

PLACES = (
    '_:a <x:p> [ <x:q> _:b ] . _:b <x:p> "_:a" . <http://e/_:b> <x:_:p> "\\"_:c", (1 2) . '
    "_:f7_x <x:p> _:leaf2_x . <x:s> <x:p> <<( _:b <x:q> _:c )>> ."
)
FORMATS = ("nt", "nq", "ttl", "trig", "jsonld", "rules")


def shape(path: Path) -> Any:
    """What a file says, whatever the labels."""
    reasoner = lf.Reasoner()
    reasoner.load(path)
    reasoner.dump(path.with_name("plain.nt"))
    found = Dataset(parse(path=path.with_name("plain.nt"), format=RdfFormat.N_TRIPLES))
    found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return found


@pytest.mark.parametrize("form", FORMATS)
def test_a_dump_of_a_dump_has_the_same_labels(tmp_path: Path, form: str) -> None:
    if form == "jsonld":  # which has no triple terms
        (tmp_path / "a.ttl").write_text(PLACES[: PLACES.index("<x:s>")], encoding="utf-8")
    else:
        (tmp_path / "a.ttl").write_text(PLACES, encoding="utf-8")
    reasoner = lf.Reasoner()
    for _ in range(2):
        reasoner.load(tmp_path / "a.ttl")
    texts = []
    for number in range(4):
        path = tmp_path / f"{number}.{form}"
        reasoner.dump(path)
        texts.append(sorted(path.read_text(encoding="utf-8").splitlines(), key=len))
        assert shape(path) == shape(tmp_path / f"0.{form}")
        reasoner = lf.Reasoner()
        reasoner.load(path)
    sizes = [list(map(len, lines)) for lines in texts]
    assert sizes[1] == sizes[2] == sizes[3]


def test_labels_with_a_scope_and_without_stay_two(tmp_path: Path) -> None:
    """Also on the road of N-Triples, where a kernel gives labels their scope."""
    lines = [
        f"_:{scope}{n} <x:p> _:{n} ." for n in ("a", "b.c", "f1_") for scope in ("f1_", "t2r1_")
    ]
    lines += ["_:s1f0_a <x:p> <<( _:f1_a <x:p> _:a )>> <x:g> .", "_:f1 <x:p> _:f_1 _:f1_a ."]
    (tmp_path / "a.nq").write_text("\n".join(lines[:-2]) + "\n" + "\n".join(lines[-2:]))
    (tmp_path / "a.trig").write_text(
        "\n".join(lines[:-2]) + "GRAPH <x:g> { _:s1f0_a <x:p> <<( _:f1_a <x:p> _:a )>> . }\n"
        "GRAPH _:f1_a { _:f1 <x:p> _:f_1 . }",
    )
    found = []
    for name in ("a.nq", "a.trig"):
        reasoner = lf.Reasoner()
        reasoner.load(tmp_path / name)
        reasoner.dump(tmp_path / "out.nq")
        found.append((tmp_path / "out.nq").read_text())
    assert sorted(found[0].splitlines()) == sorted(found[1].splitlines())
    labels = {match[1] for match in LABEL.finditer(found[0].encode()) if match[1]}
    assert len(labels) == len({m[1] for m in LABEL.finditer("\n".join(lines).encode()) if m[1]})
    assert max(map(len, labels)) <= len("n0123456789abcdef_f1_")


def test_strings_and_iris_are_no_labels() -> None:
    text = b'<http://e/_:b> <x:p> "a \\" _:c" .\n_:d <x:p> <<( _:d <x:q> _:e )>> .'
    scoped = ScopedLabels(b"f1").scoped(text)
    assert scoped == text.replace(b"_:d", b"_:f1_d").replace(b"_:e", b"_:f1_e")


def test_labels_do_not_grow_between_an_engine_and_spark(
    tmp_path: Path, spark: SparkSession
) -> None:
    path, lengths = tmp_path / "0.nt", []
    path.write_text("_:a <x:p> _:b .\n")
    for number in range(4):
        Pipeline(spark, tmp_path / f"kb{number}").ingest(path)
        with lf.Reasoner.open(tmp_path / f"kb{number}") as reasoner:
            path = tmp_path / f"{number + 1}.nt"
            reasoner.dump(path)
        lengths.append(len(path.read_text()))
    assert lengths[1:] == lengths[1:2] * 3

"""Dumps of random histories: in a format with graphs, each graph comes back as it was."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from pyoxigraph import CanonicalizationAlgorithm, Dataset, Quad, RdfFormat, Triple, parse
from tests.properties.compare.histories import applied
from tests.properties.generate.histories import Change, draw_history

import livefacts as lf

SEEDS = range(9_000, 9_040)
FORMATS = {"nq": RdfFormat.N_QUADS, "trig": RdfFormat.TRIG}
each_format = pytest.mark.parametrize("format", FORMATS)


def drawn() -> Iterator[tuple[lf.Reasoner, set[Quad]]]:
    """Random reasoners after a few changes, with the triples that each graph tells."""
    for seed in SEEDS:
        history = draw_history(seed, steps=5, graphs=True)
        reasoner, asserted = lf.Reasoner(single_path=history.single_path), frozenset()
        for change in (Change(rules_added=history.start), *history.changes):
            applied(reasoner, change)
            asserted = change.asserted_after(asserted)
        yield reasoner, {as_quad(each) for each in asserted if isinstance(each, Triple | Quad)}


def as_quad(asserted: Triple | Quad) -> Quad:
    return (
        asserted
        if isinstance(asserted, Quad)
        else Quad(asserted.subject, asserted.predicate, asserted.object)
    )


def dumped(reasoner: lf.Reasoner, format: str, derived: bool | None) -> bytes:
    target = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", lf.LivefactsWarning)
        reasoner.dump(target, format=format, derived=derived)
    return target.getvalue()


def dataset(quads: Iterable[Quad]) -> Dataset:
    """The quads, with blank nodes named by what is said of them."""
    found = Dataset(quads)
    found.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return found


@each_format
def test_a_dump_of_what_was_told_has_what_each_graph_tells(format: str) -> None:
    in_graphs = 0
    for reasoner, asserted in drawn():
        found = parse(dumped(reasoner, format, derived=False), format=FORMATS[format])
        assert set(found) == asserted
        in_graphs += any(
            quad not in asserted for quad in map(as_quad, (q.triple for q in asserted))
        )
    assert in_graphs > 5


@each_format
def test_conclusions_are_dumped_in_the_default_graph(format: str) -> None:
    concluding = 0
    for reasoner, asserted in drawn():
        derived = {as_quad(f) for f in reasoner.facts(derived=True) if isinstance(f, Triple)}
        found = parse(dumped(reasoner, format, derived=None), format=FORMATS[format])
        assert set(found) == asserted | derived
        concluding += bool(derived)
    assert concluding > 5


@each_format
def test_a_dump_that_is_loaded_brings_back_every_graph(format: str, tmp_path: Path) -> None:
    for reasoner, asserted in drawn():
        path = tmp_path / f"told.{format}"
        path.write_bytes(dumped(reasoner, format, derived=False))
        again = lf.Reasoner()
        again.load(path)
        found = parse(dumped(again, "nq", derived=None), format=RdfFormat.N_QUADS)
        assert dataset(found) == dataset(asserted)
        in_graphs = again.query("SELECT ?s ?p ?o ?g { GRAPH ?g { ?s ?p ?o } }")
        assert len(list(in_graphs)) == sum(as_quad(quad.triple) != quad for quad in asserted)

"""Generated timed streams: what the paper's rules need, the same every time."""

from __future__ import annotations

import json

import pytest

import livefacts as lf
from livefacts.errors import InputError
from livefacts.generate import TimedStream
from livefacts.generate.timed_streams import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_the_lines_of_a_stream_are_its_atoms(kind: str) -> None:
    stream = TimedStream(kind, points=3, rate=4, seed=1)
    for now, (line, atoms) in enumerate(zip(stream.lines(), stream.atoms(), strict=True)):
        asserted = json.loads(line)
        read = set(lf.Reasoner(rules=asserted["facts"]))
        assert asserted["at"] == now
        assert read == set(_reasoner_of(atoms))
        assert len(read) == 4


def _reasoner_of(atoms: list[object]) -> lf.Reasoner:
    reasoner = lf.Reasoner()
    reasoner.add(atoms)
    return reasoner


def test_a_diamond_never_tells_an_atom_twice_and_a_box_always_tells_the_same() -> None:
    diamond, box = (list(TimedStream(kind, points=5, rate=6).atoms()) for kind in KINDS[:2])
    assert len({atom for atoms in diamond for atom in atoms}) == 30
    assert all(atoms == box[0] for atoms in box)


@pytest.mark.parametrize("kind", KINDS)
def test_the_rules_of_a_stream_conclude_something_of_it(kind: str) -> None:
    stream = TimedStream(kind, points=6, rate=30, window=3)
    reasoner = lf.Reasoner(rules="\n".join(stream.rules()))
    for now, atoms in enumerate(stream.atoms()):
        reasoner.push(atoms, at=now)
        reasoner.advance(now)
    assert len(reasoner.facts(derived=True)) > 0


def test_the_same_seed_gives_the_same_bytes_and_another_others() -> None:
    one, again, other = (
        b"".join(TimedStream("join", points=3, rate=5, seed=seed).lines()) for seed in (1, 1, 2)
    )
    assert one == again != other


def test_a_stream_that_is_unknown_is_refused_with_those_there_are() -> None:
    with pytest.raises(InputError, match="there is no stream square") as refused:
        TimedStream("square", points=1)
    assert "diamond, box, join, cooling" in str(refused.value)

"""A disk that fails or is full, at any write, sync or rename: what was acknowledged is there."""

from __future__ import annotations

import errno
import gc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.journal import fact_texts, file_operations

RULES = "ancestor(?x, ?y) :- parent(?x, ?y) .\nseen(?s) :- sometime reading(?s) in [3] ."
QUERY = "REGISTER QUERY q AS SELECT ?s FROM STREAM <x:s> [RANGE 3 STEP 1] { ?s ?p ?o }"
MANY = "".join(f"<x:a{n}> <x:p> <x:b> .\n" for n in range(20))
CALLS: list[Callable[[lf.Reasoner], object]] = [
    lambda r: r.add("parent(ann, ben) ."),
    lambda r: r.add(MANY),
    lambda r: r.register(QUERY),
    lambda r: r.push("reading(s1) .", at=1, stream="x:s"),
    lambda r: r.advance(1),
    lambda r: fold(r),
    lambda r: r.add_rules("@id late own(?x) :- parent(?x, ?x) ."),
    lambda r: r.remove("parent(ann, ben) ."),
    lambda r: fold(r),
    lambda r: r.add("parent(cleo, dan) ."),
    lambda r: fold(r),
    lambda r: r.remove("<x:a7> <x:p> <x:b> ."),
    lambda r: fold(r),
    lambda r: r.advance(2),
]
State = tuple[int, int | None, list[str], list[str]]


def fold(reasoner: lf.Reasoner) -> None:
    """A checkpoint, where there is a folder."""
    if hasattr(reasoner, "path"):
        reasoner.checkpoint()


def state(reasoner: lf.Reasoner) -> State:
    rules = [rule.id for rule in reasoner.rules]
    return reasoner._state.seq, reasoner.now, sorted(map(str, reasoner)), rules


@pytest.fixture(scope="module")
def expected() -> list[State]:
    return states()


def states() -> list[State]:
    """The states before the first call, and after each."""
    twin = lf.Reasoner(RULES)
    found = [state(twin)]
    for call in CALLS:
        call(twin)
        found.append(state(twin))
    return found


@contextmanager
def steps(on_step: Callable[[str, Path], None]) -> Iterator[None]:
    """Someone hears of each step; changes of more than a few facts are files of their own."""
    many, fact_texts.MANY = fact_texts.MANY, 10
    file_operations.on_step = on_step
    try:
        yield
    finally:
        fact_texts.MANY, file_operations.on_step = many, file_operations._go_on


def acknowledged(folder: Path) -> int:
    """Make the calls; how many of them returned."""
    done = 0
    with suppress(lf.LivefactsError, OSError), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with lf.Reasoner.open(folder, RULES, keep=2, fold_after=None) as reasoner:
            for call in CALLS:
                call(reasoner)
                done += 1
    gc.collect()
    return done


def steps_of(folder: Path) -> list[str]:
    """All steps that the calls take."""
    heard: list[str] = []
    with steps(lambda step, path: heard.append(f"{step} {path.name}")):
        assert acknowledged(folder) == len(CALLS)
    return heard


def fails_at(number: int, code: int, folder: Path, expected: list[State]) -> None:
    """The disk fails at one step; what is there afterwards is all of some first calls."""
    left = [number]

    def fail(step: str, path: Path) -> None:
        left[0] -= 1
        if left[0] == 0:
            raise OSError(code, "the disk says no")

    with steps(fail):
        done = acknowledged(folder)
    with lf.Reasoner.open(folder, RULES) as again:
        assert state(again) in expected[done : done + 2]
        assert again.verify()
        assert list(again.registered()) == (["q"] if done > 2 else list(again.registered()))


CODES = (errno.ENOSPC, errno.EIO)


@pytest.mark.parametrize("part", range(2))
def test_what_was_acknowledged_survives_a_disk_that_fails(
    part: int, tmp_path: Path, expected: list[State]
) -> None:
    count = len(steps_of(tmp_path / "all"))
    for at in range(4):
        number = 1 + (part + 2 * at) * count // 8 + at
        fails_at(number, CODES[at % 2], tmp_path / str(number), expected)


@pytest.mark.thorough
@pytest.mark.parametrize("code", CODES)
def test_what_was_acknowledged_survives_a_disk_that_fails_at_any_step(
    code: int, tmp_path: Path, expected: list[State]
) -> None:
    for number in range(1, len(steps_of(tmp_path / "all")) + 1):
        fails_at(number, code, tmp_path / str(number), expected)

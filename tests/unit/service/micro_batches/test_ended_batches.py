"""A batch that is cut off anywhere, and comes again, leaves every answer once."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from tests.unit.service.micro_batches.cut_streams import (
    Asked,
    answers_embedded,
    answers_in,
    answers_in_batches,
    reasoner_of,
    table_of,
)
from tests.unit.service.micro_batches.test_cuts import PROGRAMS, QUERIES, lines_of

from livefacts.errors import LivefactsError
from livefacts.service.micro_batches import stream_reasoner

STEPS = ("before events", "event", "after events", "after answers", "after done")
SIZE = 9
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.unit.service.micro_batches.cut_streams import Asked, reasoner_of, table_of
from livefacts.service.micro_batches import stream_reasoner

text, folder, lines, size, wanted, nth = (
    Path(sys.argv[1]).read_text(), Path(sys.argv[2]), Path(sys.argv[3]).read_text().splitlines(),
    int(sys.argv[4]), sys.argv[5], int(sys.argv[6]),
)
seen = 0

def end(step):
    global seen
    seen += step == wanted
    if seen == nth:
        os.kill(os.getpid(), signal.SIGKILL)

stream_reasoner.on_step = end
stream = reasoner_of(Asked(text, 0), folder)
numbered = list(enumerate(lines))
for number, at in enumerate(range(0, len(numbered), size)):
    stream.take(table_of(numbered[at : at + size]), number)
"""


class EndedError(Exception):
    """Stands for the end of a process."""


def batches_of(lines: list[str]) -> list[list[tuple[int, str]]]:
    numbered = list(enumerate(lines))
    return [numbered[at : at + SIZE] for at in range(0, len(numbered), SIZE)]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize(
    "text", [PROGRAMS["negation"], QUERIES["new ones"]], ids=["run", "register"]
)
def test_a_batch_that_ended_at_a_step_and_comes_again_has_its_answers_once(
    step: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Asked(text)
    lines = lines_of(Random(step), 3, named=asked.is_query)
    left = {number: number % 4 + 1 for number in range(len(lines))}

    def end(seen: str) -> None:
        if seen == step and left.get(batch, 0):
            left[batch] -= 1
            if not left[batch]:
                raise EndedError

    monkeypatch.setattr(stream_reasoner, "on_step", end)
    stream = reasoner_of(asked, tmp_path)
    for batch, rows in enumerate(batches_of(lines)):
        for _ in range(3):
            try:
                stream.take(table_of(rows), batch)
                break
            except EndedError:
                stream.close()
                stream = reasoner_of(asked, tmp_path)
    stream.close()
    assert answers_in(tmp_path) == answers_embedded(asked, lines)


@pytest.mark.parametrize(("step", "nth"), [("event", 5), ("after events", 2), ("after answers", 1)])
def test_a_killed_driver_loses_and_doubles_nothing(step: str, nth: int, tmp_path: Path) -> None:
    asked = Asked(PROGRAMS["by time"])
    lines = lines_of(Random(f"{step} killed"), 3, named=False)
    (tmp_path / "text").write_text(asked.text)
    (tmp_path / "lines").write_text("\n".join(lines))
    given = [str(tmp_path / name) for name in ("text", "home", "lines")]
    ended = subprocess.run(
        [sys.executable, "-c", KILLED, *given, str(SIZE), step, str(nth)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        check=False,
    )
    assert ended.returncode == -signal.SIGKILL
    found = answers_in_batches(asked, batches_of(lines), tmp_path / "home")
    assert found == answers_embedded(asked, lines)


def test_another_query_at_the_same_place_is_refused_unless_it_is_an_upgrade(
    tmp_path: Path,
) -> None:
    lines = lines_of(Random("upgrade"), 0, named=False)
    first, second = Asked(PROGRAMS["by time"]), Asked(PROGRAMS["stepped"])
    answers_in_batches(first, batches_of(lines)[:1], tmp_path)
    with pytest.raises(LivefactsError, match="belongs to another query: text"):
        reasoner_of(second, tmp_path)
    stream = reasoner_of(second, tmp_path, upgrade=True)
    for number, rows in enumerate(batches_of(lines)[1:], 1):
        stream.take(table_of(rows), number)
    stream.close()
    later = [row["fact"] for row in answers_in(tmp_path) if row["op"] == "+"]
    assert any("/seen>" in fact for fact in later)

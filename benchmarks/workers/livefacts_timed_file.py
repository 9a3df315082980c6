"""A program over a file of timed facts: reading alone, with reasoning, and facts by the grammar.

A fact is read from JSON lines, pushed, and looked at by rules at its time point, as `livefacts run`
does.  The grammar reads the same texts, some of them, for comparison.
"""

from __future__ import annotations

import json
from typing import Any

from changing import timed
from reporting import Stages, run

from livefacts import Reasoner
from livefacts.generate import TimedStream
from livefacts.service.streams.event_time import EventTime
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.rulelang.rule_parser import parse
from livefacts.syntax.stream_files import read_events

BY_GRAMMAR = 4
"""Time points whose facts the grammar reads, too."""


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _figures({**job, "points": 3})
    return _figures(job)


def _figures(job: dict[str, Any]) -> dict[str, Any]:
    stream = TimedStream(job["kind"], job["points"], job["rate"])
    lines = list(stream.lines())
    count, some = job["points"] * job["rate"], lines[:BY_GRAMMAR]
    # What stands behind a remark is not plain.
    texts = [json.loads(line)["facts"] + "#" for line in some]
    reasoner = Reasoner(rules="\n".join(stream.rules()))
    return {
        "facts": count,
        "read": timed(lambda: _read(lines)) / count,
        "run": timed(lambda: _played(lines, reasoner)) / count,
        "grammar": timed(lambda: [parse(text) for text in texts]) / (len(some) * job["rate"]),
        "answers": len(reasoner.facts(derived=True)),
    }


def _read(lines: list[bytes]) -> None:
    with Rejects(None) as rejects:
        for _ in read_events(b"".join(lines), rejects, "json"):
            pass


def _played(lines: list[bytes], reasoner: Reasoner) -> None:
    events = EventTime(reasoner)
    with Rejects(None) as rejects:
        for event in read_events(b"".join(lines), rejects, "json"):
            events.push(event.facts, event.time)
    events.finish()


if __name__ == "__main__":
    run(main, "livefacts")

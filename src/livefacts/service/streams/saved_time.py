"""The saved time: the clock of a reasoner, and what streams have brought that can still matter.

It is a value that any dictionary can read, and that is all: what windows hold, and what follows
from it, is found anew from the arrivals, the rules and the time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from livefacts.journal import fact_texts
from livefacts.service.streams.feeds import Notes
from livefacts.service.streams.streams import Streams
from livefacts.store.terms.dictionary import Dictionary
from livefacts.store.terms.term_reader import TermReader

ARRIVALS, BEGAN = "arrivals", "began "


def state_of(streams: Streams) -> dict[str, Any]:
    """The present moment: plain data; `lanes`, the ids of streams; `parts`, facts of all kinds."""
    log = streams.log.state()
    began = streams.beginnings.state(streams.engine)
    lanes = [number for number, _ in (*log["forgotten"], *log["lateness"])]
    names = sorted({_stream(number) for number in lanes})
    place = {name: at for at, name in enumerate(names)}
    parts = {ARRIVALS: log["facts"]}
    parts |= {f"{BEGAN}{at}": facts for at, (_, facts) in enumerate(began)}
    return {
        "now": streams.now,
        "dense": streams.timeline.is_dense,
        "first": log["first"],
        "set_aside": log["set_aside"],
        "lateness": _placed(log["lateness"], 0, place),
        "forgotten": _placed(log["forgotten"], 0, place),
        "chunks": _placed(log["chunks"], 1, place),
        "began": [time for time, _ in began],
        "lanes": np.array(names, np.int32),
        "parts": parts,
    }


def resume(streams: Streams, state: Mapping[str, Any]) -> Notes:
    """Streams that are new go on from that moment; what their windows assert."""
    names = state["lanes"].tolist()
    log = {name: _placed(state[name], 0, names) for name in ("lateness", "forgotten")}
    log["chunks"] = _placed(state["chunks"], 1, names)
    streams.log.resume({**state, **log, "facts": state["parts"].get(ARRIVALS, {})})
    return streams.timeline.resume(state["now"], state["dense"])


def began(streams: Streams, state: Mapping[str, Any]) -> None:
    """What holds has held since then, not since it was read."""
    times = state["began"]
    streams.beginnings.resume(
        [(time, dict(state["parts"].get(f"{BEGAN}{at}", {}))) for at, time in enumerate(times)]
    )


def packed(state: Mapping[str, Any], terms: Dictionary | TermReader) -> dict[str, Any]:
    """The moment as plain data, with the texts of all terms."""
    lanes = fact_texts.texts_of(state["lanes"], terms)
    facts = fact_texts.pack(state["parts"], terms)
    return {**state, "lanes": lanes, "parts": facts}


def unpacked(found: Mapping[str, Any], dictionary: Dictionary) -> dict[str, Any]:
    """The moment, in the numbers of a dictionary."""
    lanes = fact_texts.number_texts(found["lanes"], dictionary)
    with dictionary.passing():
        parts = fact_texts.unpack(found["parts"], dictionary)
    return {**found, "lanes": lanes, "parts": parts}


def _stream(lane: int) -> int:
    return lane if lane >= 0 else ~lane


def _placed(rows: list[Any], column: int, names: Any) -> list[list[int]]:
    """Rows in which lanes are named otherwise; those that queries make stay apart."""
    found = []
    for row in rows:
        lane = row[column]
        named = names[_stream(lane)]
        found.append([*row[:column], named if lane >= 0 else ~named, *row[column + 1 :]])
    return found

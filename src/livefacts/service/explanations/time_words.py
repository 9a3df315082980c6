"""Time words: what the hidden facts of windows and clocks say in an explanation.

The names are those of `livefacts.plan.time_lowering`: a kind, the window, and the atom it is about.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from pyoxigraph import Triple

from livefacts.engine.contract import TRIPLES
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Symbol
from livefacts.plan import time_lowering as names
from livefacts.service.explanations.proof_trees import Explanation
from livefacts.service.streams.lifetimes import Lasting, lasting
from livefacts.service.streams.time_movement import Streams

SIMPLE = {
    names.NOW: "it is {0}",
    names.POINTS: "{0} is a time point of [{key}]",
    names.SIZE: "[{key}] has {0} time points",
    names.OPEN: "[{key}] has time points",
    names.FIRST: "{0} is the first time point of [{key}]",
    names.LAST_POINT: "{0} is the last time point of [{key}]",
    names.NEXT: "{0} is followed by {1} in [{key}]",
}
LITERALS = ("sometime", "always", "always-chain", "at")


def as_written(followed: Iterable[Rule], written: Iterable[Rule]) -> dict[str, Rule]:
    """The rules as they were written, by the ids under which they are followed."""
    by_id = {rule.id: rule for rule in written}
    ways = {rule.id: rule.id.partition(names.WAY)[0] for rule in followed}
    return by_id | {way: by_id[base] for way, base in ways.items() if base in by_id}


def with_times(
    explanation: Explanation, streams: Streams, written: Mapping[str, Rule]
) -> Explanation:
    """The explanation with the rules as they were written, and with how long the fact lasts."""
    explanation = replace(explanation, written=written)
    fact, now = explanation.fact, streams.now
    if now is None or not explanation.holds or not isinstance(fact, Triple | Fact):
        return explanation
    terms = [Symbol(fact.name), *fact.arguments] if isinstance(fact, Fact) else list(fact)
    shape = len(terms) if isinstance(fact, Fact) else TRIPLES
    row = np.array([streams.engine.dictionary.encode_one(term) for term in terms], np.int32)
    found = lasting(streams, shape, row)
    return explanation if found == Lasting() else replace(explanation, lasting=found)


def is_of_clock(fact: object) -> bool:
    """Whether a fact says only what time it is: nobody asserted it."""
    return isinstance(fact, Fact) and fact.name.partition(":")[0] + ":" in SIMPLE


def in_words(name: str, arguments: Sequence[str]) -> str | None:
    """A hidden fact about time as people would say it; None for any other fact.

    >>> in_words("_sometime:10:reading(? ?)", ["s1", "95"])
    'sometime reading(s1, 95) in [10]'
    >>> in_words("_arrived:hot", ["s1", "3"])
    'hot(s1) at 3'
    """
    kind, _, rest = name.partition(":")
    kind += ":"
    if not name.startswith("_") or kind == name.rstrip(":"):
        return None
    if kind in SIMPLE:
        return SIMPLE[kind].format(*arguments, key=rest)
    operator = kind[1:-1].removeprefix("hit_").removeprefix("run_")
    if operator in LITERALS and ":" in rest:
        return _literal(kind, operator, rest, list(arguments))
    return _COMPANIONS[kind](rest, list(arguments)) if kind in _COMPANIONS else None


def _literal(kind: str, operator: str, rest: str, arguments: list[str]) -> str:
    key, _, pattern = rest.partition(":")
    time = ""
    if operator == "at":
        time = arguments.pop(0)
    elif kind.startswith(("_hit_", "_run_")):
        time = arguments.pop()
    atom = _filled(pattern, arguments)
    if kind.startswith("_hit_"):
        return f"{atom} at {time}, in [{key}]"
    if kind.startswith("_run_"):
        return f"{atom} from the beginning of [{key}] to {time}"
    return f"{operator.removesuffix('-chain')} {time + ' ' if time else ''}{atom} in [{key}]"


def _filled(pattern: str, arguments: list[str]) -> str:
    """The atom of a pattern, with arguments in the place of its question marks."""
    name, _, slots = pattern.rstrip(")]").partition("(" if pattern.endswith(")") else "[")
    values = iter(arguments)
    filled = [next(values) if slot == "?" else slot for slot in slots.split(" ") if slot]
    return _atom(name, filled)


def _atom(name: str, arguments: list[str]) -> str:
    if not name:
        return " ".join(arguments)
    return f"{name}({', '.join(arguments)})" if arguments else name


def _arrived_on(name: str, arguments: list[str]) -> str:
    *inner, time, stream = arguments
    return f"{_atom(name, inner)} at {time} on {stream}"


def _timed(name: str, arguments: list[str]) -> str:
    return f"{_atom(name, arguments[:-1])} at {arguments[-1]}"


def _background(name: str, arguments: list[str]) -> str:
    return f"{_atom(name, arguments)} at all times"


def _recent(rest: str, arguments: list[str]) -> str:
    key, _, name = rest.rpartition(":")
    return f"{_atom(name, arguments[:-1])} at {arguments[-1]}, in [{key}]"


def _derived(pattern: str, arguments: list[str]) -> str:
    return f"{_filled(pattern, arguments)} by rules"


_COMPANIONS: dict[str, Callable[[str, list[str]], str]] = {
    names.ARRIVED: _timed,
    names.ARRIVED_ON: _arrived_on,
    names.MEANT: _timed,
    names.BACKGROUND: _background,
    names.RECENT: _recent,
    "_concluded:": _derived,
}

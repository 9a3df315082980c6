"""Memory use of what steps keep, container by container, each object once.

A dictionary of terms belongs to all; plans, code and classes are no state.  What is behind an
object of another library is not looked at, except for arrays.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from livefacts.store.terms.dictionary import Dictionary

NO_STATE = (Dictionary, type, ModuleType, FunctionType, BuiltinFunctionType, MethodType)
OURS, PLANS = "livefacts.", ("livefacts.plan.", "livefacts.language.")


class Footprint:
    """Measures; what was measured before is not counted again.

    >>> row = (1000, 2000)
    >>> measured = Footprint()
    >>> measured.bytes_of({row: 1}) > measured.bytes_of({row: 2})
    True
    """

    def __init__(self) -> None:
        self._seen: dict[int, Any] = {}

    def bytes_of(self, thing: Any) -> int:
        """The memory of a thing and of everything that it keeps."""
        total, waiting = 0, [thing]
        while waiting:
            each = waiting.pop()
            if id(each) in self._seen or isinstance(each, NO_STATE) or _is_plan(each):
                continue
            # Kept, not only noted: the number of an object that has gone may be another's.
            self._seen[id(each)] = each
            total += sys.getsizeof(each)
            waiting.extend(_inside(each))
        return total


def _is_plan(thing: Any) -> bool:
    return type(thing).__module__.startswith(PLANS)


def _inside(thing: Any) -> Iterator[Any]:
    if isinstance(thing, dict):
        yield from thing
        yield from thing.values()
        yield from getattr(thing, "__dict__", {}).values()
    elif isinstance(thing, list | tuple | set | frozenset | deque):
        yield from thing
    elif isinstance(thing, np.ndarray):
        if thing.base is not None:
            yield thing.base
    elif type(thing).__module__.startswith(OURS):
        yield from getattr(thing, "__dict__", {}).values()
        for name in getattr(thing, "__slots__", ()):
            if hasattr(thing, name):
                yield getattr(thing, name)


@dataclass(frozen=True, slots=True)
class KeptPart:
    """What is kept for one part of a query."""

    name: str
    entries: int
    bytes: int

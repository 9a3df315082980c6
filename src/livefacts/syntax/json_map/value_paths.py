"""Paths of values: places in a message, and what is there.

A path is `$`, the message, and steps: `.name` and `["any name"]` into an object, `[0]` into a
list from 0, `[*]` into each element of a list.  Slot a step does not fit, or null is at the
end, there is nothing: the path is missing.  Numbers keep the form in which they were written.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

from livefacts.errors import InputError


class Each(Enum):
    """The step into each element of a list."""

    ELEMENT = "[*]"


class JsonNumber(str):
    """A number of a message, as it is written there."""

    __slots__ = ()


Step = str | int | Each
LONGEST_SHOWN = 40


@dataclass(frozen=True, slots=True)
class JsonPath:
    """Steps from a message to a place in it; `is_optional` if nothing need be there."""

    steps: tuple[Step, ...]
    is_optional: bool = False

    @property
    def ranges(self) -> tuple[tuple[Step, ...], ...]:
        """The lists over whose elements it ranges, the outermost first, each as its steps."""
        return tuple(self.steps[:at] for at, step in enumerate(self.steps) if step is Each.ELEMENT)

    def at(self, message: Any, elements: Sequence[int]) -> Any:
        """What is there, for the elements with these numbers; None if it is missing.

        >>> JsonPath(("r", Each.ELEMENT, "v")).at({"r": [{"v": 5}, {"v": 6}]}, [1])
        6
        """
        numbers = iter(elements)
        for step in self.steps:
            message = _inside(message, next(numbers) if step is Each.ELEMENT else step)
        return message

    def __str__(self) -> str:
        return "$" + "".join(map(_written, self.steps)) + ("?" if self.is_optional else "")


def _inside(message: Any, step: Step) -> Any:
    if isinstance(step, int):
        return message[step] if isinstance(message, list) and step < len(message) else None
    return message.get(step) if isinstance(message, dict) else None


def _written(step: Step) -> str:
    if isinstance(step, Each):
        return step.value
    if isinstance(step, int):
        return f"[{step}]"
    return f".{step}" if step.isidentifier() else f"[{json.dumps(step, ensure_ascii=False)}]"


def read_json(text: str | bytes) -> Any:
    """A message, with numbers as they are written."""
    try:
        return json.loads(
            text, parse_int=JsonNumber, parse_float=JsonNumber, parse_constant=_no_constant
        )
    except UnicodeDecodeError:
        raise InputError("this is not UTF-8") from None
    except RecursionError:
        raise InputError("this JSON is nested too deeply") from None
    except ValueError as error:
        raise InputError(f"this is no JSON: {error}") from None


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no value of JSON")


def shown(value: Any) -> str:
    """A value of a message, as errors show it."""
    if isinstance(value, JsonNumber):
        return str(value)[:LONGEST_SHOWN]
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    text = json.dumps(value, ensure_ascii=False, default=repr)
    return text if len(text) <= LONGEST_SHOWN else text[:LONGEST_SHOWN] + "…"

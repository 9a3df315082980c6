"""Seeds in chunks: how many of them are in every run, and which only repeat those."""

from __future__ import annotations

from typing import Any

import pytest


def chunks(count: int, usual: int) -> list[Any]:
    """The numbers of all chunks; those after the `usual` ones repeat them with other seeds."""
    more = (pytest.param(number, marks=pytest.mark.thorough) for number in range(usual, count))
    return [*range(usual), *more]

"""Options of experiments: how large they are."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Options:
    """`quick` is for seeing that an experiment runs; `universities` are sizes to choose."""

    quick: bool = False
    universities: tuple[int, ...] = ()

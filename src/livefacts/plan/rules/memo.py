"""A memo by address: what was found out about a rule, remembered as long as the rule lives.

A change of rules plans thousands of others again, which have not changed.  To compare two
rules, or to hash one, takes longer than what is asked of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from livefacts.language.program import Rule

REMEMBERED = 1 << 16
"""So many rules are remembered."""
Answer = TypeVar("Answer")


def by_address(ask: Callable[[Rule], Answer]) -> Callable[[Rule], Answer]:
    """A question about a rule that is answered once; the rule's address is kept from others."""
    known: dict[int, tuple[Rule, Answer]] = {}

    def answered(rule: Rule) -> Answer:
        found = known.get(id(rule))
        if found is not None:
            return found[1]
        if len(known) >= REMEMBERED:
            known.clear()
        answer = ask(rule)
        known[id(rule)] = rule, answer
        return answer

    answered.__doc__ = ask.__doc__
    return answered

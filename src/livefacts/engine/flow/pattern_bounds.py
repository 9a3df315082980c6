"""Pattern bounds: how much work the regular expressions of REGEX and REPLACE can make.

Matching takes at most a step for each state of the pattern and each byte of the text, and a
count multiplies states: `((a|b){100}){100}` has 20,000.  So a pattern is weighed before it is
compiled, and what is heavier than the bounds is an error, as a pattern with a wrong bracket is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache, partial

from pyoxigraph import Literal, NamedNode

from livefacts.engine.flow.string_bounds import most_bytes
from livefacts.language.expressions import Call, Constant, QueryExpression, rewritten
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.plan.continuous.flow import NEVER_BOUND

MOST_WEIGHT = 10_000
"""Of a pattern."""
MOST_WORK = 1 << 28
"""Of one match: the weight of the pattern times the bytes of the text."""
WORK_AT_ONCE = 1 << 26
"""After so much the clock is looked at; some tenths of a second at the most."""
COMPILING = 1_000
"""What compiling a pattern takes, in bytes of a text that is matched with it."""
FLAGS = {"REGEX": 2, "REPLACE": 3}
"""The functions of regular expressions, and where their flags stand."""
CLASS_WEIGHT = 20
LIGHT = 50
"""The weight up to which matching takes a step for each byte, whatever the pattern."""
SET_WEIGHT = 5

_TOKEN = re.compile(
    r"""(?P<class>\\[pP](?:\{[^}]*\}|.) | \\[dDsSwWbB])
    | (?P<plain>\\.)
    | (?P<open>\[\^?\]? | \()
    | (?P<close>[\])])
    | (?P<count>\{\s*\d*\s*(?:,\s*\d*\s*)?\})
    | (?P<set>\.)
    | (?P<space>\s)
    | (?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)
_ENDLESS = re.compile(r"[*+]|,\s*\}|\{[^}]*\d{3}")
_CHOICE = re.compile(r"[|?]|[)\s][*+{]|\{\s*0?\s*,")
_SPACED = re.compile(r"\(\?[\w-]*x")


Row = Mapping[Variable, Term | None]
Values = Callable[[QueryExpression, Sequence[Row]], Sequence[Term | None]]


class PatternBounds:
    """Keeps the regular expressions of one expression within the bounds."""

    def __init__(self, expression: QueryExpression) -> None:
        self._expression = expression
        self.matches = tuple(dict.fromkeys(_matches_in(expression)))

    def pieces(
        self, rows: Sequence[Row], values: Values
    ) -> Iterator[tuple[QueryExpression, list[int]]]:
        """The expression and the rows that it may be asked about at once, piece by piece.

        Where a match is too much, the expression has an error in its place.  `values` computes
        patterns, and texts whose length is not plain.
        """
        works = [[0] * len(rows) for _ in self.matches]
        for at, call in enumerate(self.matches):
            works[at] = [*self._works(call, rows, values)]
        piece: list[int] = []
        expression, total = self._expression, 0
        for number in range(len(rows)):
            work = [each[number] for each in works]
            heavy = {call for call, each in zip(self.matches, work, strict=True) if each < 0}
            allowed = self._without(heavy)
            more = sum(each for each in work if each > 0)
            if piece and (allowed != expression or total + more > WORK_AT_ONCE):
                yield expression, piece
                piece, total = [], 0
            expression, total = allowed, total + more
            piece.append(number)
        if piece:
            yield expression, piece

    def _works(self, call: Call, rows: Sequence[Row], values: Values) -> Iterator[int]:
        """How much work a match is for each row; -1 where it is too much."""
        text, pattern = call.arguments[:2]
        if isinstance(pattern, Call):
            patterns = values(pattern, rows)
        else:
            patterns = [_leaf(pattern, row) for row in rows]
        for row, given in zip(rows, patterns, strict=True):
            form = _text(given)
            work = _work(call, form, most_bytes(text, partial(_leaf_bytes, row)))
            if work > MOST_WORK and len(form) <= MOST_WEIGHT and isinstance(text, Call):
                work = _work(call, form, len(_text(values(text, [row])[0]).encode()))
            yield work if work <= MOST_WORK else -1

    def _without(self, heavy: Collection[Call]) -> QueryExpression:
        if not heavy:
            return self._expression
        return rewritten(self._expression, lambda part: NEVER_BOUND if part in heavy else None)


def _matches_in(expression: QueryExpression) -> Iterator[Call]:
    """The calls with regular expressions, the inner ones first."""
    if isinstance(expression, Call):
        for argument in expression.arguments:
            yield from _matches_in(argument)
        if expression.name in FLAGS:
            yield expression


def _leaf(leaf: QueryExpression, row: Row) -> Term | None:
    return leaf.term if isinstance(leaf, Constant) else row.get(leaf)  # type: ignore[arg-type]


def _text(term: Term | None) -> str:
    return term.value if isinstance(term, Literal | NamedNode) else ""


def _leaf_bytes(row: Row, leaf: QueryExpression) -> int:
    return len(_text(_leaf(leaf, row)).encode())


def _work(call: Call, pattern: str, size: int) -> int:
    """About how many steps a match in so many bytes takes; too many for a heavy pattern."""
    heavy = weight_of(call, pattern)
    if heavy > MOST_WEIGHT:
        return MOST_WORK + 1
    work = heavy * (COMPILING + size)
    if call.name == "REPLACE" and _looks_ahead(pattern):
        # A match may be short and have looked at all that is left, and so may the next one.
        work += size * size * (heavy if heavy > LIGHT else 1) // 8
    return work


def _looks_ahead(pattern: str) -> bool:
    """Whether a match may have looked far beyond its end: there is a choice, and no end to it."""
    return bool(_ENDLESS.search(pattern) and _CHOICE.search(pattern))


def weight_of(call: Call, pattern: str) -> int:
    """The weight of the pattern of a call."""
    place = FLAGS[call.name]
    flags = call.arguments[place] if len(call.arguments) > place else None
    known = flags is None or (isinstance(flags, Constant) and "x" not in str(flags.term))
    return weight(pattern, is_spaced=not known)


@lru_cache(maxsize=4096)
def weight(pattern: str, *, is_spaced: bool = False) -> int:
    """About how many states a pattern has, with its counts written out.

    Where spaces and comments may stand in it (`is_spaced`), a count multiplies all of it.

    >>> weight("ab{10}")
    11
    >>> weight("((ab){10}c){3}")
    63
    """
    if len(pattern) > MOST_WEIGHT:
        return len(pattern)
    if is_spaced or _SPACED.search(pattern):
        return _weight_at_most(pattern)
    groups = [[0, 0]]
    # A group is the weight of what is finished in it, and that of its last part.
    depth_of_sets = 0
    for token in _TOKEN.finditer(pattern):
        kind, text = token.lastgroup, token.group()
        group = groups[-1]
        in_set = depth_of_sets > 0
        if kind == "open" and (text[0] == "[" or not in_set):
            depth_of_sets += text[0] == "["
            groups.append([SET_WEIGHT if text.startswith("[^") else 0, 0])
        elif kind == "close" and len(groups) > 1 and in_set == (text == "]"):
            depth_of_sets -= text == "]"
            groups.pop()
            groups[-1] = [sum(groups[-1]), max(1, sum(group))]
        elif kind == "count" and not in_set:
            group[1] *= _times(text)
        else:
            group[0] += group[1]
            group[1] = _part(kind)
    return sum(map(sum, groups))


def _weight_at_most(pattern: str) -> int:
    parts, times = 0, 1
    for token in _TOKEN.finditer(pattern):
        parts += _part(token.lastgroup)
        if token.lastgroup == "count":
            times *= _times(token.group())
    return parts * times


def _times(count: str) -> int:
    return max(1, *(int(each[:9]) for each in re.findall(r"\d+", count)), 1)


def _part(kind: str | None) -> int:
    return {"class": CLASS_WEIGHT, "set": SET_WEIGHT}.get(kind or "", 1)

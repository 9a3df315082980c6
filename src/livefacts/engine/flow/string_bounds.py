"""String bounds: how long the value of an expression can get, by what it is made of.

A few doublings make gigabytes of a word.  So strings are measured before they are built.
"""

from __future__ import annotations

from collections.abc import Callable

from livefacts.language.expressions import Call, QueryExpression

MOST_STRING_BYTES = 16 << 20
STRETCHING = {"ENCODE_FOR_URI": 3, "UCASE": 3, "LCASE": 3}
"""By how much a function lengthens its argument at most."""
BUILDING = frozenset(["CONCAT", "REPLACE", *STRETCHING])
OVERHEAD = 128
"""What other functions add to their arguments; a checksum is as long as this."""


def builds_strings(expression: QueryExpression) -> bool:
    """Whether a value can be longer than all of what it is made of."""
    return isinstance(expression, Call) and (
        expression.name in BUILDING or any(map(builds_strings, expression.arguments))
    )


def most_bytes(expression: QueryExpression, length: Callable[[QueryExpression], int]) -> int:
    """How many bytes a value, and all that it is made of, can have; `length` measures the leaves."""
    if not isinstance(expression, Call):
        return length(expression)
    parts = [most_bytes(argument, length) for argument in expression.arguments]
    if expression.name == "REPLACE":
        return (2 * parts[0] + 1) * (parts[2] + 1) + parts[1]
    if expression.name == "CONCAT":
        return sum(parts)
    return STRETCHING.get(expression.name, 1) * sum(parts) + OVERHEAD

"""The words of the rule language that are neither symbols nor names of predicates."""

from __future__ import annotations

TIME_WORDS = frozenset({"sometime", "always", "at", "in"})
RESERVED = TIME_WORDS | {"not", "true", "false"}

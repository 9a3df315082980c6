"""Violations of constraints as text: JSON lines, or a table."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from livefacts.service.change.delta import Violation


def as_json_lines(violations: Iterable[Violation]) -> bytes:
    """A violation a line: the constraint, the values of its variables, the facts in conflict."""
    lines = [
        {
            "constraint": violation.constraint,
            "bindings": {name: str(term) for name, term in violation.bindings.items()},
            "facts": [str(fact) for fact in violation.facts],
        }
        for violation in violations
    ]
    return "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()


def as_csv(violations: Iterable[Violation]) -> bytes:
    """The same as a table, with what is one of several on a line of its own."""
    text = io.StringIO()
    table = csv.writer(text)
    table.writerow(["constraint", "bindings", "facts"])
    for violation in violations:
        bindings = [f"?{name} = {term}" for name, term in violation.bindings.items()]
        facts = [str(fact) for fact in violation.facts]
        table.writerow([violation.constraint, "\n".join(bindings), "\n".join(facts)])
    return text.getvalue().encode()

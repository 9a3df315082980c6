"""Outputs: what the programs on a page print stands below them, as it is.

    python tools/outputs.py docs/tour.md

A block of Python that prints is followed by a block of text with what it has printed.  All blocks of a page are one program.  This
writes the pages that it is given anew; a test asks that README.md and docs/tour.md would stay as they are.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from pathlib import Path
from typing import Any

PROGRAM = re.compile(r"```python\n(?P<program>.*?)```\n(?:\n```text\n.*?```\n)?", re.DOTALL)


def with_outputs(page: str) -> str:
    """The page with what its programs print now."""
    world: dict[str, Any] = {}

    def with_output(found: re.Match[str]) -> str:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(found["program"], world)
        shown = "\n".join(line.rstrip() for line in printed.getvalue().splitlines())
        output = f"\n```text\n{shown}\n```\n" if shown else ""
        return f"```python\n{found['program']}```\n{output}"

    return PROGRAM.sub(with_output, page)


def main() -> None:
    """Write the pages that are named on the command line."""
    for name in sys.argv[1:]:
        page = Path(name)
        page.write_text(with_outputs(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()

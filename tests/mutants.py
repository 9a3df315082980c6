"""Mutants: known bugs, planted one at a time; the random programs must catch each.

`python tests/mutants.py` copies the sources, replaces one piece of text, and runs random
programs against the copy.  A mutant whose programs all agree with the oracle is missed: a
hole in the generator.  A mutant whose text is gone is stale: write it anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = 400
SECONDS = 600


@dataclass(frozen=True, slots=True)
class Mutant:
    """What goes wrong, in which file, and the text that does it."""

    bug: str
    file: str
    right: str
    wrong: str


MUTANTS: tuple[Mutant, ...] = ()


def main() -> int:
    options = _options()
    chosen = [m for m in MUTANTS if options.only in m.bug]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        if _verdict(source) != "missed":
            print("the sources as they are do not agree with the oracle: mend that first")
            return 1
        verdicts = [_tried(mutant, source) for mutant in chosen]
    missed = sum(verdict != "caught" for verdict in verdicts)
    print(f"{len(chosen)} mutants, {missed} not caught")
    return 1 if missed else 0


def _tried(mutant: Mutant, source: Path) -> str:
    """Plant the bug, run, and put the text back."""
    path = source / "livefacts" / mutant.file
    text = path.read_text()
    began = time.monotonic()
    if text.count(mutant.right) != 1:
        verdict = "stale"
    else:
        path.write_text(text.replace(mutant.right, mutant.wrong))
        verdict = _verdict(source)
        path.write_text(text)
    print(f"{verdict:8}{time.monotonic() - began:5.0f} s  {mutant.bug}", flush=True)
    return verdict


def _verdict(source: Path) -> str:
    """Whether the random programs catch what is wrong with these sources."""
    fuzz = [sys.executable, str(ROOT / "tests" / "fuzz.py"), "--seed", "0", "--minutes", "60"]
    command = [*fuzz, "--cases", str(CASES), "--stop-after", "1", "--as-they-are"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LIVEFACTS_CACHE_DIR": str(source.parent / "cache"),
    }
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return "caught"
    return "missed" if done.returncode == 0 else "caught"


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only mutants whose description has this text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

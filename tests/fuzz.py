"""Random programs for as long as you like: `python tests/fuzz.py --minutes 10 --seed 1000`.

Every case that differs is made smaller and printed; the exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def main() -> int:
    options = _options()
    # The sources come last, so that PYTHONPATH can name others.
    sys.path = [str(ROOT), *sys.path[1:], str(ROOT / "src")]
    from tests.properties.comparing import differences, report
    from tests.properties.programs import draw_case

    end = time.monotonic() + options.minutes * 60
    seed, failures = options.seed, 0
    while time.monotonic() < end and seed < options.seed + options.cases:
        case = draw_case(seed)
        found = differences(case)
        if found:
            failures += 1
            shown = "\n".join([*found, str(case)]) if options.as_they_are else report(case, found)
            print(shown, flush=True)
            if failures >= options.stop_after:
                break
        seed += 1
        _show_progress(seed - options.seed, failures)
    print(f"{seed - options.seed} programs from seed {options.seed}, {failures} differ")
    return 1 if failures else 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="stop after this long")
    parser.add_argument("--seed", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--cases", type=int, default=10**9, help="stop after so many programs")
    parser.add_argument("--stop-after", type=int, default=5, help="stop after so many failures")
    parser.add_argument("--as-they-are", action="store_true", help="do not make cases smaller")
    return parser.parse_args()


def _show_progress(done: int, failures: int) -> None:
    if done % 100 == 0 and sys.stderr.isatty():
        print(f"\r{done} programs, {failures} differ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

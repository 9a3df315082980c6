"""Random programs for as long as you like: `python tests/fuzz.py --minutes 10 --seed 1000`.

Cases, to which facts and rules are added in a few steps, histories, in which they come and go,
stream histories, lives of facts that expire, reports of queries and watched queries take
turns.  Every one that differs from the oracle is made smaller and printed; the exit code is 1 if there was one.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES, HISTORIES, STREAMS, LIVES = "cases", "histories", "streams", "lives"
REPORTS, WATCHES = "reports", "watches"
CASES_PER_HISTORY = 8
CASES_PER_STREAM = 4
CASES_PER_LIFE = 8
CASES_PER_REPORT = 4
CASES_PER_WATCH = 2
WAYS = ("counting-dred", "counting-dred", "dred", "recompute", "counting")


def main() -> int:
    options = _options()
    # The sources come last, so that PYTHONPATH can name others.
    sys.path = [str(ROOT), *sys.path[1:], str(ROOT / "src")]
    end = time.monotonic() + options.minutes * 60
    seed, failures = options.seed, 0
    while time.monotonic() < end and seed < options.seed + options.cases:
        for differs in _chosen(options, seed):
            found = differs(seed, options)
            if found:
                failures += 1
                print(found, flush=True)
        if failures >= options.stop_after:
            break
        seed += 1
        _show_progress(seed - options.seed, failures)
    print(f"{seed - options.seed} programs from seed {options.seed}, {failures} differ")
    return 1 if failures else 0


def _chosen(options: argparse.Namespace, seed: int) -> list[Callable[..., str]]:
    """What to try with this seed: a case always, now and then something longer."""
    turns = {_case: (CASES, 1), _history: (HISTORIES, CASES_PER_HISTORY)}
    turns |= {_stream: (STREAMS, CASES_PER_STREAM), _life: (LIVES, CASES_PER_LIFE)}
    turns |= {_report: (REPORTS, CASES_PER_REPORT), _watch: (WATCHES, CASES_PER_WATCH)}
    if options.only:
        return [try_one for try_one, (kind, _) in turns.items() if kind == options.only]
    return [try_one for try_one, (_, every) in turns.items() if seed % every == 0]


def _case(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.compare.cases import differences, report
    from tests.properties.generate.programs import draw_case

    case = draw_case(seed)
    found = differences(case)
    if not found:
        return ""
    return "\n".join([*found, str(case)]) if options.as_they_are else report(case, found)


def _history(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.compare.histories import differences, report
    from tests.properties.generate.histories import draw_history, draw_schema_history

    from livefacts.syntax.rule_sets import open_rules

    turn = seed // CASES_PER_HISTORY
    if turn % 4 == 3:
        history = draw_schema_history(seed, open_rules(("rdfs", "rho-df")[turn % 8 // 4]).rules)
    else:
        history = draw_history(seed, steps=options.steps, graphs=True)
    way = WAYS[seed % len(WAYS)]
    found = next(differences(history, way), "")
    if not found:
        return ""
    return f"{found}\n{way}\n{history}" if options.as_they_are else report(history, way)


def _stream(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.compare.stream_histories import differences, report
    from tests.properties.generate.stream_histories import draw_stream_history

    history = draw_stream_history(seed)
    found = next(differences(history), "")
    if not found:
        return ""
    return f"{found}\n{history}" if options.as_they_are else report(history)


def _life(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.compare.expiring_facts import Life

    life = Life(seed, Counter())
    found = next(life.steps(8), "")
    return f"life {seed}: {found}\n{life.rules}" if found else ""


def _report(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.compare.registered_queries import RegisteredHistory
    from tests.properties.compare.registered_themes import SchemaHistory, TimedHistory

    kinds: list[type[RegisteredHistory]] = [RegisteredHistory, SchemaHistory, TimedHistory]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        history = kinds[seed % 3](seed // 3)  # type: ignore[call-arg]
        found = history.run()
    return "\n".join([*found, *history.lines]) if found else ""


def _watch(seed: int, options: argparse.Namespace) -> str:
    from tests.properties.generate.graph_patterns import random_case
    from tests.properties.generate.queries import QueryMaker
    from tests.properties.test_continuous import follow
    from tests.properties.test_patterns import check_batches, check_every_message

    case = random_case(seed)
    try:
        follow(QueryMaker(seed).query(), seed)
        check_every_message(case)
        check_batches(case, size=5)
    except Exception as error:
        return f"watch {seed}: {type(error).__name__}: {error}"
    return ""


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--minutes", type=float, default=5.0, help="stop after this long")
    parser.add_argument("--seed", type=int, default=1_000_000, help="the first seed")
    parser.add_argument("--cases", type=int, default=10**9, help="stop after so many programs")
    parser.add_argument("--steps", type=int, default=50, help="changes in a history")
    parser.add_argument(
        "--only",
        choices=(CASES, HISTORIES, STREAMS, LIVES, REPORTS, WATCHES),
        help="one kind only",
    )
    parser.add_argument("--stop-after", type=int, default=5, help="stop after so many failures")
    parser.add_argument("--as-they-are", action="store_true", help="do not make cases smaller")
    return parser.parse_args()


def _show_progress(done: int, failures: int) -> None:
    if done % 100 == 0 and sys.stderr.isatty():
        print(f"\r{done} programs, {failures} differ", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())

"""Runs fuzzers under atheris: `python -m tests.fuzzers rules query --seconds 60`; all, if none is named.

    python -m tests.fuzzers --inputs 1000000 --seconds 3600

goes on until each has had so many inputs, those of earlier runs among them, or its time is over.
What ends badly is written to `out/fuzzers/`; made small by hand, it belongs into `inputs/`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
INPUTS = HERE / "inputs"
ROOT = HERE.parent.parent
FOUND = ROOT / "out" / "fuzzers"
LONGEST_INPUT = 600
SLOW = 20
"""Seconds after which an input counts as one that does not end; instrumented code is slow."""
PURE = "syntax", "language", "journal", "model"
"""Packages without kernels: what numba compiles cannot be instrumented."""
NOTED = 100
"""So many inputs are counted at once."""


def main() -> int:
    """Run the fuzzers that are named, one after the other; 1 if one has found something."""
    options = _options()
    try:
        import atheris  # noqa: F401
    except ImportError as error:
        print(f"fuzzers are left out: {error} (pip install atheris)")
        return 0
    if options.here:
        _fuzz(options.targets[0], options.seconds, options.inputs)
        return 0
    failed = [name for name in options.targets if _run(name, options.seconds, options.inputs)]
    for name in options.targets:
        print(f"{name}: {_count(name):,} inputs until now")
    print(f"found something: {', '.join(failed)}" if failed else "nothing was found")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    # Targets are imported later, under the eyes of atheris.
    known = sorted(folder.name for folder in INPUTS.iterdir())
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzers", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(known))
    parser.add_argument("--seconds", type=int, default=60, help="for each of them")
    parser.add_argument("--inputs", type=int, help="for each of them, with those of earlier runs")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.targets = options.targets or known
    if strange := set(options.targets) - set(known):
        parser.error(f"no such target: {', '.join(sorted(strange))}")
    return options


def _run(name: str, seconds: int, inputs: int | None) -> int:
    """A process for each: one that dies takes no other with it."""
    more = [] if inputs is None else ["--inputs", str(inputs - _count(name))]
    if inputs is not None and inputs <= _count(name):
        return 0
    print(f"{name}: {seconds} s", flush=True)
    command = [sys.executable, "-m", "tests.fuzzers", name, "--seconds", str(seconds), "--here"]
    return subprocess.run([*command, *more], cwd=ROOT, check=False).returncode


def _counter(name: str) -> Path:
    """The file that says how many inputs a target has had."""
    return FOUND / "counts" / name


def _count(name: str) -> int:
    path = _counter(name)
    return int(path.read_text()) if path.exists() else 0


def _with_kernels() -> list[str]:
    """The modules that are left as they are."""
    sources = ROOT / "src"
    paths = [path.relative_to(sources) for path in (sources / "livefacts").rglob("*.py")]
    names = [path.with_suffix("").parts for path in paths if path.parts[1] not in PURE]
    return [".".join(parts).removesuffix(".__init__") for parts in names]


def _fuzz(name: str, seconds: int, inputs: int | None) -> None:
    import atheris

    # The loops of lark are driven by tables: to follow them shows nothing, and takes most of the time.
    with atheris.instrument_imports(include=["livefacts"], exclude=_with_kernels()):
        from tests.fuzzers import targets
    found, corpus, counter = FOUND / name, FOUND / "corpus" / name, _counter(name)
    for folder in (found, corpus, counter.parent):
        folder.mkdir(parents=True, exist_ok=True)
    # Kernels are compiled now, and not while an input is timed.
    for path in (INPUTS / name).iterdir():
        targets.run(name, path.read_bytes())
    arguments = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_INPUT}",
        f"-timeout={SLOW}",
        f"-artifact_prefix={found}/",
        "-rss_limit_mb=4000",
        "-verbosity=0",
        "-print_final_stats=1",
        str(corpus),
        str(INPUTS / name),
    ]
    if inputs is not None:
        arguments.append(f"-runs={inputs}")
    before, turns = _count(name), 0

    def take(data: bytes) -> None:
        nonlocal turns
        targets.run(name, data)
        turns += 1
        if turns % NOTED == 0:
            counter.write_text(str(before + turns))

    atheris.Setup([sys.argv[0], *arguments], take)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

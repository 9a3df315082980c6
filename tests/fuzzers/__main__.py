"""Runs fuzzers under atheris: `python -m tests.fuzzers rules query --seconds 60`; all, if none is named.

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
LONGEST_INPUT = 600
SLOW = 20
"""Seconds after which an input counts as one that does not end; instrumented code is slow."""
PURE = "syntax", "language", "journal", "model"
"""Packages without kernels: what numba compiles cannot be instrumented."""


def main() -> int:
    """Run the fuzzers that are named, one after the other; 1 if one has found something."""
    options = _options()
    try:
        import atheris  # noqa: F401
    except ImportError as error:
        print(f"fuzzers are left out: {error} (pip install atheris)")
        return 0
    if options.here:
        _fuzz(options.targets[0], options.seconds)
        return 0
    failed = [name for name in options.targets if _run(name, options.seconds)]
    print(f"found something: {', '.join(failed)}" if failed else "nothing was found")
    return 1 if failed else 0


def _options() -> argparse.Namespace:
    # Targets are imported later, under the eyes of atheris.
    known = sorted(folder.name for folder in INPUTS.iterdir())
    parser = argparse.ArgumentParser(prog="python -m tests.fuzzers", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="target", help=", ".join(known))
    parser.add_argument("--seconds", type=int, default=60, help="for each of them")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    options.targets = options.targets or known
    if strange := set(options.targets) - set(known):
        parser.error(f"no such target: {', '.join(sorted(strange))}")
    return options


def _run(name: str, seconds: int) -> int:
    """A process for each: one that dies takes no other with it."""
    print(f"{name}: {seconds} s", flush=True)
    command = [sys.executable, "-m", "tests.fuzzers", name, "--seconds", str(seconds), "--here"]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _with_kernels() -> list[str]:
    """The modules that are left as they are."""
    sources = ROOT / "src"
    paths = [path.relative_to(sources) for path in (sources / "livefacts").rglob("*.py")]
    names = [path.with_suffix("").parts for path in paths if path.parts[1] not in PURE]
    return [".".join(parts).removesuffix(".__init__") for parts in names]


def _fuzz(name: str, seconds: int) -> None:
    import atheris

    with atheris.instrument_imports(include=["livefacts", "lark"], exclude=_with_kernels()):
        from tests.fuzzers import targets
    found, corpus = ROOT / "out" / "fuzzers" / name, ROOT / "out" / "fuzzers" / "corpus" / name
    for folder in (found, corpus):
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
    atheris.Setup([sys.argv[0], *arguments], lambda data: targets.run(name, data) and None)
    atheris.Fuzz()


if __name__ == "__main__":
    sys.exit(main())

"""Peers: the other systems, installed for the benchmarks alone, in `out/peers`.

A peer that cannot be installed, or that fails at its job, is reported with the reason and
takes part in no ratio.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
ENVIRONMENT = ROOT / "out" / "peers"
PACKAGES = ("maplib", "duckdb", "nemo-python", "reasonable", "owlrl", "pyoxigraph", "matplotlib")


@dataclass(frozen=True)
class Peers:
    """The environment of the peers, and why some are missing from it."""

    python: Path
    missing: dict[str, str]


NO_PEERS = Peers(Path(sys.executable), dict.fromkeys(PACKAGES, "not asked for"))


def prepare() -> Peers:
    """Install what is not there yet."""
    python = ENVIRONMENT / "bin" / "python"
    stamp = ENVIRONMENT / "peers.json"
    if not stamp.exists():
        print(f"installing other systems into {ENVIRONMENT}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(ENVIRONMENT)], check=True)
        missing = {name: why for name in PACKAGES if (why := _install(python, name))}
        stamp.write_text(json.dumps(missing), encoding="utf-8")
    return Peers(python, json.loads(stamp.read_text(encoding="utf-8")))


def _install(python: Path, package: str) -> str:
    """Install one package; the reason if that fails."""
    command = [str(python), "-m", "pip", "install", "--quiet", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return ""
    return (done.stderr.strip().splitlines() or ["pip failed"])[-1]

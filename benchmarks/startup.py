"""Start-up: processor time of small commands, each in a new process, everything counted."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile

from benchmarks.measuring import on_one_core
from benchmarks.peers import ROOT, Peers
from benchmarks.tables import seconds, table

SMALL_CLOSURE = '''
import livefacts as lf
r = lf.Reasoner(rules="rho-df")
r.add("""
<urn:felix> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Cat> .
<urn:Cat> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Animal> .
""")
assert len(r) == 3
'''
HELP = "import sys; sys.argv = ['livefacts', '--help']; from livefacts.cli import main; main()"
COMMANDS = (
    ("Python alone", "pass"),
    ("import livefacts", "import livefacts"),
    ("livefacts --help", HELP),
    ("import and first small closure", SMALL_CLOSURE),
)
RUNS = 5


def run(peers: Peers) -> str:
    rows = [[name, seconds(min(_seconds(code) for _ in range(RUNS)))] for name, code in COMMANDS]
    with tempfile.TemporaryDirectory() as folder:
        cold = _seconds(SMALL_CLOSURE, LIVEFACTS_CACHE_DIR=folder)
    rows.append(["the same, kernels compiled for the first time", seconds(cold)])
    return "# Start-up\n\n" + table(["command", "CPU"], rows)


def _seconds(code: str, **variables: str) -> float:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), **variables}
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        env=environment,
        preexec_fn=on_one_core,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    assert child.stderr is not None
    said = child.stderr.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"start-up failed:\n{said}")
    return usage.ru_utime + usage.ru_stime

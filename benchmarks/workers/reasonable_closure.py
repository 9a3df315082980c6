"""reasonable's closure under OWL 2 RL, which contains ours: read, then `reason`."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path
from typing import Any

import reasonable
from reporting import Stages, run, write_lines

XSD_STRING = "^^<http://www.w3.org/2001/XMLSchema#string>"


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    reasoner = reasonable.PyReasoner()
    with tempfile.TemporaryDirectory() as folder:
        turtle = Path(folder) / "input.ttl"  # it knows formats by extension, and not .nt
        shutil.copy(job["input"], turtle)
        with stages.stage("load"):
            reasoner.load_file(str(turtle))
    with stages.stage("close"):
        triples = reasoner.reason()
    lines = (" ".join([*(term.n3() for term in row), "."]) for row in triples)
    write_lines(job.get("output"), (line.replace(XSD_STRING, "") for line in lines))
    return {"asserted": job["asserted"], "true": len(triples)}


if __name__ == "__main__":
    run(main, "reasonable")

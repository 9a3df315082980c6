"""livefacts as a user meets it: `Reasoner.load`, under a memory limit, perhaps with a query."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from reporting import Stages, first_lines, run

QUERY = "SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }"


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    if job.get("memory_limit"):
        resource.setrlimit(resource.RLIMIT_DATA, (job["memory_limit"], job["memory_limit"]))
    with stages.stage("import"):
        import livefacts

    if job.get("warm"):
        livefacts.Reasoner(rules=job["rules"]).add(first_lines(job["input"]).decode())
    reasoner = livefacts.Reasoner(rules=job["rules"])
    if job.get("open_query"):
        reasoner.query(QUERY)
    with stages.stage("load and close"):
        delta = reasoner.load(job["input"])
    if job.get("read"):
        with stages.stage("read the delta"):
            read = sum(1 for _ in delta.added)
        assert read == len(reasoner), "everything that is true was added by this change"
    found = {"true": len(reasoner), "resident": _resident(), "stats": reasoner.stats()}
    if job.get("query"):
        with stages.stage("first query"):
            (row,) = reasoner.query(QUERY)
        found |= {"with_query": _resident(), "counted": int(row["n"].value)}
    return found


def _resident() -> int:
    """Bytes of memory in use now."""
    statm = Path("/proc/self/statm")
    if statm.exists():
        return int(statm.read_text().split()[1]) * resource.getpagesize()
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    run(main, "livefacts")

"""OWL 2 RL over universities: rules made for the axioms, beside generic ones, reasonable, owlrl.

The others have no changes: after one they close everything again.  Their rules differ from ours
in what they add beside (eq-ref, axioms of their own), so their results are not compared line
by line; how many of our triples theirs lack is said.
"""

from __future__ import annotations

from benchmarks import datasets
from benchmarks.measuring import SCRATCH, Contestant, Found, compare, missing_from
from benchmarks.options import Options
from benchmarks.peers import Peers
from benchmarks.tables import NOTHING, latency, seconds, table, times
from benchmarks.targets import Target, at_most, holds, summary

OURS = Contestant("livefacts", "livefacts_owl")
GENERIC = Contestant("livefacts, generic rules", "livefacts_owl", options={"generic": True})
REASONABLE = Contestant("reasonable", "reasonable_closure", "reasonable")
OWLRL = Contestant("owlrl", "owlrl_closure", "owlrl", options={"owl": True})
CHANGES = ("+100", "-100")


def run(peers: Peers, options: Options) -> str:
    """Both sizes of LUBM; the slow peer at the small one alone."""
    title = "# OWL 2 RL: universities\n\n"
    if datasets.lubm(1) is None:
        return title + "LIVEFACTS_TEST_DATA is not set: left out.\n"
    parts, targets = [title], []
    for count in (1,) if options.quick else (1, 5):
        theirs = () if options.quick else (REASONABLE, OWLRL) if count == 1 else (REASONABLE,)
        job = {"input": str(datasets.lubm(count)), "asserted": 0}
        ours = compare((OURS, GENERIC), job, peers, runs=1 if options.quick else 3)
        found = ours + compare(theirs, job, peers, runs=1)
        parts.append(f"## LUBM, {count} universities\n\n{_shown(found)}\n")
        targets += _targets(found, f"{count} universities: ")
    return "\n".join(parts) + "\n" + summary("owl", targets)


def _shown(found: list[Found]) -> str:
    heads = [
        "system",
        "load",
        "close",
        "+100",
        "-100",
        "triples",
        "lacks of ours",
        "close, against us",
    ]
    return table(heads, [_row(one, found[0]) for one in found])


def _row(one: Found, ours: Found) -> list[str]:
    if one.failure:
        return [one.contestant.name, one.failure, *[""] * 6]
    changes = [latency(one.stages[c]) if c in one.stages else "again" for c in CHANGES]
    output = SCRATCH / f"{one.contestant.worker}.nt"
    lacks = NOTHING
    if not one.contestant.is_ours:
        lacks = str(missing_from(output, SCRATCH / f"{OURS.worker}.nt"))
    return [
        f"{one.contestant.name} {one.report['version']}",
        seconds(one.stages.get("load")),
        seconds(one.stages.get("close")),
        *changes,
        f"{one.report['true']:,}",
        lacks,
        times(one.stages.get("close"), ours.stages.get("close")),
    ]


def _targets(found: list[Found], title: str) -> list[Target]:
    ours, generic, *others = found
    close = ours.stages["close"]
    targets = [
        at_most(f"{title}close, against generic rules", close / generic.stages["close"], 1 / 5),
        holds(
            f"{title}generic rules end with the same",
            ours.report["state"] == generic.report["state"],
        ),
        holds(f"{title}changes come back to the same", ours.report["same"]),
    ]
    for one in others:
        if not one.failure:
            again, name = one.stages["close"], one.contestant.name
            targets.append(at_most(f"{title}close, against {name}", close / again, 1))
            for change in CHANGES:
                ratio = ours.stages[change] / again
                targets.append(at_most(f"{title}{change}, against {name} again", ratio, 1 / 1000))
    return targets

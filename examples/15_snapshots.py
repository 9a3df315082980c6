"""Snapshots: one version of everything, read in peace while facts, rules and time change.

A harbour keeps its books.  A clerk writes them up; the auditor looks at one version, from another
thread, and sees all of a change or nothing of it.
"""

import threading

import livefacts as lf

r = lf.Reasoner(
    rules="""
    @id full  full(?ship) :- cargo(?ship, ?what), capacity(?ship, 1) .
    @id twice  false :- berth(?ship, ?x), berth(?ship, ?y), ?x != ?y .
"""
)
r.add("berth(anna, north) . cargo(anna, tea) . capacity(anna, 1) .")

audit = r.snapshot()


def write() -> None:
    r.apply(remove="berth(anna, north) .", add="berth(anna, south) . full(anna) .")
    r.add("berth(anna, west) .")
    r.remove_rules("full")


clerk = threading.Thread(target=write)
clerk.start()
print(f"audit of version {audit.seq}: {len(audit)} facts, {len(audit.violations())} violations")
clerk.join()

print("then:", *sorted(map(str, audit)))
print("concluded then:", *map(str, audit.facts(derived=True)))
with r.snapshot() as now:
    print(f"now, version {now.seq}:", *sorted(map(str, now.facts(derived=False))))
    print("violated now:", *now.violations())
audit.close()

"""Rules over streams: a cooling system, after the running example of Laser.

Sensors report a temperature every second.  If it has been steam for all of the last three
seconds, that is an alarm; if it has been liquid, all is well; else something froze up.
"""

import livefacts as lf

r = lf.Reasoner(
    rules="""
    @tick 1 s .
    at ?t isSteam  :- at ?t temp(?v) in [2 s], ?v >= 100 .
    at ?t isLiquid :- at ?t temp(?v) in [2 s], ?v >= 1, ?v < 100 .
    alarm   :- always isSteam in [2 s] .
    normal  :- always isLiquid in [2 s] .
    freeze  :- not alarm, not normal .
    hot(?t) :- at ?t temp(?v) in [2 s], ?v >= 150 .
    peak(?n) :- ?n = max { ?v : sometime temp(?v) in [2 s] } .
""",
    start=0,
)
for second, temperature in enumerate([50, 60, 1, 120, 160, 110]):
    r.push(("temp", temperature), at=second)

for now, delta in r.ticks(9):
    added = " ".join(sorted(f"+{fact}" for fact in delta.derived))
    removed = " ".join(sorted(f"-{fact}" for fact in delta.removed))
    print(f"{now}: {added} {removed}")

late = r.push(("temp", 115), at=9)  # it is 9 already: what arrives now counts now
print("late:", sorted(map(str, late.added)))
taken_back = r.retract(("temp", 115), at=9)
print("taken back:", sorted(map(str, taken_back.removed)))
print(r.verify())

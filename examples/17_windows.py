"""Windows of three more kinds: sessions, windows in the past, and windows that must be full.

A gate reports every visitor.  A burst of visitors without a pause of four seconds is a session;
a gate was busy if somebody came between twenty and ten seconds ago; and it is steadily in use
only if it was open at each of the last five seconds, all of which must have been seen.
"""

import livefacts as lf

r = lf.Reasoner(
    rules="""
    @tick 1 s .
    together(?who) :- sometime enters(?who) in [session 4 s of enters] .
    came_before(?who) :- sometime enters(?who) in [20 s until 10 s ago] .
    steady :- always open in [5 s] full .
""",
    start=0,
)
for second in range(8):
    r.push("open .", at=second)
for second, who in [(1, "ann"), (3, "ben"), (12, "cleo")]:
    r.push(("enters", who), at=second)

DERIVED = {"together", "came_before", "steady"}
for now, delta in r.ticks(30):
    came = sorted(f"+{fact}" for fact in delta.derived)
    went = sorted(f"-{fact}" for fact in delta.removed if fact.name in DERIVED)
    if came or went:
        print(f"{now}:", *came, *went)

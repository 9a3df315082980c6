"""Why does a fact hold, and why does another one not?"""

import livefacts as lf

r = lf.Reasoner(
    rules="""
    @prefix ex: <http://example.org/> .
    @id start  route(?x, ?y) :- road(?x, ?y) .
    @id reach  route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
    @id lonely cut_off(?x)   :- town(?x), not route(harbour, ?x) .
    @id busy   hub(?x, ?n)   :- ?n = count { ?y : road(?x, ?y) }, ?n >= 2 .
    @id loop   false         :- road(?x, ?x) .
"""
)
r.add("road(harbour, mill) . road(mill, castle) . road(mill, abbey) . road(abbey, abbey) .")
r.add("town(castle) . town(island) .")

for fact in ("route(harbour, castle)", "hub(mill, 2)", "cut_off(island)"):
    print(r.explain(fact), end="\n\n")

print(r.explain(r.violations()[0]), end="\n\n")
print(r.explain("cut_off(castle)"), end="\n\n")  # does not hold: there is a route

why = r.explain(("route", "harbour", "castle"))
print(why.holds, why.proof.height, [step.rule.id for step in why.steps()])
print(why.to_dict()["steps"][0]["premises"])

"""Facts and rules come and go; every change says what became true and what ended."""

import livefacts as lf

r = lf.Reasoner(
    rules="""
    @id start  route(?x, ?y) :- road(?x, ?y) .
    @id reach  route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
    cut_off(?x) :- town(?x), not route(harbour, ?x) .
"""
)


def show(title: str, delta: lf.Delta) -> None:
    print(title)
    for fact in sorted(map(str, delta.added)):
        print(f"  + {fact}")
    for fact in sorted(map(str, delta.removed)):
        print(f"  - {fact}")


show(
    "two roads, and a town",
    r.add("road(harbour, mill) . road(mill, castle) . town(castle) ."),
)
show("a road is closed", r.remove("road(mill, castle) ."))
show(
    "a new road, and no way through a place any more",
    r.apply(add="road(harbour, castle) .", remove_rules=["reach"]),
)
print(r.verify())

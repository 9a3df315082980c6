"""A query that stands while messages pass by: no graph is kept, only what the query needs."""

import livefacts as lf

EX = "http://example.org/"
PREFIX = f"PREFIX ex: <{EX}>"

# Who is in the station and has a ticket, while the station is open?
query = lf.ContinuousQuery(
    f"""{PREFIX}
    SELECT ?who {{ ?who ex:in ex:station . ?who ex:has ex:ticket . ex:station ex:is ex:open }}"""
)
print(query.plan)


def show(title: str, changes: list[lf.Change]) -> None:
    print(f"# {title}")
    for change in changes:
        print(change)


def triple(subject: str, predicate: str, value: str) -> str:
    return f"<{EX}{subject}> <{EX}{predicate}> <{EX}{value}> ."


show("ann comes in", query.feed(add=triple("ann", "in", "station")))
show("and buys a ticket", query.feed(add=triple("ann", "has", "ticket")))
show("the station opens", query.feed(add=triple("station", "is", "open")))
show("somebody eats an apple", query.feed(add=triple("bob", "eats", "apple")))

# Messages with times, as RDF Patch, one after the other.
patch = "\n".join(
    [
        f"A {triple('bob', 'has', 'ticket')}",
        f"A {triple('bob', 'in', 'station')}",
        f"A {triple('bob', 'in', 'station')}",
        f"D {triple('ann', 'in', 'station')}",
        f"D {triple('cal', 'in', 'station')}",
    ]
)
for changes in query.follow(patch):
    show(f"message {changes.seq}", changes)

print([row["who"].value for row in query.answers()])
print(query.cached)

# Patterns that must be joined keep the triples that fit, and nothing else.
chain = lf.ContinuousQuery(f"{PREFIX} SELECT ?a ?c {{ ?a ex:calls ?b . ?b ex:calls ?c }}")
for caller, called in [("ann", "bob"), ("bob", "cal"), ("cal", "ann")]:
    show(f"{caller} calls {called}", chain.feed(add=triple(caller, "calls", called)))
print(chain.plan.to_dot())

# A query that speaks of graphs is fed with quads: here, which paper says so, and whether another does.
said = lf.ContinuousQuery(f"""{PREFIX}
    SELECT ?who ?paper (EXISTS {{ GRAPH ?other {{ ?who ex:in ?city }} FILTER(?other != ?paper) }} AS ?confirmed)
    {{ GRAPH ?paper {{ ?who ex:in ?city }} }}""")
for paper in ("times", "globe"):
    quad = triple("ann", "in", f"rome> <{EX}{paper}")
    show(f"the {paper} says where ann is", said.feed(add=quad))

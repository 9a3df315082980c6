"""A continuous query over a stream, with background knowledge, rules and late facts."""

import livefacts as lf
from livefacts.service.registered.reports import Report

POSITIONS = "http://example.org/positions"
PREFIXES = """
    PREFIX ex: <http://example.org/>
    PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#>
"""

r = lf.Reasoner(rules="rdfs")
r.add(PREFIXES + "ex:Tram rdfs:subClassOf ex:Vehicle . ex:tram7 a ex:Tram . ex:park a ex:Place .")

riders = r.register(
    f"""REGISTER QUERY riders COMPUTE EVERY 2s AS {PREFIXES}
    SELECT ?who ?what FROM STREAM <{POSITIONS}> [RANGE 4s STEP 2s]
    WHERE {{ ?who ex:isIn ?what . ?what a ex:Vehicle }}"""
)
got_out = r.register(
    f"""REGISTER DSTREAM gotOut AS {PREFIXES}
    SELECT ?who FROM STREAM <{POSITIONS}> [RANGE 4s STEP 2s]
    WHERE {{ ?who ex:isIn ?what . ?what a ex:Vehicle }}"""
)
print(riders.plan)

events = r.event_time(lateness="3 s", late="correct")
for who, where, second in (
    ("ann", "tram7", 1),
    ("bob", "park", 2),
    ("ann", "tram7", 4),
    ("cat", "tram7", 7),
    ("bob", "tram7", 5),  # two seconds late
    ("dan", "tram7", 10),
):
    fact = f"{PREFIXES} ex:{who} ex:isIn ex:{where} ."
    events.push(fact, second, POSITIONS)
events.finish()


def short(report: Report) -> str:
    return (
        ", ".join(sorted(str(row["who"]).rpartition("/")[2].rstrip(">") for row in report.rows))
        or "nobody"
    )


for report in riders.results():
    mark = " (corrected)" if report.correction else ""
    print(f"at {report.time}, {report.window}: {short(report)}{mark}")
for report in got_out.results():
    if report:
        print(f"got out by {report.time}: {short(report)}")
print(f"late: {events.late}, set aside: {sum(events.set_aside.values())}")

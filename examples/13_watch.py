"""Watching a query: its answers are kept ready, and every change of them is reported.

A library lends books.  Who reads what is asserted as it happens; the rules know which books
are about what, and the watched queries are about both.
"""

import livefacts as lf

PREFIX = "PREFIX lib: <http://library.example/>\n"
r = lf.Reasoner(
    rules="""
    @prefix lib: <http://library.example/> .
    [?p, lib:interestedIn, ?t] :- [?p, lib:borrowed, ?b], [?b, lib:about, ?t] .
    [?p, lib:interestedIn, ?w] :- [?p, lib:interestedIn, ?t], [?t, lib:partOf, ?w] .
"""
)
r.add("""
    @prefix lib: <http://library.example/> .
    lib:moby lib:about lib:whales .   lib:whales lib:partOf lib:nature .
    lib:emma lib:about lib:love .     lib:bees lib:about lib:insects .
""")

readers = r.watch(f"""{PREFIX}
    SELECT ?topic (COUNT(?person) AS ?readers) WHERE {{
      ?person lib:interestedIn ?topic
      FILTER NOT EXISTS {{ ?person lib:left ?when }}
    }} GROUP BY ?topic HAVING (COUNT(?person) > 1)
""")
readers.on_change(lambda changes: print("  changes:", *changes, sep="\n    "))

print("ann borrows, ben borrows")
r.add("@prefix lib: <http://library.example/> . lib:ann lib:borrowed lib:moby .")
r.add("@prefix lib: <http://library.example/> . lib:ben lib:borrowed lib:moby .")
print("insects become part of nature, and cleo reads about bees")
r.add("""@prefix lib: <http://library.example/> .
    lib:insects lib:partOf lib:nature . lib:cleo lib:borrowed lib:bees .""")
print("ann moves away")
r.add('@prefix lib: <http://library.example/> . lib:ann lib:left "2026-11-16" .')
print("whales are no longer part of nature")
r.remove("@prefix lib: <http://library.example/> . lib:whales lib:partOf lib:nature .")

print(readers.answers().to_table())
print(f"{len(readers.changes())} changes in all; kept: {readers.cached}")
print(readers.plan)
readers.close()

"""Changes travel: a second reasoner follows the first one by RDF Patch."""

import livefacts as lf

RULES = """
    @prefix ex: <http://example.org/> .
    [?x, ex:within, ?z] :- [?x, ex:within, ?y], [?y, ex:within, ?z] .
    visited(?y) :- visited(?x), [?x, ex:within, ?y] .
"""
office, mirror = lf.Reasoner(rules=RULES), lf.Reasoner(rules=RULES)


def follow(title: str, delta: lf.Delta) -> None:
    """Show what a change made of the world, and assert in the mirror what was asserted."""
    print(f"# {title}")
    print(delta.to_patch())
    for hint in delta.hints:
        print(f"# note: {hint}")
    mirror.apply(patch=delta.to_patch(asserted=True))
    assert set(mirror.facts()) == set(office.facts())


follow(
    "a map and a visit",
    office.add(
        "[<http://example.org/abbey>, <http://example.org/within>, <http://example.org/town>] ."
        "[<http://example.org/town>, <http://example.org/within>, <http://example.org/shire>] ."
        "visited(<http://example.org/abbey>) ."
    ),
)
follow(
    "SPARQL Update: all that is within the town moves to the city, in one change",
    office.update(
        """INSERT DATA { ex:city ex:within ex:shire } ;
           DELETE { ?x ex:within ex:town } INSERT { ?x ex:within ex:city }
           WHERE { ?x ex:within ex:town }"""
    ),
)
follow(
    "deleting a conclusion: it stays, and the note says why",
    office.update("DELETE WHERE { ex:abbey ex:within ex:shire }"),
)
try:
    office.apply(patch="TX .\nD visited(<http://example.org/abbey>) .\n")
except lf.InputError as error:
    print(f"# a patch that is cut off changes nothing\n{error}")

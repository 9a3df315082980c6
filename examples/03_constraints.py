"""Constraints: what must never be, and who breaks it."""

import livefacts as lf

RULES = """
@prefix ex: <http://example.org/> .

[?x, a, ex:Dog] :- [?x, ex:barksAt, ?y] .
@id cat_or_dog  false :- [?x, a, ex:Cat], [?x, a, ex:Dog] .
@id too_warm    false :- reading(?sensor, ?value), ?value > 90 .
"""

reasoner = lf.Reasoner(rules=RULES)
reasoner.add("@prefix ex: <http://example.org/> . ex:tom a ex:Cat ; ex:barksAt ex:moon .")
reasoner.add([("reading", "kitchen", 21), ("reading", "oven", 180)])

for violation in reasoner.violations():
    print(violation)

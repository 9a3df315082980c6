"""First rules: who is whose ancestor, who has no children, and how many others have."""

import livefacts as lf

RULES = """
ancestor(?x, ?y) :- parent(?x, ?y) .
ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z) .
hasChild(?x)     :- parent(?x, ?y) .
childless(?y)    :- parent(?x, ?y), not hasChild(?y) .
children(?x, ?n) :- ?n = count { ?y : parent(?x, ?y) } .
"""

reasoner = lf.Reasoner(rules=RULES)
delta = reasoner.add("parent(ann, ben) . parent(ben, cleo) . parent(ben, dan) .")

print("what follows from three facts:")
for fact in sorted(map(str, delta.derived)):
    print("  ", fact)

delta = reasoner.add([("parent", "dan", "eve")])
print("and from one more:")
for fact in sorted(map(str, delta.added)):
    print("   +", fact)
for fact in sorted(map(str, delta.removed)):
    print("   -", fact)

"""The program that maintains a program: delete and rederive, written as rules and evaluated.

The taxonomy is that of Volz, Staab and Motik, Fig. 2: b is no longer below c, and h is below d.
"""

import livefacts as lf

RULES = "@id R2  sub(?a, ?c) :- sub(?b, ?c), sub(?a, ?b) ."


def links(pairs: str) -> list[tuple[str, str, str]]:
    return [("sub", lower, upper) for lower, upper in pairs.split()]


r = lf.Reasoner(rules=RULES)
r.add(links("ab bc cg eb fe ed dc"))

m = lf.maintenance_program(RULES)
print(m)

# Another reasoner evaluates it, over what is true and asserted before the change, and the change.
asserted = r.facts(derived=False)
evaluation = lf.Reasoner(rules=m.program)
evaluation.add(m.inputs(r, asserted, add=links("hd"), remove=links("bc")))
for role in ("del", "red", "ins", "plus", "minus"):
    found = [
        fact for fact in evaluation if isinstance(fact, lf.Fact) and fact.name == f"sub_{role}"
    ]
    print(f"{role:>5}:", *sorted("".join(map(str, fact.arguments)) for fact in found))

# The reasoner itself comes to the same.
added, removed = m.outcome(evaluation)
delta = r.apply(add=links("hd"), remove=links("bc"))
print("as the reasoner:", (added, removed) == (set(delta.added), set(delta.removed)))

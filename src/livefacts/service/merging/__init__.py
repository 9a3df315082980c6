"""Merging: groups of equal things (owl:sameAs) are kept as two of each, and answered for all.

- `derived_equalities`: Following: equalities that are concluded, found in the middle of a change, and proven
- `equality`: Equality: how a reasoner treats owl:sameAs
- `equality_support`: Supports: what an equality rests on that was concluded, and which equalities go with a fact
- `expansion`: Expanding: facts about stand-ins become facts about all that they stand for
- `group_steps`: Steps: a change of what is told, as a change of what the engine is told
- `group_views`: Lenses: two worlds with different groups, seen so that they can be compared
- `groups`: Groups: things that are the same, and the two of each group that stand for it
- `indistinguishability`: Plainness: which things nothing tells apart from those that are the same
- `member_assertions`: Tellings: who told what of the members of merged groups
- `merged_engine`: Merging: an engine that knows two of each group of equal things, and answers for all
- `merged_proofs`: Why facts about merged things hold: proofs about stand-ins, told of the members in question
"""

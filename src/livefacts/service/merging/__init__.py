"""Merging of equals: groups of owl:sameAs are kept as two stand-ins each, and answered for all.

In: the same changes as any engine takes.
Out: the same deltas, violations and proofs as the rules of equality would give.

- `equality`: how a reasoner treats owl:sameAs: by rules, merged, or not at all
- `indistinguishability`: which members of a group nothing tells apart
- `groups`: the groups, and the two stand-ins of each
- `member_assertions`: what was asserted of members, behind what the engine is given
- `group_steps`: a change of assertions as a change of what the engine is given
- `equality_support`: what a derived equality rests on
- `derived_equalities`: derived equalities found in the middle of a change, and proven
- `expansion`: facts about stand-ins to facts about all members
- `group_views`: two states with different groups, made comparable
- `merged_engine`: the door: an engine that keeps stand-ins and answers for all
- `merged_proofs`: proofs about stand-ins, rewritten for the members asked about

Design: docs/design/0013-two-of-a-group.md
"""

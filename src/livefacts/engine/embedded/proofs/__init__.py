"""Proofs: why a fact holds, and how near another is to holding, by backward search through rules.

In: a fact in ids, rules, stored facts.
Out: a proof of least height, or attempts with the premises that are missing.

- `lookups`: the stored facts that fit a pattern, and terms by id
- `body_matches`: every way in which a rule body holds, given its head
- `backward_search`: a proof of least height
- `near_misses`: how close a rule comes to concluding a fact that does not hold
"""

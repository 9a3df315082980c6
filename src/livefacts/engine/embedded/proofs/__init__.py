"""Proofs: why a fact holds, and how near another is to holding, by looking backward through rules.

- `body_matches`: Rule bodies in ids: every way in which a body holds, given what its head is
- `lookups`: Lookups for backward search: the stored facts that fit a pattern, and terms by id
- `near_misses`: Near misses: how close a rule comes to concluding a fact that does not hold
- `proof_search`: Proofs: why a fact holds, found by looking backward through the rules over stored facts
"""

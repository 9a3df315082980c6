"""Maintenance programs: rules, as text, that keep the conclusions of other rules true.

Papers: Volz et al., sections 3 and 4 (delete-and-rederive as rules); Barbieri et al., section 3 (expiry).

- `delete_rederive`: Delete and rederive as rules: the program that maintains another when facts or rules change
- `delta_program`: Maintenance programs: rules that keep the conclusions of other rules true
- `expiry_program`: Expiring facts as rules: the program that maintains conclusions while a window moves on
- `rewrite`: Rewriting: what the programs that maintain another program have in common
- `split_points`: Split points: one predicate for each constant, where a relation is only used with constants
"""

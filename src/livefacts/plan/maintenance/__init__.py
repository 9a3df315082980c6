"""Maintenance programs: rules, as data and text, that keep the conclusions of other rules true.

In: a program before and after a change.
Out: a program that, over the old facts and the change, derives what to add and to remove.

- `rewrite`: what all rewritings have in common: names, roles, triples as a predicate
- `split_points`: one predicate for each constant, so that a rule change concerns one alone
- `delete_rederive`: delete-and-rederive as rules, for changes of facts and rules
- `expiry_program`: expiration times as rules, for a window that moves
- `delta_program`: the door: which rewriting, and the checked program

Papers: Volz et al., sections 3 and 4 (delete-and-rederive as rules); Barbieri et al., section 3
(expiration times).
"""

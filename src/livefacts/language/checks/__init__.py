"""Checks of a program: whether it is safe, stratified and bounded, and what in it is hardly meant.

In: rules as data.
Out: strata (which rules must be complete before which), a `RuleError` with a place, warnings.

- `safety`: all checks of a program, in one call
- `arithmetic`: recursion that would make new numbers forever
- `components`: strongly connected components of a graph
- `strata`: the dependency graph of rules, and their strata
- `strata_change`: the strata of a program that changes by a few rules
- `relevance`: the rules whose conclusions can matter to a query
- `symmetry`: constraints that find one violation in several orders
- `key_partitions`: whether a program can be followed for each key by itself, and why not
- `exchangeability`: whether rules can tell equal things apart, for merging
- `warnings`: rules that are followed as written, but hardly meant so

Papers: Laser, section 3 (stratified negation); Volz et al., section 4.3 (rules meet by
constants); Barbieri et al., section 6 (only rules that a query can need).
Design: docs/design/0013-two-of-a-group.md
"""

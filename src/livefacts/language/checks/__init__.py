"""Checks of a program: safe, stratified, relevant, exchangeable; and warnings about what is hardly meant.

In: rules as data.  Out: strata (which rules must be finished before which), or an error with a place.
Papers: Laser, section 3 (stratified negation); Volz et al., section 4.3 (rules meet by constants).

- `arithmetic`: Arithmetic in recursion: which rules could go on making new numbers forever
- `components`: Strongly connected components: which nodes of a graph can reach each other
- `exchangeability`: Interchange: whether rules can tell apart things that are said to be the same
- `relevance`: Needed rules: those whose conclusions can matter to what is asked
- `safety`: Checks: whether the rules of a program make sense, each and together
- `strata`: Strata: which rules must be finished before which
- `strata_change`: Strata of programs that change: what a few rules change is found by looking around them
- `symmetry`: Mirrors: constraints that read the same when some of their variables change places
- `warnings`: Doubts about rules: those that are followed as they are written, but hardly as they were meant
"""

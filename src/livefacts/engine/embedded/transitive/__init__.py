"""Transitive rules under loss: which pairs are still connected after edges have gone.

In: lost edges.
Out: lost pairs.  Only strongly connected components near the loss are looked at.

- `affected_region`: the points that reached a lost edge, in components
- `retest`: the pairs that a component may have lost, and which of them are still connected
- `edge_loss`: the door: lost edges in, rows that lose their transitive support out

Design: docs/design/0004-edges-of-transitive-rules.md
"""

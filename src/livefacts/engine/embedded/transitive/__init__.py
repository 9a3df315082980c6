"""Transitive rules under loss: which pairs are still connected after edges have gone.

In: lost edges.  Out: lost pairs.  Only strongly connected components near the loss are looked at.

- `affected_region`: The region of a loss: the points from which lost edges could be reached, in parts
- `edge_loss`: Transitive rules under loss: which pairs are still connected when edges go
- `retest`: Doubts: what a part of a region may have lost, and how the doubts are settled
"""

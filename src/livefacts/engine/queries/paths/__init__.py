"""Property paths of any length over sorted columns.

In: the steps of a path, a snapshot of the facts, the nodes that it begins at.
Out: pairs of nodes that it connects.

- `links`: which nodes a path connects
- `reach_kernel`: the kernel of that, a breadth-first search over sorted columns
"""

"""Patterns: compiled kernels that match stars and joins of triple patterns, change by change.

Paper: Gergatsoulis and Damigos (ground, star and connected parts).

- `connected_parts`: Connected parts: patterns with several variables in common, joined
- `join_kernels`: Kernels of connected parts: triples joined over the variables that patterns share
- `matcher`: Matching: the answers of a graph pattern, followed triple by triple
- `projection`: Projection: some columns of the answers of a part, as a bag or each row once
- `signed_rows`: Signed rows: answers that come and go, as rows of ids with counts
- `star_kernels`: Kernels of stars: which patterns hold of a centre, as bits
- `stars`: Stars: parts of a pattern with one variable or none, followed by bits alone
"""

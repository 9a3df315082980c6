"""Pattern kernels: stars and joins of triple patterns, matched change by change.

In: triples that come and go, in ids; the parts of a graph pattern.
Out: signed rows of answers.

- `signed_rows`: answers that come and go, as rows of ids with counts
- `star_kernels`: which patterns hold of a centre, as bits
- `stars`: parts with one variable or none, followed by bits alone
- `join_kernels`: triples joined over the variables that patterns share
- `connected_parts`: parts with several variables, followed by joins
- `projection`: some columns of the answers, as a bag or each row once
- `matcher`: the door: a whole graph pattern, as the product of its parts

Paper: Gergatsoulis and Damigos, sections 4 to 6 (ground, star and connected parts).
Design: docs/design/0010-answers-as-flows.md
"""

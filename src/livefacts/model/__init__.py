"""The model: what the world is made of: facts, terms, values, numbers and time.

Nothing here reads, writes or reasons.

In: Python values and RDF terms.
Out: `Fact`, `Symbol`, values that can be compared and computed with, time points.

- `namespaces`: the well-known prefixes
- `facts`: predicate facts, and the terms that facts speak of
- `numbers`: the values of the numeric datatypes, computed exactly
- `moments`: the values of the date, time and duration datatypes
- `values`: what literals stand for; comparison and arithmetic as rules and SPARQL have them
- `identity`: value identity, as ontologies have it: one literal for each value
- `totals`: sums, averages and deviations of numbers that come and go, the same in any order
- `term_ranks`: keys by which terms are sorted, in the order of SPARQL
- `ordered_bags`: keys in the order of their values, which come and go
- `running_totals`: the one table of aggregates, which are kept by adding and taking away
- `time_points`: the clock of a reasoner: whole numbers, and the dates that they stand for
- `durations`: lengths of time, in time points or by the clock
- `work_bounds`: how long the change under way may take, and how much memory it may need

Design: docs/design/0031-running-totals.md
"""

"""The language: rules, queries, windows and axioms as data, between the parsers and the planners.

A program is a value: changing one makes another.

In: what `syntax` has read.
Out: `Program` of `Rule`s, `Query`, `RegisteredQuery`, axioms.

- `formula`: what rule bodies and heads are made of
- `windows`: which part of a stream a literal looks at
- `program`: rules and programs, and the keys by which equal rules are one
- `rule_text`: rules and programs written as text again
- `checks`: whether a program makes sense: safe, stratified, bounded; and warnings
- `expressions`: expressions of SPARQL
- `algebra`: the SPARQL algebra: graph patterns, property paths, query forms
- `arrival_times`: `timestamp(?x)` of C-SPARQL, as patterns for times
- `graph_pattern`: the queries that are one group of triple patterns with comparisons
- `registration`: what a C-SPARQL or RSP-QL text adds to a query: streams, windows, when to report
- `axioms`: OWL axioms and class expressions

Papers: Laser, section 2 (windows, sometime, always, at); Barbieri et al., section 2.1.
"""

"""Plans of rules: from a program to the joins that an engine runs, one for every premise.

Semi-naive evaluation: a rule has one plan for each premise from which something new can come,
its pivot.

In: rules in strata.
Out: a `Plan` of `Level`s, each with its `RulePlan`s; the difference of two plans.

- `operators`: the plan as data: scans, anti-joins, tests, levels
- `normal_form`: no constraints, no braces, a positive atom in every body
- `existence_tests`: parts of bodies that are only asked whether they hold
- `memo`: what was found out about a rule, remembered by its address
- `transitivity`: p(x, z) :- p(x, y), p(y, z), joined with edges only
- `schema_split`: the rules that follow one triple at a time once the schema is closed
- `traits`: what planning asks of every rule, found out once
- `join_order`: which atom is matched next, and how early a test can be made
- `specialisation`: partial evaluation: rules that read axioms, made for the axioms asserted
- `expiry_plans`: plans for facts that carry the time until which they hold
- `unfolding`: queries with the bodies of rules that negate in the place of their heads
- `plan_difference`: what goes, stays and comes between two plans
- `plan_text`: a plan as text, for people and golden tests

Papers: Volz et al., section 4 (rule changes); DynamiTE, section 3.2 (schema and instance rules);
Barbieri et al., section 3 (expiration times).
Design: docs/design/0003-single-triples.md, docs/design/0004-edges-of-transitive-rules.md,
docs/design/0012-rules-made-for-axioms.md
"""

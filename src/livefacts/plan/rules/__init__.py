"""Plans of rules: from a program to the joins that an engine runs, one for every premise that may change.

In: rules in strata.  Out: `RulePlan` and `LevelPlan`.  Semi-naive evaluation: a rule has one plan for each
premise from which something new can come.
Papers: Volz et al., section 4 (rule changes); DynamiTE, section 3.2 (schema and instance rules).

- `expiry_plans`: Plans for facts that last: forward from a fact that lasts longer, backward from one in doubt
- `join_order`: The order of steps: which atom is matched next, and how early a check can be made
- `memo`: What was found out about a rule, remembered by its address
- `normal_form`: Normal form: every rule has a head, a positive atom to start from, and no braces
- `operators`: Plan operators: what engines run, as values
- `plan_text`: A plan as text: what an engine will do, for people and for golden tests
- `rule_change`: Rule changes: what goes, what stays and what comes between two plans
- `schema_split`: The schema split: rules that follow one triple at a time once the schema is closed
- `specialisation`: Specialised rules: axioms become constants of the rules that read them
- `traits`: Traits: what planning asks of every rule, found out once
- `transitive_rules`: Transitive rules: p(x, z) :- p(x, y), p(y, z), kept in O(pairs) instead of O(paths)
"""

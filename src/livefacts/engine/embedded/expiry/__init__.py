"""Facts that expire: each row holds until a time, and its conclusions know until when.

In: facts with the time until which they hold, and `now`.  Out: what came, what went, what lasts longer.
Paper: Barbieri et al., section 3 (expiration times).

- `lifetime_kernels`: The kernel of expiring facts: raises times along rules until nothing lasts longer
- `runs`: Runs over expiring rows: gives the kernels room and answers, and lets others look in between
- `schema_rules`: Rules for the schema at hand: what is told of classes and properties becomes part of the rules
- `timed_engine`: The engine of expiring facts: each holds until a time, and its conclusions say until when
- `timed_rows`: Rows that expire: a fact carries the time until which it holds, and who ends next is known
"""

"""Expiration times: each fact holds until a time, and its conclusions know until when.

In: facts with the time until which they hold, and `now`.
Out: what came, what expired, what lasts longer.

- `timed_layout`: the cells and flags of timed rows, and the working memory of their kernels
- `timed_rows`: rows with times, and the heap that knows which expire next
- `lifetime_kernels`: the kernel that raises times along rules, and lowers them
- `runs`: the driver of that kernel
- `schema_rules`: rules that read a schema, made for the schema of the background
- `timed_engine`: the door: assert until a time, lower a time, advance to a time

Paper: Barbieri et al., section 3 (expiration times).
Design: docs/design/0009-facts-that-expire.md
"""

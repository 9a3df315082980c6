"""JSON maps: one small language that says which facts a JSON message stands for.

In: a text such as `reading(s=$.id, v=$.value) at $.ts`; messages, which are JSON.
Out: facts with their times and streams, or the reason why a message is none.

- `value_paths`: places in a message, such as `$.readings[*].v`, and what is there
- `term_templates`: numbers, texts and templates to terms and times
- `fact_lines`: the lines of a map, and the facts that they make of a message
- `mapping_text`: the door: one text or file to one map (its grammar lies beside it)

Design: docs/design/0020-sources.md
"""

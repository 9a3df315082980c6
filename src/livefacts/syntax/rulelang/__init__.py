"""The rule language: from text to `Program`, with errors in words.

In: rule text.
Out: a program whose rules keep their places; or a `RuleSyntaxError` with a hint.

- `source_text`: the lines of a text, the pieces in which it is read, and places in it
- `plain_facts`: facts such as `reading(s1, 95) .` without the grammar, ten times as fast
- `constants`: tokens to RDF terms and symbols
- `time_syntax`: windows, durations and directives of time
- `parse_tree`: parse trees to rules: what may stand where, and why not
- `syntax_errors`: what the parser expected, in words
- `rule_parser`: the door: one text or file to one program (its grammar lies beside it)
"""

"""The rule language: from text to `Program`, with mistakes told in words.

- `constants`: Constants of the rule language: tokens to RDF terms and symbols
- `parse_tree`: Parse trees to programs: what may stand where in a rule, and why not
- `plain_facts`: Plain facts: texts of `reading(s1, 95) . hot(kitchen) .` without the grammar
- `rule_files`: Files of rules, and the rule sets that come along
- `rule_parser`: The rule language: from text to a program
- `source_text`: Rule texts: their lines, the pieces in which they are read, and places in them
- `syntax_errors`: Syntax errors of the rule language, in words
- `time_syntax`: Windows, durations and the directives of time, from parse trees
"""

"""SPARQL, SPARQL Update, C-SPARQL and RSP-QL: text to algebra, with errors in words.

In: query and update texts.
Out: `Query` of `language.algebra`, `RegisteredQuery`, update operations.

- `query_text`: the tokens of a text, and how large it may be
- `lexemes`: these tokens as the grammar takes them, with the terms that they stand for
- `triple_blocks`: triples, nodes and paths
- `value_expressions`: expressions and aggregates
- `group_patterns`: groups, and what stands in them
- `aggregate_clauses`: AGGREGATE, which gives each row the total of its group
- `query_forms`: SELECT, ASK, CONSTRUCT and DESCRIBE, and solution modifiers
- `update_operations`: INSERT and DELETE, with data and with patterns
- `stream_clauses`: REGISTER, FROM STREAM and windows
- `query_reader`: the parser, and whole queries, updates and registrations
- `query_shapes`: queries that differ in constants alone, parsed once
- `query_errors`: what is wrong with a query, where, and what to write instead
- `csparql`: the registered query that a text of C-SPARQL or RSP-QL makes
- `csparql_errors`: errors in what it puts around a query, in words

Design: docs/design/0015-one-reader-of-sparql.md
Paper: Barbieri et al., section 2.1 (C-SPARQL).
"""

"""SPARQL, SPARQL Update, C-SPARQL and RSP-QL: text to algebra, with errors in words.

In: query and update texts.
Out: `Query` of `language.algebra`, `BasicQuery`, `RegisteredQuery`, update operations.

- `query_text`: the tokens of a query, and what must be known before it is evaluated
- `query_errors`: what is wrong with a query, where, and what to write instead
- `update_text`: the operations of a SPARQL Update
- `rdflib_tree`: rdflib's parse tree, made ready for its translation
- `expression_reader`: terms, paths and expressions, from rdflib's tree to ours
- `algebra_reader`: whole queries to the algebra
- `basic_query`: queries of triple patterns and comparisons alone
- `csparql`: what C-SPARQL and RSP-QL put around a query
- `csparql_errors`: errors in that envelope, in words

Paper: Barbieri et al., section 2.1 (C-SPARQL).
"""

"""SPARQL, C-SPARQL and RSP-QL: text to algebra, by way of rdflib's grammar, and mistakes in words.

Paper: Barbieri et al., section 2.1 (C-SPARQL).

- `algebra_reader`: SPARQL queries as data, by way of rdflib's grammar and algebra
- `basic_query`: Plain SPARQL queries, as data that can be followed change by change
- `csparql`: C-SPARQL and RSP-QL: the text of a registered query, as data
- `csparql_errors`: Mistakes in the envelope of a registered query, in words: what stands there, and what could
- `expression_reader`: Terms, paths and expressions of SPARQL: from rdflib's tree to ours
- `query_errors`: Mistakes in queries: what a text that cannot be read should say instead, and where
- `query_text`: Query text: what a SPARQL query asks for, read before anything is evaluated
- `rdflib_tree`: Parse trees of SPARQL made ready for rdflib's translation, and what is taken out of them
- `update_text`: Update text: what a SPARQL Update asks for, read before anything is changed
"""

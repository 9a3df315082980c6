"""SPARQL queries over everything that is true."""

"""The Spark engine: a knowledge base as tables, filled and kept true by tasks of a cluster."""

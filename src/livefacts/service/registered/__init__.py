"""Queries that are registered over windows of streams, and what they report."""

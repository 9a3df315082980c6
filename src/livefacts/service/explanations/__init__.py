"""Explanations: why a fact holds, or what is missing."""

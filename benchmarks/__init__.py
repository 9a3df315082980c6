"""Benchmarks: one file per experiment, other systems measured beside livefacts in one run."""

"""Queries whose answers are followed change by change."""

"""Figures of a store: how much it holds, and how rules are followed in it."""

from __future__ import annotations

from typing import Any

from livefacts.engine.embedded.change.engine import EmbeddedEngine
from livefacts.store.facts.named_graphs import NamedGraphs


def figures_of(engine: EmbeddedEngine, graphs: NamedGraphs) -> dict[str, Any]:
    """Terms, graphs, bytes, rule instances, and the path that rules take."""
    return {
        "terms": len(engine.dictionary),
        "named_graphs": graphs.count_graphs(),
        "fact_bytes": engine.store.nbytes(),
        "term_bytes": engine.dictionary.nbytes,
        "rule_instances": engine.derivations,
        "path": "single triples" if engine.follows_single_triples else "general",
        "specialised": engine.is_specialised,
    }

"""What a commit notes of how its conclusions were drawn."""

from __future__ import annotations

SINGLE, GENERAL = "single triples", "joins"
"""The paths: rules that follow single triples, or any rules."""
HANDED_OVER = "handed over"
"""Whether conclusions of any rules were drawn in the driver, without counters."""
COUNTED, LARGEST = "counted", "largest"
"""Whether the counters in the tables are those of the rules, and how large they may be."""
DERIVED = "derived"
"""How many of the facts are conclusions."""

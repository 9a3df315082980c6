"""Coverage of the generators: the share of random inputs that have a feature or an effect.

A generator can go dull without anyone noticing; so tests hold a least share for each feature.

| module | measures | held by |
|---|---|---|
| `cases` | what random cases contain and derive | `test_generator` |
| `histories` | what the changes of random histories do, by the oracle alone | `test_generator` |
| `stream_histories` | what random stream histories contain, and what their acts do | `test_time` |
"""

from __future__ import annotations

from collections.abc import Mapping


def too_low(found: Mapping[str, float], least: Mapping[str, float]) -> str:
    """The features whose share is lower than it must be, one in a line."""
    shares = ((feature, found.get(feature, 0.0), share) for feature, share in least.items())
    lines = (f"{name}: {share:.1%}, not {low:.1%}" for name, share, low in shares if share < low)
    return "\n".join(lines)

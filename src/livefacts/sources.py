"""What feeds a reasoner from outside: maps from JSON to facts, and sources of messages.

>>> from livefacts.sources import read_map
>>> [each.fact for each in read_map("hot($.room)").facts('{"room": "kitchen"}')]
[hot(kitchen)]
"""

from __future__ import annotations

from livefacts.service.sources.feed import Feed, follow, open_address
from livefacts.service.sources.message_contract import Message, MessageSource
from livefacts.syntax.json_map.fact_lines import JsonMap, MappedFact
from livefacts.syntax.json_map.mapping_text import read_map

__all__ = [
    "Feed",
    "JsonMap",
    "MappedFact",
    "Message",
    "MessageSource",
    "follow",
    "open_address",
    "read_map",
]

"""Messages of JSON from a file that grows, into a folder: each counts once, whoever stops when.

A map says what a message stands for.  The reader stops in the middle; the next one goes on
behind what the first has taken in.
"""

import tempfile
from pathlib import Path

import livefacts as lf
from livefacts.sources import follow, open_address

RULES = """
    high(?e, ?s) :- sometime reading(?e, ?s, ?v) in [100], ?v > 90 .
    hot(?s, ?n) :- ?n = count { ?e : high(?e, ?s) }, high(?any, ?s) .
"""
MAP = "reading(event(), s=$.id, v=$.values[*]) at $.ts"


def read(folder: Path, file: Path, count: int) -> None:
    """Take in so many messages, then stop."""
    with lf.Reasoner.open(folder, rules=RULES) as reasoner:
        source = open_address(file.as_uri())
        for number, _ in enumerate(follow(reasoner, source, MAP), 1):
            if number == count:
                source.stop()
                break
        print("at", reasoner.now, *sorted(str(f) for f in reasoner.facts() if "hot" in str(f)))


with tempfile.TemporaryDirectory() as place:
    messages = Path(place) / "readings.jsonl"
    messages.write_text(
        '{"id": "kitchen", "values": [95, 20], "ts": 1}\n'
        '{"id": "sensor-1", "values": [91.5], "ts": 2}\n'
        '{"id": "kitchen", "values": [95], "ts": 3}\n'
        '{"id": "hall", "values": [], "ts": 4}\n'
        '{"id": "hall", "values": [19], "ts": 5}\n'
    )
    read(Path(place) / "kb", messages, 2)
    read(Path(place) / "kb", messages, 2)

"""Reads a source into a folder until a message of the sensor `end`; says how far it is.

python source_reader.py FOLDER ADDRESS
"""

from __future__ import annotations

import sys

from livefacts import Reasoner
from livefacts.sources import follow

MAP = "reading(event(), $.id, $.v) at $.t .\nlast($.id, $.v) at $.t stream <x:last> ."
RULES = "seen(?s, ?v) :- sometime reading(?e, ?s, ?v) in [1000000] ."


def main() -> None:
    """Read."""
    folder, address = sys.argv[1:]
    with Reasoner.open(folder, rules=RULES, durability="none") as reasoner:
        print("ready", flush=True)
        for event in follow(reasoner, address, MAP, say=lambda text: print(text, file=sys.stderr)):
            texts = [str(fact) for fact in getattr(event, "facts", ())]
            print(*texts, flush=True)
            if any("end" in text for text in texts if text.startswith("last")):
                return


if __name__ == "__main__":
    main()

"""A reasoner in a folder: what a call has returned is on the disk, and nothing is forgotten.

A family tree is written down over two sittings; then one looks at how it was, and takes a
mistake back.
"""

import tempfile
from pathlib import Path

import livefacts as lf

RULES = """
    ancestor(?x, ?y) :- parent(?x, ?y) .
    ancestor(?x, ?z) :- parent(?x, ?y), ancestor(?y, ?z) .
"""

with tempfile.TemporaryDirectory() as place:
    folder = Path(place) / "family"
    with lf.Reasoner.open(folder, rules=RULES) as r:
        r.add("parent(ann, ben) .")
        r.add("parent(ben, tom) .")  # a mistake

    with lf.Reasoner.open(folder) as r:
        r.add("parent(ben, cleo) .")
        for delta in r.changes_since(0):
            print(delta.seq, *sorted(map(str, delta.added)))
        print("after the first change:", *sorted(map(str, r.at(1))))

        preview = r.undo(2, preview=True)
        print("undoing 2 would take away:", *sorted(map(str, preview.removed)))
        r.undo(2)
        print(*sorted(map(str, r)))
        r.checkpoint()  # the next open reads tables instead of the journal

    print(lf.Reasoner.open(folder, read_only=True).verify())

"""A knowledge base on Spark: ingest, materialize, update, and on in one process.

Needs `pip install 'livefacts[spark]'` and Java 17 or newer.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import livefacts as lf
from livefacts.generate import university
from livefacts.spark import Pipeline, session

UB = "http://livefacts.example/university#"
NEWCOMER = f"<http://example.org/ada> <{UB}advisor> <http://example.org/grace> .\n"

with tempfile.TemporaryDirectory() as folder:
    data = Path(folder) / "uni.nt"
    data.write_bytes(b"".join(university(1)))

    p = Pipeline(session("local[2]"), Path(folder) / "kb")
    print(p.ingest(data))
    print(p.materialize(rules="rho-df"))
    print(p.plan())

    d = p.update(add=NEWCOMER)
    print(d)
    for row in p.delta(d.seq, decoded=True).collect():
        print("+" if row.sign > 0 else "-", row.s, row.p, row.o)

    d = p.change_rules(add=f"@id back [?y, <{UB}advises>, ?x] :- [?x, <{UB}advisor>, ?y] .")
    print(f"version {d.seq}: one rule more, {d.figures['added']:,} facts more")
    d = p.change_rules(remove=["back"])
    print(f"version {d.seq}: and {d.figures['removed']:,} fewer")

    r = lf.Reasoner.open(Path(folder) / "kb")
    print(f"{len(r):,} facts in one process")
    d2 = r.remove(NEWCOMER)
    print(f"version {r.checkpoint()} without {len(d2.removed)} of them")
    print(f"{p.facts().count():,} facts on Spark")

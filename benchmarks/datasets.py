"""Data sets: third-party files where they are, and our own, generated once into `out/data`."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from random import Random

from benchmarks.peers import ROOT
from livefacts.generate import GeneratedOntology, chain, graphs, random_graph, tree, university

FOLDER = ROOT / "out" / "data"
PROTOCOLS = 8

DECLARATIONS = (b"/rdf-schema#Class> .\n", b"/22-rdf-syntax-ns#Property> .\n")


def lubm(universities: int) -> Path | None:
    """LUBM data of the third-party collection, unpacked; None where there is no collection."""
    collection = os.environ.get("LIVEFACTS_TEST_DATA")
    if not collection:
        return None
    packed = Path(collection) / "lubm" / f"lubm-{universities}-0.nt.gz"
    if not packed.exists():
        raise SystemExit(f"LIVEFACTS_TEST_DATA is set, but {packed} is missing")
    path = FOLDER / packed.stem
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        with gzip.open(packed) as source, path.open("wb") as target:
            shutil.copyfileobj(source, target)
    return path


def universities(count: int) -> Path:
    return _generated(f"university-{count}.nt", university(count))


def undeclared_universities(count: int) -> Path:
    """Universities whose schema does not say what is a class and what a property.

    rho-df does not look at such triples; maplib has rules that do, and without them it
    ends with the same triples as the others.
    """
    with universities(count).open("rb") as lines:
        kept = (line for line in lines if not line.endswith(DECLARATIONS))
        return _generated(f"university-{count}-undeclared.nt", kept)


def binary_tree(depth: int) -> Path:
    return _generated(f"tree-{depth}.nt", tree(depth, 2))


def long_chain(edges: int) -> Path:
    return _generated(f"chain-{edges}.nt", chain(edges))


def random_edges(nodes: int, edges: int) -> Path:
    return _generated(f"random-{nodes}-{edges}.nt", random_graph(nodes, edges))


def connected_edges(nodes: int, edges: int) -> Path:
    """A graph in which every node reaches every other: a ring, and random edges across it."""
    ring = [*chain(nodes - 1), _edge(nodes - 1, 0)]
    known = set(b"".join(ring).splitlines())
    across = b"".join(random_graph(nodes, edges)).splitlines()
    chosen = islice((line for line in across if line not in known), edges - nodes)
    return _generated(f"connected-{nodes}-{edges}.nt", (*ring, *(line + b"\n" for line in chosen)))


def _edge(source: int, target: int) -> bytes:
    name = graphs.NAMESPACE
    return f"<{name}n{source}> <{name}edge> <{name}n{target}> .\n".encode()


def ontology(kind: str, depth: int) -> tuple[Path, Path]:
    """The facts and the rules of a generated ontology."""
    made = GeneratedOntology(kind, depth)
    name = f"ontology-{kind}-{depth}"
    return _generated(f"{name}.nt", made.facts()), _generated(f"{name}.rules", made.rules())


def schema_org() -> tuple[Path, Path] | None:
    """Two releases of schema.org, from the third-party collection."""
    collection = os.environ.get("LIVEFACTS_TEST_DATA")
    if not collection:
        return None
    folder = Path(collection) / "ontologies"
    return folder / "schemaorg-28.0.nt", folder / "schemaorg-28.1.nt"


def _generated(name: str, pieces: Iterable[bytes]) -> Path:
    path = FOLDER / name
    if not path.exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".part")
        with unfinished.open("wb") as out:
            out.writelines(pieces)
        unfinished.rename(path)
    return path


def places(triples: int) -> Path:
    """Pairs of numbers in random order: which place is in which, in binary trees of depth 8."""
    size = 2**9 - 1
    whole = [
        (tree * size + node, tree * size + (node - 1) // 2)
        for tree in range(1 + triples // (size - 1))
        for node in range(1, size)
    ]
    Random(1).shuffle(whole)
    lines = (f"{place},{within}\n".encode() for place, within in whole[:triples])
    return _generated(f"places-{triples}.csv", lines)


def flows(triples: int) -> Path:
    """Hosts that send to each other over a few protocols: some hosts send and hear far more."""
    rng = Random(1)
    hosts = max(100, triples // 5)
    lines = (
        f"<urn:host:{_often(rng, hosts)}> <urn:flow:{rng.randrange(PROTOCOLS)}> "
        f"<urn:host:{_often(rng, hosts)}> .\n".encode()
        for _ in range(triples)
    )
    return _generated(f"flows-{triples}.nt", lines)


def _often(rng: Random, hosts: int) -> int:
    return int(hosts * rng.random() ** 2)

"""The dump: everything that is true, written to a file or stream.

In a format with graphs, each graph gets what it asserts, and the default graph the conclusions
as well.  A triple that is asserted is no conclusion, even where rules derive it, too: what only
a named graph asserts stays there, so that the graphs are the same when the file is loaded.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES, Flags, Ids
from livefacts.errors import LivefactsWarning
from livefacts.language.rule_text import write_fact
from livefacts.service.change.assertions import distinct
from livefacts.service.change.fact_reader import Terms, decoded
from livefacts.store.facts.row_store import RowStore
from livefacts.store.terms.ntriples import Batch
from livefacts.syntax.input.files import without_compression
from livefacts.syntax.rdf.documents import format_named, format_of
from livefacts.syntax.rdf.serializer import WITH_GRAPHS, Target, open_target, write_rows

FACTS = "rules"
PREFIX_NAME = re.compile(r"(?:[^\W\d_](?:[\w.-]*[\w-])?)?")


@dataclass(frozen=True, slots=True)
class NamedTriples:
    """What named graphs assert: their quads, and the triples that the default graph does not assert,
    but somebody else does."""

    quads: Ids
    elsewhere: Ids

    def batches(self, triples: Ids) -> list[Batch]:
        """These triples, without those that only named graphs assert, and the quads."""
        quads = Batch(np.ascontiguousarray(self.quads[:, :3]), self.quads[:, 3])
        return [Batch(self._in_default(triples), None), quads]

    def _in_default(self, triples: Ids) -> Ids:
        alone = _among(np.ascontiguousarray(self.quads[:, :3]), self.elsewhere)
        return triples[~_are_among(triples, alone)]


def _among(triples: Ids, others: Ids) -> Ids:
    return triples[_are_among(triples, others)]


def _are_among(triples: Ids, others: Ids) -> Flags:
    """Which triples are among others."""
    if not len(others):
        return np.zeros(len(triples), np.bool_)
    store = RowStore()
    relation = store.relation(TRIPLES)
    store.insert(relation, distinct(others))
    found: Flags = store.find(relation, triples) > 0
    return found


def check_format(form: str | None) -> None:
    """Refuse a format that facts cannot be written in."""
    if form and form != FACTS:
        format_named(form, FACTS)


def write_facts(
    target: Target,
    format: str | None,
    facts: Mapping[int, Ids],
    named: NamedTriples,
    terms: Terms,
    prefixes: Mapping[str, str],
) -> None:
    """Write facts, and the assertions of named graphs where the format has a place for them."""
    form = format or _suffix(target)
    if form == FACTS:
        with open_target(target) as stream:
            for fact in decoded(facts, terms):
                stream.write(write_fact(fact).encode() + b"\n")
        return
    check_format(form)
    kind = format_named(form) if form else format_of("-")
    _warn_of_others(facts)
    triples = facts.get(TRIPLES, np.zeros((0, 3), np.int32))
    batches = named.batches(triples) if kind in WITH_GRAPHS else [Batch(triples, None)]
    write_rows(target, batches, terms, format=kind, prefixes=writable(prefixes))


def writable(prefixes: Mapping[str, str]) -> dict[str, str]:
    """Those prefixes that Turtle can declare, whatever a caller has made up."""
    return {
        name: iri for name, iri in prefixes.items() if PREFIX_NAME.fullmatch(name) and _is_iri(iri)
    }


def _is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def _suffix(target: Target) -> str:
    """What the name of the target says about the format; nothing for a stream."""
    if not isinstance(target, str | os.PathLike) or target == "-":
        return ""
    return without_compression(Path(target)).suffix.removeprefix(".")


def _warn_of_others(facts: Mapping[int, Ids]) -> None:
    others = sum(len(ids) for shape, ids in facts.items() if shape != TRIPLES)
    if others:
        noun = "predicate fact has" if others == 1 else "predicate facts have"
        warnings.warn(
            f"{others:,} {noun} no place in RDF: left out; dump to a .rules file to keep all",
            LivefactsWarning,
            stacklevel=4,
        )

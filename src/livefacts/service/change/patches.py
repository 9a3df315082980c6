"""Patches: RDF Patch on its way to a change.

One call is one atomic change, however many patches and transactions it takes: the rows are
netted in their order, so that the last row of a fact counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from pyoxigraph import BlankNode

from livefacts.model.facts import Fact
from livefacts.service.change.arguments import graph_of
from livefacts.service.change.intake import Intake
from livefacts.service.change.retraction import Retraction
from livefacts.syntax.input.files import utf8
from livefacts.syntax.rdf.patch import PatchRow, Statement, read_patch

PatchSource: TypeAlias = str | os.PathLike[str] | Sequence["str | os.PathLike[str]"]
"""RDF Patch as text, a path to a file, or several of these."""


def take_patches(source: PatchSource, intake: Intake, outtake: Retraction) -> None:
    """What patches add and remove, all in all."""
    rows: list[PatchRow] = []
    for each in [source] if isinstance(source, str | os.PathLike) else source:
        patch = read_patch(utf8(each) if isinstance(each, str) else os.fspath(each))
        rows += patch.rows
        intake.prefixes.update(patch.prefixes)
        if patch.aborted:
            rows_left = "1 row" if patch.aborted == 1 else f"{patch.aborted:,} rows"
            intake.hints.append(f"{rows_left} of aborted transactions: left out")
    if rows:
        _take_rows(rows, intake, outtake)


def _take_rows(rows: list[PatchRow], intake: Intake, outtake: Retraction) -> None:
    # A node may come and go within the rows: what adds it makes its label known.
    for node in {node for row in rows if row.adds for node in _nodes(row.statement)}:
        intake.dictionary.encode_one(node)
    for row in {row.statement: row for row in rows}.values():
        if row.adds:
            intake.take_statements([row.statement])
        else:
            outtake.take_statement(row.statement, row.place)


def _nodes(statement: Statement) -> Iterator[BlankNode]:
    if isinstance(statement, Fact):
        terms = statement.arguments
    else:
        terms = (statement.subject, statement.object)
    yield from (term for term in terms if isinstance(term, BlankNode))
    graph = graph_of(statement)
    if isinstance(graph, BlankNode):
        yield graph

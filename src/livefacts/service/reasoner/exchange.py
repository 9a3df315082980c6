"""Exchange: what other libraries of Python give to a reasoner and get of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, cast

import numpy as np

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.errors import LivefactsError
from livefacts.service.change.assertions import without
from livefacts.service.change.html_tables import html_table
from livefacts.service.change.records import mapped_records
from livefacts.service.change.tabular import not_installed
from livefacts.service.queries.part_versions import FactPart
from livefacts.store.versions.snapshots import NO_TRIPLES

if TYPE_CHECKING:
    from rdflib.graph import Graph

    from livefacts.service.change.delta import Delta
    from livefacts.service.knowledge.state import State
    from livefacts.service.reasoner.facade import Reasoner

ELSEWHERE_HINT = (
    'r.checkpoint("copy/") writes it to a folder, and Reasoner.open("copy/") is another one'
)


class Exchange:
    """The part of `Reasoner` that other libraries call."""

    _state: State

    def add_records(self, records: Any, map: str) -> Delta:
        """Assert what a map makes of each row: `r.add_records(df, "reading($.sensor, $.value)")`.

        `records` is a DataFrame of pandas or polars, a table of Arrow, or dicts; the language of
        maps is that of messages.  All rows are one change.
        """
        return cast("Reasoner", self).add(list(mapped_records(records, map)))

    def copy(self) -> Reasoner:
        """Another reasoner in memory, with the same rules and assertions, that goes its own way.

        Watches, registered queries and the log of a folder stay behind.
        """
        from livefacts.service.reasoner.facade import Reasoner

        state = self._state
        with state.changing:
            if state.streams.has_begun:
                raise LivefactsError(
                    "a reasoner whose time has begun is not copied in memory", hint=ELSEWHERE_HINT
                )
            made = Reasoner.__new__(Reasoner)
            made._state = state.like_this()
            made.add_rules(state.program)
            _assert_alike(made._state, state)
        return made

    def to_rdflib(self) -> Graph:
        """A graph of rdflib that reads what is true here, and asserts here what is added to it."""
        try:
            from livefacts.service.reasoner.rdflib_store import graph_for_rdflib
        except ModuleNotFoundError as error:
            raise not_installed("rdflib") from error
        return graph_for_rdflib(cast("Reasoner", self))

    def __reduce__(self) -> NoReturn:
        raise LivefactsError(
            "a reasoner cannot be pickled, nor copied by copy.copy",
            hint=f"r.copy() is another one in memory; {ELSEWHERE_HINT}",
        )

    def _repr_html_(self) -> str:
        figures = cast("Reasoner", self).stats()
        shown = ("facts", "asserted", "derived", "rules", "named_graphs")
        rows = [[name.replace("_", " "), f"{figures[name]:,}"] for name in shown]
        rows.append(["violations", f"{len(cast('Reasoner', self).violations()):,}"])
        return html_table(["Reasoner", ""], rows, len(rows)).partition("<small>")[0]


def _assert_alike(new: State, old: State) -> None:
    """Assert in one state what another one asserts, hidden facts included."""
    from livefacts.service.knowledge.draft import Draft

    elsewhere = old.versions.version(whole=True).rows(FactPart.ELSEWHERE).get(TRIPLES, NO_TRIPLES)
    facts = {shape: old.truth.rows(shape, False) for shape in old.truth.shapes()}
    if TRIPLES in facts:
        facts[TRIPLES] = without(facts[TRIPLES], elsewhere)
    quads = old.graphs.quads()
    draft = Draft(new)
    draft.intake.take_rows(
        {s: _moved(rows, new, old) for s, rows in facts.items()}, _moved(quads, new, old)
    )
    draft.intake.prefixes.update(old.prefixes)
    draft.apply()


def _moved(rows: Ids, new: State, old: State) -> Ids:
    """Rows with the ids that their terms have in another state."""
    known, places = np.unique(rows, return_inverse=True)
    ids = new.dictionary.encode(old.dictionary.decode(known))
    return np.asarray(ids, np.int32)[places].reshape(rows.shape)

"""Exchange: what other libraries of Python get of a reasoner, and what they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn, cast

from livefacts.errors import LivefactsError
from livefacts.service.change.tabular import not_installed

if TYPE_CHECKING:
    from rdflib.graph import Graph

    from livefacts.service.reasoner.facade import Reasoner


class Exchange:
    """The part of `Reasoner` that other libraries call."""

    def to_rdflib(self) -> Graph:
        """A graph of rdflib that reads what is true here, and asserts here what is added to it."""
        try:
            from livefacts.service.reasoner.rdflib_store import graph_for_rdflib
        except ModuleNotFoundError as error:
            raise not_installed("rdflib") from error
        return graph_for_rdflib(cast("Reasoner", self))

    def __reduce__(self) -> NoReturn:
        raise LivefactsError(
            "a reasoner cannot be pickled or copied",
            hint='r.checkpoint("copy/") writes it to a folder, and Reasoner.open("copy/") is another one',
        )

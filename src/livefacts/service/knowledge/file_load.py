"""The load: files, and graphs of rdflib, as one change."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from typing import Any, TypeAlias

from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES
from livefacts.errors import InputError
from livefacts.service.change.delta import Delta
from livefacts.service.change.import_catalogue import (
    ONTOLOGY,
    TYPE,
    ImportCatalogue,
    ImportSource,
    hint_of,
    missing_imports,
)
from livefacts.service.change.intake import ReadingOptions
from livefacts.service.knowledge.draft import Draft
from livefacts.service.knowledge.progress import ProgressBar
from livefacts.service.knowledge.state import State
from livefacts.syntax.input.files import STANDARD_INPUT, expand
from livefacts.syntax.input.rejects import Rejects

LoadSource: TypeAlias = "str | os.PathLike[str] | Iterable[Any]"
"""A path, a glob, "-", a graph of rdflib, or several of these."""
_ADDRESS = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):(?://|/)")


def load_files(
    state: State,
    source: LoadSource,
    reading: ReadingOptions,
    rejects: str | os.PathLike[str] | None,
    progress: bool,
    imports: ImportSource | None = None,
) -> Delta:
    """Read everything, then make one change of it."""
    catalogue = ImportCatalogue(imports)
    sources = [source] if isinstance(source, str | os.PathLike) or _is_graph(source) else source
    with Rejects(rejects) as rejected, ProgressBar(progress) as bar:
        draft = Draft(state, rejected)
        options = reading.with_ears(rejected, bar.read)
        for each in [found for given in sources for found in _found(given)]:
            if _is_graph(each):
                draft.add(list(_statements(each, options.graph)))
                continue
            rejected.refuse_input(each)
            bar.start_file(each)
            draft.load(each, options)
            rejected.refuse_unread()
        for path in _imported(state, draft, catalogue):
            bar.start_file(path)
            draft.load(path, options)
            rejected.refuse_unread()
        bar.start_reasoning()
        state.engine.on_progress = bar.made
        try:
            return draft.apply()
        finally:
            state.engine.on_progress = None


def _imported(
    state: State, draft: Draft, catalogue: ImportCatalogue
) -> Iterator[str | os.PathLike[str]]:
    """The files of imported ontologies, and of those that they import; each is read when it comes.

    What the catalogue does not have is said in the hints of the change.
    """
    followed: set[str] = set()
    while True:
        missing = [
            iri
            for iri in missing_imports(draft.intake)
            if iri not in followed and not _is_there(state, iri)
        ]
        files = {iri: path for iri in missing if (path := catalogue.find(iri)) is not None}
        yield from dict.fromkeys(files.values())
        followed |= files.keys()
        if not files:
            if missing:
                draft.intake.hints.append(hint_of(missing))
            return


def _is_there(state: State, iri: str) -> bool:
    """Whether an ontology was loaded before."""
    return state.reader.holds(state.truth, TRIPLES, [NamedNode(iri), TYPE, ONTOLOGY])


def _found(source: Any) -> Iterable[Any]:
    """The files that a source stands for."""
    if source == STANDARD_INPUT or _is_graph(source):
        return [source]
    address = _ADDRESS.match(os.fspath(source))
    if address is not None and not os.path.exists(source):
        raise _refused_address(os.fspath(source), address["scheme"].lower())
    return expand(source)


def _refused_address(text: str, scheme: str) -> InputError:
    """livefacts reads files, and fetches nothing."""
    if scheme == "file":
        return InputError(
            f"{text} is an IRI, and a path is wanted",
            hint=f"give {re.sub('^[Ff][Ii][Ll][Ee]:(//)?', '', text)}",
        )
    return InputError(
        f"{text} is an address on the network, and only files are read",
        hint="fetch it first, for example with curl, and load the file",
    )


def _is_graph(source: Any) -> bool:
    """Whether this is a graph or a dataset of rdflib, which is not imported for that."""
    return any(each.__module__ == "rdflib.graph" for each in type(source).__mro__)


def _statements(graph: Any, into: NamedNode | None) -> Iterator[tuple[Any, ...]]:
    """The triples of a graph; the quads of a dataset, those of its default graph as triples."""
    if not hasattr(graph, "quads"):
        yield from ((*triple, into) if into else triple for triple in graph)
        return
    default = getattr(graph, "default_graph", None)
    if default is None:
        default = graph.default_context
    for s, p, o, context in graph.quads((None, None, None, None)):
        name = getattr(context, "identifier", context)
        is_default = name is None or name == default.identifier
        yield (s, p, o) if is_default and into is None else (s, p, o, into if is_default else name)

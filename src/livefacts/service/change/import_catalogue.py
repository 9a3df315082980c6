"""The import catalogue: files of the ontologies that others import, found here and never fetched.

`owl:imports` names an ontology by its IRI.  A catalogue says which file that is: by IRI, or as a
folder in which files are named as IRIs end, `food.ttl` for `http://example.org/food#`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np
from pyoxigraph import NamedNode

from livefacts.engine.contract import TRIPLES, Ids
from livefacts.errors import InputError
from livefacts.model.namespaces import DECLARED
from livefacts.service.change.intake import Intake
from livefacts.store.terms.dictionary import Dictionary
from livefacts.syntax.input.files import without_compression
from livefacts.syntax.rdf.documents import FORMATS

ImportSource: TypeAlias = "Mapping[str, str | os.PathLike[str]] | str | os.PathLike[str]"
"""Files by the IRIs of ontologies, or a folder of them."""
OWL = DECLARED["owl"]
TYPE = NamedNode(DECLARED["rdf"] + "type")
ONTOLOGY, IMPORTS, VERSION = (NamedNode(OWL + n) for n in ("Ontology", "imports", "versionIRI"))
NOT_READ = "imported, and not read: "
SHOWN = 5


class ImportCatalogue:
    """Which file an ontology is."""

    def __init__(self, source: ImportSource | None) -> None:
        self._files: dict[str, str] = {}
        self._folder: dict[str, Path] = {}
        if isinstance(source, Mapping):
            self._files = {iri: os.fspath(path) for iri, path in source.items()}
        elif source is not None:
            self._folder = dict(_named_files(Path(source)))

    def find(self, iri: str) -> str | Path | None:
        """The file of an ontology, or None."""
        return self._files.get(iri) or self._folder.get(_last_part(iri))


def _named_files(folder: Path) -> Iterator[tuple[str, Path]]:
    if not folder.is_dir():
        raise InputError(
            f"{folder} is no folder", hint="imports are a folder of files, or files by IRI"
        )
    for path in sorted(folder.iterdir(), reverse=True):
        plain = without_compression(path)
        if plain.suffix.lower() in FORMATS and path.is_file():
            yield plain.stem, path


def _last_part(iri: str) -> str:
    """What a file would be named after.

    >>> _last_part("http://example.org/onto/food#"), _last_part("http://example.org/food.owl")
    ('food', 'food')
    """
    name = re.split(r"[/:#]", iri.rstrip("/#"))[-1]
    stem, dot, suffix = name.rpartition(".")
    return stem if dot and f".{suffix.lower()}" in FORMATS else name


def missing_imports(intake: Intake) -> list[str]:
    """The ontologies that what was read imports, and that are not among it."""
    dictionary = intake.dictionary
    found = [dictionary.reader().find(term) for term in (IMPORTS, VERSION, TYPE, ONTOLOGY)]
    imports, version, kind, ontology = (-1 if each is None else each for each in found)
    if imports < 0:
        return []
    triples = np.concatenate(
        [intake.facts().get(TRIPLES, np.zeros((0, 3), np.int32)), intake.quads()[:, :3]]
    )
    predicates, objects = triples[:, 1], triples[:, 2]
    here = triples[(predicates == kind) & (objects == ontology), 0]
    given = {*here.tolist(), *objects[predicates == version].tolist()}
    wanted = dict.fromkeys(objects[predicates == imports].tolist())
    return _iris([each for each in wanted if each not in given], dictionary)


def _iris(ids: list[int], dictionary: Dictionary) -> list[str]:
    numbers: Ids = np.array(ids, np.int32)
    return [term.value for term in dictionary.decode(numbers) if isinstance(term, NamedNode)]


def hint_of(iris: list[str]) -> str:
    """What is said of imports that were not followed."""
    more = f" and {len(iris) - SHOWN:,} more" if len(iris) > SHOWN else ""
    return f"{NOT_READ}{', '.join(iris[:SHOWN])}{more}; imports= (--imports) says where they are"

"""Imported ontologies are read from files that a catalogue names, or it is said that they were not."""

from __future__ import annotations

from pathlib import Path

import pytest

import livefacts as lf

OWL = "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
MENU = "<http://e/menu> a owl:Ontology ; owl:imports <http://e/food#>, <http://e/none> ."
FOOD = "<http://e/food> a owl:Ontology ; owl:imports <http://e/menu>, <http://e/deep.owl> ."


@pytest.fixture
def menu(tmp_path: Path) -> Path:
    folder = tmp_path / "imports"
    folder.mkdir()
    (folder / "food.ttl").write_text(OWL + FOOD)
    (folder / "deep.nt").write_text("<http://e/deep.owl> <x:p> <x:o> .\n")
    (folder / "notes.txt").write_text("nothing to read")
    (tmp_path / "menu.ttl").write_text(OWL + MENU)
    return tmp_path / "menu.ttl"


def unread(delta: lf.Delta) -> list[str]:
    return [hint.partition(";")[0] for hint in delta.hints]


def test_imports_that_were_not_followed_are_said(menu: Path) -> None:
    delta = lf.Reasoner().load(menu)
    assert unread(delta) == ["imported, and not read: http://e/food#, http://e/none"]


def test_a_folder_has_the_files_of_imports_and_of_what_they_import(menu: Path) -> None:
    reasoner = lf.Reasoner()
    delta = reasoner.load(menu, imports=menu.parent / "imports")
    assert unread(delta) == ["imported, and not read: http://e/none"]
    assert "<http://e/deep.owl> <x:p> <x:o>" in reasoner


def test_a_catalogue_names_files_by_iri(menu: Path) -> None:
    none = menu.parent / "imports" / "deep.nt"
    delta = lf.Reasoner().load(menu, imports={"http://e/none": none})
    assert unread(delta) == ["imported, and not read: http://e/food#"]


def test_what_was_loaded_before_is_not_missing(menu: Path) -> None:
    reasoner = lf.Reasoner()
    reasoner.add(f"{OWL} <http://e/food#> a owl:Ontology . <http://e/none> a owl:Ontology .")
    assert not unread(reasoner.load(menu))


def test_a_folder_that_is_not_there_is_refused_before_anything_is_read(menu: Path) -> None:
    with pytest.raises(lf.InputError, match="is no folder"):
        lf.Reasoner().load(menu, imports=menu.parent / "nowhere")

"""`livefacts add`, `remove` and `apply`: the change on standard output, everything else apart."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.system.running import livefacts

import livefacts as lf

RDFS = "http://www.w3.org/2000/01/rdf-schema#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
KB = f"<x:Cat> <{RDFS}subClassOf> <x:Animal> .\n<x:tom> {TYPE} <x:Cat> .\n"


@pytest.fixture
def kb(tmp_path: Path) -> str:
    path = tmp_path / "kb.nt"
    path.write_text(KB)
    return str(path)


def written(tmp_path: Path, name: str, text: str) -> str:
    (tmp_path / name).write_text(text)
    return str(tmp_path / name)


def rows(patch: str) -> list[str]:
    return sorted(line for line in patch.splitlines() if line[:2] in ("A ", "D "))


class TestAdd:
    def test_the_change_is_printed_as_a_patch_and_summed_up(self, tmp_path: Path, kb: str) -> None:
        new = written(tmp_path, "new.ttl", "<x:kit> a <x:Cat> .")
        ended = livefacts("add", kb, "--rules", "rho-df", "--facts", new)
        assert ended.code == 0
        assert rows(ended.out) == [f"A <x:kit> {TYPE} <x:Animal> .", f"A <x:kit> {TYPE} <x:Cat> ."]
        assert "2 facts became true, 1 of them derived" in ended.err

    def test_facts_come_from_standard_input(self, kb: str) -> None:
        ended = livefacts("add", kb, "--facts", "-", stdin="<x:a> <x:p> <x:b> .\n")
        assert rows(ended.out) == ["A <x:a> <x:p> <x:b> ."]

    def test_adding_what_is_there_is_said(self, kb: str) -> None:
        ended = livefacts("add", kb, "--facts", kb)
        assert (ended.code, rows(ended.out)) == (0, [])
        assert "note: to add: 2 asserted already" in ended.err

    def test_a_bad_line_is_rejected_and_the_command_ends_with_3(self, kb: str) -> None:
        ended = livefacts("add", kb, "--facts", "-", stdin="nonsense\n<x:a> <x:p> <x:b> .\n")
        assert ended.code == 3
        assert "<stdin>:1:1" in ended.err
        assert rows(ended.out) == ["A <x:a> <x:p> <x:b> ."]

    def test_a_missing_file_is_an_error(self, kb: str) -> None:
        ended = livefacts("add", kb, "--facts", "gone.nt")
        assert (ended.code, ended.out) == (1, "")
        assert "there is no file gone.nt" in ended.err

    def test_standard_input_is_read_once(self) -> None:
        assert livefacts("add", "-", "--facts", "-").code == 2


class TestRemove:
    def test_conclusions_go_with_their_reasons(self, tmp_path: Path, kb: str) -> None:
        gone = written(tmp_path, "gone.nt", f"<x:tom> {TYPE} <x:Cat> .\n")
        ended = livefacts("remove", kb, "--rules", "rho-df", "--facts", gone)
        assert ended.code == 0
        assert rows(ended.out) == [f"D <x:tom> {TYPE} <x:Animal> .", f"D <x:tom> {TYPE} <x:Cat> ."]
        assert "2 facts ended, 1 of them derived" in ended.err

    def test_what_was_never_asserted_and_what_follows_is_said(
        self, tmp_path: Path, kb: str
    ) -> None:
        gone = written(tmp_path, "gone.nt", f"<x:tom> {TYPE} <x:Animal> .\n<x:a> <x:p> <x:b> .\n")
        ended = livefacts("remove", kb, "--rules", "rho-df", "--facts", gone)
        assert (ended.code, rows(ended.out)) == (0, [])
        assert "note: to remove: 1 never asserted" in ended.err
        assert "not asserted but derived" in ended.err

    def test_what_is_told_afterwards_is_written_in_place(self, tmp_path: Path, kb: str) -> None:
        gone = written(tmp_path, "gone.nt", f"<x:tom> {TYPE} <x:Cat> .\n")
        ended = livefacts("remove", kb, "--rules", "rdfs", "--facts", gone, "-o", kb)
        assert ended.code == 0
        assert Path(kb).read_text() == KB.splitlines(keepends=True)[0]

    @pytest.mark.parametrize("bad", ["nonsense\n", "_:x <x:p> <x:o> .\n"])
    def test_a_mistake_is_an_error_and_nothing_is_written(self, bad: str, kb: str) -> None:
        ended = livefacts("remove", kb, "--facts", "-", "-o", kb, stdin=bad)
        assert (ended.code, ended.out) == (1, "")
        assert "error: " in ended.err
        assert Path(kb).read_text() == KB

    def test_blank_nodes_go_by_the_labels_that_a_dump_shows(self, tmp_path: Path) -> None:
        kb = written(tmp_path, "kb.ttl", "[] <x:p> [] .")
        shown = livefacts("dump", kb).out
        assert rows(livefacts("remove", kb, "--facts", "-", stdin=shown).out) == [
            f"D {shown.strip()}"
        ]


class TestApply:
    def test_a_patch_that_one_command_prints_is_applied_by_another(
        self, tmp_path: Path, kb: str
    ) -> None:
        new = written(tmp_path, "new.rules", "[<x:kit>, a, <x:Cat>] . near(kit, tom) .")
        made = livefacts("add", kb, "--rules", "rdfs", "--facts", new, "--asserted")
        assert rows(made.out) == [f"A <x:kit> {TYPE} <x:Cat> .", "A near(kit, tom) ."]
        patch = tmp_path / "day.rdfp.gz"
        patch.write_bytes(gzip.compress(made.out.encode()))
        again = livefacts("apply", kb, "--rules", "rdfs", "--patch", str(patch))
        assert again.out == livefacts("add", kb, "--rules", "rdfs", "--facts", new).out

    def test_patches_are_one_change_in_their_order(self, tmp_path: Path, kb: str) -> None:
        first = written(tmp_path, "1.rdfp", "TX .\nA p(a) .\nA p(b) .\nTC .\n")
        ended = livefacts("apply", kb, "-p", first, "-p", "-", stdin="D p(a) .\n")
        assert rows(ended.out) == ["A p(b) ."]

    def test_a_patch_that_is_cut_off_changes_nothing(self, tmp_path: Path, kb: str) -> None:
        cut = written(tmp_path, "cut.rdfp", "TX .\nA <x:a> <x:p> <x:b> .\n")
        ended = livefacts("apply", kb, "--patch", cut, "--output", kb)
        assert (ended.code, ended.out) == (1, "")
        assert f"{cut}:1:1" in ended.err
        assert Path(kb).read_text() == KB

    def test_an_aborted_patch_is_no_change_and_that_is_said(self, kb: str) -> None:
        ended = livefacts("apply", kb, "--patch", "-", stdin="TX .\nA p(a) .\nTA .\n")
        assert (ended.code, rows(ended.out)) == (0, [])
        assert "aborted" in ended.err

    @pytest.mark.parametrize("way", ["text", "file", "stdin"])
    def test_an_update_is_text_or_a_file(self, way: str, tmp_path: Path, kb: str) -> None:
        text = "DELETE WHERE { ?x a <x:Cat> }"
        given = {"text": text, "file": written(tmp_path, "cats.ru", text), "stdin": "-"}[way]
        ended = livefacts("apply", kb, "--rules", "rho-df", "--update", given, stdin=text)
        assert ended.code == 0
        assert len(rows(ended.out)) == 2

    def test_an_update_that_is_refused_is_an_error_with_a_hint(self, kb: str) -> None:
        ended = livefacts("apply", kb, "--update", "LOAD <x:y>", "-o", kb)
        assert (ended.code, ended.out) == (1, "")
        assert "LOAD is refused" in ended.err
        assert "hint: " in ended.err

    @pytest.mark.parametrize("options", [[], ["--patch", "a.rdfp", "--update", "b.ru"]])
    def test_one_of_patch_and_update_is_wanted(self, options: list[str], kb: str) -> None:
        assert livefacts("apply", kb, *options).code == 2

    def test_the_printed_patch_of_what_is_true_mirrors_the_closure(self, kb: str) -> None:
        text = "INSERT DATA { <x:kit> a <x:Cat> } ; DELETE DATA { <x:tom> a <x:Cat> }"
        printed = livefacts("apply", kb, "--rules", "rho-df", "--update", text).out
        mirror, whole = lf.Reasoner(), lf.Reasoner(rules="rho-df")
        whole.load(kb)
        mirror.add(list(whole.facts()))
        whole.update(text)
        mirror.apply(patch=printed)
        assert set(mirror.facts()) == set(whole.facts())

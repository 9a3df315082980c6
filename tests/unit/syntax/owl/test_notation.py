"""An ontology is read by what it begins with, packed and from standard input too."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pytest
from pyoxigraph import RdfFormat

import livefacts as lf
from livefacts.errors import InputError, RuleError
from livefacts.language.rule_text import write_rule
from livefacts.syntax.owl.notation import ontology_format
from livefacts.syntax.owl.ontology_files import rules_of

TURTLE = """@prefix : <http://example.org/> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:A rdfs:subClassOf :B .
"""
RDF_XML = """<?xml version="1.0"?>
<!DOCTYPE rdf:RDF [ <!ENTITY ex "http://example.org/" > ]>
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"
    xmlns:rdfs="http://www.w3.org/2000/01/rdf-schema#">
  <rdf:Description rdf:about="&ex;A"><rdfs:subClassOf rdf:resource="&ex;B"/></rdf:Description>
</rdf:RDF>
"""
JSON_LD = """{"@id": "http://example.org/A",
  "http://www.w3.org/2000/01/rdf-schema#subClassOf": {"@id": "http://example.org/B"}}"""
RULE = "[?x, a, <http://example.org/B>] :- [?x, a, <http://example.org/A>] ."


@pytest.mark.parametrize("text", [TURTLE, RDF_XML, JSON_LD], ids=["Turtle", "RDF/XML", "JSON-LD"])
@pytest.mark.parametrize("name", ["o.owl", "o.owl.gz", "o.rdf", "o.unknown", "o"])
def test_the_text_tells_its_format(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    (rule,) = rules_of(path).program
    assert write_rule(rule).endswith(RULE)


@pytest.mark.parametrize("text", [TURTLE, RDF_XML, gzip.compress(TURTLE.encode())])
def test_standard_input_is_in_any_format(
    monkeypatch: pytest.MonkeyPatch, text: str | bytes
) -> None:
    given = text.encode() if isinstance(text, str) else text
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(given)))
    monkeypatch.setattr(sys, "stdin", stream)
    assert len(rules_of("-").program) == 1


def test_an_error_on_standard_input_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.TextIOWrapper(io.BufferedReader(io.BytesIO(TURTLE.encode() + b"what")))
    monkeypatch.setattr(sys, "stdin", stream)
    with pytest.raises(InputError, match="<stdin>:4"):
        rules_of("-")


def test_a_pipe_is_read_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=(TURTLE,))
    writer.start()
    assert len(rules_of(pipe).program) == 1
    writer.join()


@pytest.mark.parametrize(
    ("text", "notation"),
    [
        (
            '<?xml version="1.0"?>\n\n<!DOCTYPE Ontology [\n <!ENTITY xsd "http://x#" >\n]>\n'
            '<!-- a > b -->\n<Ontology xmlns="http://www.w3.org/2002/07/owl#"></Ontology>',
            "OWL/XML",
        ),
        ("\ufeff# x\n# Prefix: y\nPrefix(:=<http://e/>)\nOntology(<http://e/>)", "functional"),
        ("# x\nPrefix: ex: <http://e/>\nOntology: <http://e/>\n", "Manchester"),
        ("Prefix: : <http://e/>\nClass: A\n", "Manchester"),
        ("format-version: 1.2\nontology: go\n", "OBO"),
    ],
    ids=["OWL/XML", "functional", "Manchester", "Manchester without a name", "OBO"],
)
@pytest.mark.parametrize("name", ["o.owl", "o.owl.gz", "o.ofn", "o.owx", "o.omn", "o.ttl"])
def test_what_is_no_rdf_is_named_behind_comments_and_entities(
    tmp_path: Path, name: str, text: str, notation: str
) -> None:
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    with pytest.raises(InputError, match=f"{name}: this ontology is in .*{notation}"):
        rules_of(path)


@pytest.mark.parametrize(
    ("start", "format"),
    [
        (b"Prefix : <http://e/>\n:A a :B .", RdfFormat.TURTLE),
        (b"[] a <http://e/A> .", RdfFormat.TURTLE),
        (b"<http://e/Ontology> a <http://e/A> .", RdfFormat.TURTLE),
        (b"<Ontology> a <http://e/A> .", RdfFormat.TURTLE),
        (b"# nothing but a comment", RdfFormat.TURTLE),
        (b"", RdfFormat.TURTLE),
        (b'<RDF xmlns="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', RdfFormat.RDF_XML),
        (b'[{"@id": "http://e/A"}]', RdfFormat.JSON_LD),
    ],
)
def test_beginnings_that_look_like_others_are_told_apart(start: bytes, format: RdfFormat) -> None:
    assert ontology_format("o.owl", start) == format


def test_a_directory_is_said_to_be_one(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        rules_of(tmp_path)


@pytest.mark.parametrize("rules", ["dlp:", "dlp: ", ["rdfs", "dlp:"]])
def test_dlp_without_a_file_is_refused(rules: str | list[str]) -> None:
    with pytest.raises(RuleError, match="dlp: needs the file of an ontology"):
        lf.Reasoner(rules=rules)

"""Hostile input: whatever a file or a text holds, the process lives and says what is wrong."""

from __future__ import annotations

import gzip
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import rdflib

import livefacts as lf
from livefacts.syntax.rdf.nesting import JsonNesting, XmlNesting

RDF_XML = '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:x="http://x/">'
LEVEL = "<rdf:Description><x:p>"
END = "</x:p></rdf:Description>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
DEEP = {
    "objects.jsonld": '{"x:p":' * 5_000 + '"a"' + "}" * 5_000,
    "arrays.jsonld": "[" * 50_000 + "]" * 50_000,
    "contexts.jsonld": '{"@context":' * 9_000 + "{}" + "}" * 9_000,
    "strings.jsonld": '{"a\\"[": ' * 5_000 + "1" + "}" * 5_000,
    "elements.rdf": RDF_XML + LEVEL * 5_000 + END * 5_000 + "</rdf:RDF>",
    "lines.rdf": RDF_XML + f"{LEVEL}\n" * 100_000,
    "hidden.rdf": RDF_XML + f"{LEVEL}<!-- {END} --><![CDATA[{END}]]>" * 5_000,
    "terms.ttl": "<x:a> <x:p> " + "<<( <x:a> <x:p> " * 5_000,
    "literal.ttl": '<x:a> <x:p> "' + "a" * 17_000_000 + '" .',
    "comment.ttl": "#" + "a" * 17_000_000,
}


@pytest.mark.parametrize("name", DEEP)
def test_what_is_nested_or_long_without_end_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(DEEP[name])
    r = lf.Reasoner()
    if name == "comment.ttl":
        with pytest.raises(lf.InputError, match="16 MB"):
            r.load(path)
        return
    with pytest.raises(lf.InputError, match=r"nothing in .* could be read") as caught:
        r.load(path)
    assert caught.value.hint
    assert len(r) == 0


def test_what_comes_before_a_deep_part_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "some.rdf"
    first = '<rdf:Description rdf:about="http://x/a"><x:p>b</x:p></rdf:Description>\n'
    path.write_text(RDF_XML + first + LEVEL * 5_000)
    delta = lf.Reasoner().load(path)
    assert [str(fact) for fact in delta.added] == ['<http://x/a> <http://x/p> "b"']
    assert "inside each other" in delta.rejects[0].reason


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_nesting_is_the_same_in_pieces_of_any_size(size: int) -> None:
    json = b'{"a": [1, {"b\\\\": "]]}}", "c\\"": {}}], "d": "["}' * 30
    xml = b"<a b='>' c=\"/>\"><!-- <x> --><?p <x> ?><![CDATA[<x>]]><d/></a>" * 30
    for nesting, text in ((JsonNesting(), json), (XmlNesting(), xml)):
        for start in range(0, len(text), size):
            nesting.follow(text[start : start + size])
        assert nesting._depth == 0


def test_a_decompression_bomb_is_refused_unless_it_is_allowed(tmp_path: Path) -> None:
    path = tmp_path / "bomb.nt.gz"
    with gzip.open(path, "wb", 9) as file:
        for _ in range(20):
            file.write(b"#" + b" " * 999_998 + b"\n")
        file.write(b"<x:a> <x:b> <x:c> .\n")
    with pytest.raises(lf.InputError, match="unpacks to more than") as caught:
        lf.Reasoner().load(path)
    assert "unpacked=" in caught.value.hint
    r = lf.Reasoner()
    r.load(path, unpacked=30_000_000)
    assert len(r) == 1


def test_rejects_never_take_the_place_of_what_is_read(tmp_path: Path) -> None:
    path, link = tmp_path / "d.nt", tmp_path / "link.nt"
    path.write_text("<x:a> <x:b> <x:c> .\nbad\n")
    link.symlink_to(path)
    for rejects in (path, link, tmp_path / "." / "d.nt"):
        with pytest.raises(lf.InputError, match="rejects to be written there"):
            lf.Reasoner().load(path, rejects=rejects)
    assert path.read_text().endswith("bad\n")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["d.nt", "link.nt"]


def test_a_rejects_file_is_whole_or_as_it_was(tmp_path: Path) -> None:
    path, rejects = tmp_path / "d.nt", tmp_path / "rejects.csv"
    path.write_text("<x:a> <x:b> <x:c> .\n=1+1\n+2\n@SUM(A1)\n-3\n")
    rejects.write_text("earlier")
    lf.Reasoner().load(path, rejects=rejects)
    cells = [line.rpartition(",")[2] for line in rejects.read_text().splitlines()[1:]]
    assert cells == ["'=1+1", "'+2", "'@SUM(A1)", "'-3"]
    assert sorted(each.name for each in tmp_path.iterdir()) == ["d.nt", "rejects.csv"]


HALF = "\ud800"
SURROGATES: dict[str, Callable[[lf.Reasoner], object]] = {
    "add": lambda r: r.add(f'<x:a> <x:b> "{HALF}" .'),
    "add turtle": lambda r: r.add(f'@prefix x: <x:> . x:a x:b "{HALF}" .'),
    "add facts": lambda r: r.add(f'p("{HALF}") .'),
    "add tuple": lambda r: r.add([("p", HALF)]),
    "remove": lambda r: r.remove(f'<x:a> <x:b> "{HALF}" .'),
    "rules": lambda r: r.add_rules(f'p(?x) :- q(?x, "{HALF}") .'),
    "patch": lambda r: r.apply(patch=f'A <x:a> <x:b> "{HALF}" .'),
    "push": lambda r: r.push(f'p("{HALF}") .', at=1),
    "path": lambda r: r.load(f"{HALF}.nt"),
    "nul": lambda r: r.load("a\0b.nt"),
    "explain": lambda r: r.explain(f'p("{HALF}")'),
    "query": lambda r: r.query(f"SELECT * {{ ?s ?p '{HALF}' }}"),
    "watch": lambda r: r.watch(f"SELECT * {{ ?s ?p '{HALF}' }}"),
    "stream": lambda r: r.push("p(a) .", at=1, stream=f"x:{HALF}"),
}


@pytest.mark.parametrize("name", SURROGATES)
def test_half_of_a_character_is_refused_everywhere(name: str) -> None:
    r = lf.Reasoner()
    with pytest.raises(lf.LivefactsError) as caught:
        SURROGATES[name](r)
    assert caught.value.hint
    assert len(r) == 0


def test_integers_of_any_length_are_numbers() -> None:
    r = lf.Reasoner("next(?y) :- n(?x), ?y = ?x + 1 . large(?x) :- n(?x), ?x > 5 .")
    r.add("n(" + "9" * 10_000 + ") .")
    r.add([("n", 10**10_000)])
    assert len(r) == 6
    assert "1" + "0" * 10_000 in str(sorted(map(str, r.facts())))
    assert r.verify()


def test_squares_of_squares_come_to_an_end() -> None:
    r = lf.Reasoner("@limit 1000 . n(?y) :- n(?x), ?y = ?x * ?x .")
    r.add("n(3) . n(1.1) .")
    assert 20 < len(r) < 60


@pytest.mark.parametrize(
    "text",
    [
        "a(?x) :- sometime p(?x) in [" + "9" * 10_000 + " s] .",
        "a(?x) :- sometime p(?x) in [" + "9" * 10_000 + "] .",
        "a(?x) :- sometime p(?x) in [" + "9" * 10_000 + " facts] .",
        "@limit " + "9" * 10_000 + " .",
        "p(?x) :- " + ", ".join(f"q(?x{n}, ?x{n + 1})" for n in range(3_000)) + " .",
        "p(?x) :- q(?x), " + ", ".join(f"not q{n}(?x)" for n in range(3_000)) + " .",
        "p(?y) :- q(?x), ?y = ?x" + " + 1" * 3_000 + " .",
    ],
    ids=["seconds", "points", "facts", "limit", "atoms", "negations", "sum"],
)
def test_rules_that_are_too_long_are_refused_at_once(text: str) -> None:
    with pytest.raises(lf.RuleError) as caught:
        lf.Reasoner(text)
    assert len(str(caught.value)) < 1_000


@pytest.mark.parametrize("time", [10**10_000, "9" * 10_000, -(10**10_000)], ids=["+", "text", "-"])
def test_a_time_that_cannot_be_kept_is_refused(time: object) -> None:
    with pytest.raises(lf.InputError):
        lf.Reasoner().push("p(a) .", at=time)


def test_many_prefixes_cost_what_they_are() -> None:
    names = range(20_000)
    turtle = "".join(f"@prefix p{n}: <http://x/{n}/> .\n" for n in names)
    patch = "".join(f"PA p{n}: <http://x/{n}/> .\nA p{n}:a p0:b p0:c .\n" for n in names)
    r = lf.Reasoner()
    r.add(turtle + "p1:a p2:b p3:c .")
    r.apply(patch=patch)
    r.add("p7:a p8:b p9:c .")
    assert len(r) == 20_002
    assert len(r.query("SELECT * { ?s p8:b ?o }")) == 1


@pytest.mark.parametrize("device", ["/dev/zero", "/dev/urandom"])
@pytest.mark.parametrize("format", ["nt", "ttl"])
def test_a_device_without_an_end_is_refused(device: str, format: str) -> None:
    with pytest.raises(lf.InputError, match="is a device"):
        lf.Reasoner().load(device, format=format)
    lf.Reasoner().load(os.devnull, format=format)


@pytest.mark.parametrize("graph", ["no iri", "\ud800", "http://[", 7])
def test_a_graph_that_has_no_iri_is_refused(graph: str, tmp_path: Path) -> None:
    (tmp_path / "a.nt").write_text("<x:a> <x:b> <x:c> .\n")
    with pytest.raises(lf.InputError, match="not the name of a graph"):
        lf.Reasoner().load(tmp_path / "a.nt", graph=graph)


@pytest.mark.parametrize("text", ["<x:a> <x:b> <x:c> .\n", "<x:a> <x:b> <x:c> .\n<x:a> broken\n"])
def test_a_pipe_is_read_once(text: str, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.ttl"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[text])
    writer.start()
    r = lf.Reasoner()
    r.load(pipe)
    writer.join()
    assert len(r) == 1


MARK = "\ufeff"
MARKED = {
    "a.nt": "<x:a> <x:b> <x:c> .\n",
    "a.nq": "<x:a> <x:b> <x:c> <x:g> .\n",
    "a.ttl": "<x:a> <x:b> <x:c> .\n",
    "a.trig": "<x:a> <x:b> <x:c> .\n",
    "a.n3": "<x:a> <x:b> <x:c> .\n",
    "a.rdf": RDF_XML
    + '<rdf:Description rdf:about="http://x/a"><x:p>b</x:p></rdf:Description></rdf:RDF>',
    "a.jsonld": '{"@id": "x:a", "x:b": "c"}',
    "a.rules": "p(a) .\n",
}


@pytest.mark.parametrize("name", MARKED)
@pytest.mark.parametrize("packed", [False, True])
def test_the_mark_before_utf_8_is_passed_over(name: str, packed: bool, tmp_path: Path) -> None:
    path = tmp_path / (f"{name}.gz" if packed else name)
    content = (MARK + MARKED[name]).encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    r = lf.Reasoner()
    assert not r.load(path).rejects
    assert len(r) == 1


def test_the_mark_is_passed_over_in_texts() -> None:
    r = lf.Reasoner(MARK + "q(?x) :- p(?x) .")
    r.add(MARK + "p(a) .")
    r.add(MARK + "<x:a> <x:b> <x:c> .")
    r.apply(patch=MARK + "A <x:a> <x:b> <x:d> .")
    assert len(r) == 4


@pytest.mark.parametrize(
    ("name", "like"),
    [
        ("a.owl", "a.ttl"),
        ("a.xml", "a.nt"),
        ("a.ttl", "a.rdf"),
        ("b.nt", "a.rdf"),
        ("c.owl", "a.jsonld"),
        ("c.ttl", "a.jsonld"),
        ("b.jsonld", "a.ttl"),
    ],
)
def test_a_file_is_read_as_what_it_is(name: str, like: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(MARKED[like])
    r = lf.Reasoner()
    r.load(path)
    assert len(r) == 1


def test_a_file_of_which_nothing_can_be_read_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "notes.ttl"
    path.write_text("Dear diary, today nothing happened.\n")
    with pytest.raises(lf.InputError, match=r"nothing in .*notes\.ttl could be read"):
        lf.Reasoner().load(path)
    path.write_text("# nothing yet\n")
    assert not lf.Reasoner().load(path)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_graph_of_rdflib_can_be_loaded() -> None:
    graph, dataset = rdflib.Graph(), rdflib.Dataset()
    graph.parse(data="<x:a> <x:b> 1 . <x:a> <x:b> _:c .", format="turtle")
    dataset.parse(data="<x:a> <x:b> <x:c> . <x:g> { <x:a> <x:b> <x:d> }", format="trig")
    r = lf.Reasoner()
    assert len(r.load(graph).added) == 2
    assert len(r.load([dataset]).added) == 2
    assert len(r.query("SELECT * { GRAPH <x:g> { ?s ?p ?o } }")) == 1


@pytest.mark.parametrize(
    ("source", "hint"),
    [("https://example.org/a.ttl", "fetch it first"), ("file:///data/a.ttl", "give /data/a.ttl")],
)
def test_an_address_is_told_from_a_path(source: str, hint: str) -> None:
    with pytest.raises(lf.InputError) as caught:
        lf.Reasoner().load(source)
    assert hint in caught.value.hint

"""What is done with bytes that a fuzzer makes up: one function for each way into livefacts.

Each may raise a LivefactsError and nothing else.  Reasoners are bounded, so that what is large
because it was asked for is refused; the rest must be quick by itself.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable
from functools import cache
from itertools import islice
from pathlib import Path

import livefacts as lf
from livefacts.journal.change_log import FOLDER
from livefacts.syntax.foreign_rules.dialects import READERS, dialect_of, read_foreign
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.json_map.mapping_text import parse_map
from livefacts.syntax.rulelang.rule_parser import parse
from livefacts.syntax.stream_files import read_events

FACTS = """@prefix x: <x:> . x:a x:p x:b, 1, "w"@en . x:b x:p x:c ; a x:C . x:c x:q 2.5, "d" ."""
GOES = "<x:a> <x:p> <x:b> ."
MEMORY = 100_000_000
SECONDS = 5
EVENTS = 200


def run(target: str, data: bytes) -> bool:
    """Give the bytes to a target; whether they were taken."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            TARGETS[target](data)
        except lf.LivefactsError as error:
            str(error)
            return False
    return True


def _reasoner(rules: object = (), facts: str = FACTS) -> lf.Reasoner:
    reasoner = lf.Reasoner(rules, limit=1_000, timeout=SECONDS, memory=MEMORY)  # type: ignore[arg-type]
    if facts:
        reasoner.add(facts)
    return reasoner


@cache
def _shared() -> lf.Reasoner:
    """A reasoner that inputs do not change: making one takes longer than most of them."""
    return _reasoner()


@cache
def _place() -> Path:
    """A folder of this process."""
    return Path(tempfile.mkdtemp(prefix="livefacts-fuzzer-"))


def _text(data: bytes) -> str:
    # Lone surrogates are part of what a caller can pass.
    return data.decode("utf-8", "surrogateescape")


def rules(data: bytes) -> None:
    """Rule text: read, checked, planned, followed, and taken back."""
    program = parse(_text(data))
    reasoner = _reasoner(program)
    reasoner.plan()
    reasoner.remove_rules(list(reasoner.rules))


def foreign_rules(data: bytes) -> None:
    """Rules of other systems: the first byte says of which; what cannot be said is refused."""
    language = sorted(READERS)[data[0] % len(READERS)] if data else "n3"
    found = read_foreign(_text(data[1:]), language)
    dialect_of(_text(data))
    reasoner = _reasoner(found.program)
    reasoner.remove_rules(list(reasoner.rules))


def facts(data: bytes) -> None:
    """Facts as text, in Turtle or the rule language."""
    reasoner = _reasoner(facts="")
    text = _text(data)
    reasoner.add(text)
    list(reasoner.facts())
    reasoner.remove(text)


def csparql(data: bytes) -> None:
    """A registered query, and what it reports."""
    reasoner = _reasoner()
    query = reasoner.register(_text(data))
    for point in (1, 2, 7):
        reasoner.push("<x:a> <x:p> <x:b> .", at=point, stream="x:s")
    reasoner.advance(10)
    for report in islice(query.results(), EVENTS):
        str(report)


def query(data: bytes) -> None:
    """A SPARQL query."""
    found = _shared().query(_text(data), timeout=SECONDS, limit_rows=100, memory=MEMORY)
    str(found)


def watch(data: bytes) -> None:
    """A SPARQL query that is followed; afterwards everything is as before."""
    reasoner = _shared()
    followed = reasoner.watch(_text(data))
    try:
        reasoner.apply(add="<x:new> <x:p> <x:b> . <x:b> <x:q> 7 .", remove=GOES)
        list(followed.changes())
        followed.answers()
    finally:
        reasoner.apply(add=GOES, remove="<x:new> <x:p> <x:b> . <x:b> <x:q> 7 .")
        followed.close()


def update(data: bytes) -> None:
    """A SPARQL Update."""
    _reasoner().update(_text(data))


def patch(data: bytes) -> None:
    """RDF Patch."""
    _reasoner().apply(patch=_text(data))


def stream_lines(data: bytes) -> None:
    """Lines of a live source: timed N-Quads, JSON lines, or patches with times."""
    rejects = Rejects()
    events = _reasoner().event_time(lateness=2)
    for event in islice(read_events(data, rejects, untimed=0), EVENTS):
        events.push(list(event.facts), event.time, event.stream)


def json_map(data: bytes) -> None:
    """A map from JSON to facts, and messages below a line of dashes."""
    text, _, messages = data.partition(b"\n---\n")
    read = parse_map(_text(text))
    rejects = Rejects()
    events = _reasoner().event_time(lateness=2)
    for event in islice(read_events(messages, rejects, untimed=0, json_map=read), EVENTS):
        events.push(list(event.facts), event.time, event.stream)


def ntriples(data: bytes) -> None:
    """A file of N-Triples."""
    _load(data, "facts.nt")


def turtle(data: bytes) -> None:
    """A file of Turtle."""
    _load(data, "facts.ttl")


def folder(data: bytes) -> None:
    """The log of a folder that is opened: its beginning as it was written, then any bytes."""
    template = _folder()
    with tempfile.TemporaryDirectory() as place:
        copy = Path(place) / "kb"
        shutil.copytree(template, copy)
        [log] = (copy / FOLDER).glob("*.log")
        kept, rest = (data[0] if data else 0), data[1:]
        whole = log.read_bytes()
        log.write_bytes(whole[: len(whole) * kept // 255] + rest)
        with lf.Reasoner.open(copy) as reasoner:
            list(reasoner.facts())


def _load(data: bytes, name: str) -> None:
    path = _place() / name
    path.write_bytes(data)
    reasoner = _reasoner(facts="")
    reasoner.load(path)
    list(reasoner.facts())
    reasoner.dump(_place() / "dumped.nt")


@cache
def _folder() -> Path:
    """A small folder with a journal; the process keeps it until its end."""
    place = _place()
    with lf.Reasoner.open(place / "kb", rules="[?x, <x:q>, ?y] :- [?x, <x:p>, ?y] .") as reasoner:
        reasoner.add(FACTS)
        reasoner.remove("<x:a> <x:p> <x:b> .")
        reasoner.push("<x:a> <x:p> <x:b> .", at=1)
        reasoner.advance(3)
    return place / "kb"


Target = Callable[[bytes], None]
TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        rules,
        foreign_rules,
        facts,
        csparql,
        query,
        watch,
        update,
        patch,
        stream_lines,
        json_map,
        ntriples,
        turtle,
        folder,
    )
}

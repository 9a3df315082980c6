"""What is done with bytes that a fuzzer makes up: one function for each way into livefacts.

Each may raise a LivefactsError and nothing else.  Reasoners are bounded, so that what is large
because it was asked for is refused; the rest must be quick by itself.  A reasoner that has refused
an input is as it was, and takes the next one.
"""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import islice
from pathlib import Path

import livefacts as lf
from livefacts.syntax.foreign_rules.dialects import READERS, dialect_of, read_foreign
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.json_map.mapping_text import parse_map
from livefacts.syntax.rulelang.rule_parser import parse
from livefacts.syntax.stream_files import Event, read_events

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


_left: dict[str, lf.Reasoner] = {}
"""By their facts, reasoners that have refused all that they were given."""


@contextmanager
def _lent(facts: str = FACTS) -> Iterator[lf.Reasoner]:
    """A reasoner for one call: half of the time would go into making another for each input."""
    reasoner = _left.pop(facts, None) or _reasoner(facts=facts)
    before = len(reasoner)
    try:
        yield reasoner
    except lf.LivefactsError:
        assert len(reasoner) == before, "a change that is refused leaves everything as it was"
        _left[facts] = reasoner
        raise


@cache
def _shared() -> lf.Reasoner:
    """A reasoner that inputs do not change: making one takes longer than most of them."""
    return _reasoner()


@cache
def _place() -> Path:
    """A folder of this process, in memory if it can be."""
    memory = "/dev/shm" if Path("/dev/shm").is_dir() else None
    return Path(tempfile.mkdtemp(prefix="livefacts-fuzzer-", dir=memory))


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
    text = _text(data)
    with _lent(facts="") as reasoner:
        reasoner.add(text)
    list(reasoner.facts())
    reasoner.remove(text)


def csparql(data: bytes) -> None:
    """A registered query, and what it reports."""
    with _lent() as reasoner:
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
    with _lent() as reasoner:
        reasoner.update(_text(data))


def patch(data: bytes) -> None:
    """RDF Patch."""
    with _lent() as reasoner:
        reasoner.apply(patch=_text(data))


def stream_lines(data: bytes) -> None:
    """Lines of a live source: timed N-Quads, JSON lines, or patches with times."""
    _push(read_events(data, Rejects(), untimed=0))


def json_map(data: bytes) -> None:
    """A map from JSON to facts, and messages below a line of dashes."""
    text, _, messages = data.partition(b"\n---\n")
    read = parse_map(_text(text))
    _push(read_events(messages, Rejects(), untimed=0, json_map=read))


def _push(events: Iterable[Event]) -> None:
    if found := list(islice(events, EVENTS)):
        times = _reasoner(facts="").event_time(lateness=2)
        for event in found:
            times.push(list(event.facts), event.time, event.stream)


def ntriples(data: bytes) -> None:
    """A file of N-Triples."""
    _load(data, "facts.nt")


def turtle(data: bytes) -> None:
    """A file of Turtle."""
    _load(data, "facts.ttl")


def folder(data: bytes) -> None:
    """The log of a folder that is opened: its beginning as it was written, then any bytes."""
    copy, kept, rest = _place() / "copy", (data[0] if data else 0), data[1:]
    for name, whole in _folder().items():
        path = copy / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cut = name.endswith(".log")
        path.write_bytes(whole[: len(whole) * kept // 255] + rest if cut else whole)
    try:
        with lf.Reasoner.open(copy) as reasoner:
            list(reasoner.facts())
    finally:
        shutil.rmtree(copy)


def _load(data: bytes, name: str) -> None:
    path = _place() / name
    path.write_bytes(data)
    with _lent(facts="") as reasoner:
        reasoner.load(path)
    list(reasoner.facts())
    reasoner.dump(_place() / "dumped.nt")


@cache
def _folder() -> dict[str, bytes]:
    """The files of a small folder with a journal."""
    place = _place() / "kb"
    with lf.Reasoner.open(place, rules="[?x, <x:q>, ?y] :- [?x, <x:p>, ?y] .") as reasoner:
        reasoner.add(FACTS)
        reasoner.remove("<x:a> <x:p> <x:b> .")
        reasoner.push("<x:a> <x:p> <x:b> .", at=1)
        reasoner.advance(3)
    files = [path for path in place.rglob("*") if path.is_file()]
    return {str(path.relative_to(place)): path.read_bytes() for path in files}


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

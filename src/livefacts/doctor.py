"""The doctor: looks at an installation and says what is missing and how to get it.

A finding is fine, missing (something optional is not there) or broken (the embedded
engine cannot work); every finding that is not fine says what to do.
"""

from __future__ import annotations

import io
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stderr
from dataclasses import asdict, dataclass
from enum import StrEnum
from importlib.metadata import PackageNotFoundError, version
from multiprocessing import get_context
from pathlib import Path

from livefacts.errors import LivefactsError

EMBEDDED = ("pyoxigraph", "lark", "numba", "numpy", "typer", "rich", "zstandard")
SPARK = ("pyspark", "pandas", "protobuf")
SPARK_ADVICE = "only for the Spark pipeline: pip install 'livefacts[spark]'"
COMPLETE = "complete"
"""A file in the kernel cache that says that every kernel is in it."""
FREE_DISK_WANTED = 1 << 30
MEMORY_WANTED = 1 << 30

CASE_TRIPLES = """
<urn:ada> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <urn:Writer> .
<urn:Writer> <http://www.w3.org/2000/01/rdf-schema#subClassOf> <urn:Person> .
"""
CASE_EDGES = 4_000
CASE_QUERY = "SELECT ?x WHERE { ?x a <urn:Person> }"
CASE_RULES = """
path(?x, ?y)   :- edge(?x, ?y) .
path(?x, ?z)   :- path(?x, ?y), path(?y, ?z) .
inner(?x)      :- edge(?x, ?y) .
leaf(?y)       :- edge(?x, ?y), not inner(?y), ?x != ?y .
degree(?x, ?n) :- ?n = count { ?y : edge(?x, ?y) } .
fork(?x)       :- degree(?x, ?n), ?n > 1 .
"""
CASE_TIMED = """
seen(?x)        :- sometime edge(?x, ?y) in [1] .
lasting(?x, ?y) :- always edge(?x, ?y) in [1], not late(?x) .
at ?t met(?x)   :- at ?t edge(?x, ?y) in [1] .
late(?x)        :- sometime met(?x) in [1], not seen(?x) .
"""
CASE_LEARNED = "far(?x, ?z) :- path(?x, ?y), path(?y, ?z), not edge(?x, ?z) ."
CASE_MEETINGS = """
[?x, <urn:knows>, ?y] :- [?x, <urn:met>, ?y] .
[?x, <urn:knows>, ?z] :- [?x, <urn:knows>, ?y], [?y, <urn:knows>, ?z] .
"""
CASE_REPORTS = (
    "REGISTER QUERY pairs AS SELECT ?x ?y FROM STREAM <urn:s> [RANGE 2 STEP 1] "
    "WHERE { ?x <urn:knows> ?y }",
    "REGISTER QUERY many AS SELECT ?x (COUNT(?y) AS ?n) FROM STREAM <urn:s> [RANGE 2 STEP 1] "
    "WHERE { ?x <urn:knows> ?y } GROUP BY ?x",
    "REGISTER QUERY loose AS SELECT ?x FROM STREAM <urn:s> [TRIPLES 3] "
    "WHERE { ?x <urn:knows> ?y FILTER NOT EXISTS { ?y <urn:knows> ?x } }",
)
CASE_WATCHED = "SELECT ?x (COUNT(?y) AS ?n) WHERE { ?x <urn:met> ?y } GROUP BY ?x"
CASE_PATTERNS = (
    "SELECT ?x { ?x <urn:in> <urn:Rome> . ?x <urn:likes> <urn:cats> }",
    "SELECT ?x { ?x <urn:in> <urn:Rome> . ?x <urn:met> ?y }",
    "SELECT ?x ?z { ?x <urn:in> <urn:Rome> . ?x <urn:met> ?y . ?y <urn:met> ?z }",
)
CASE_CONCLUSIONS = {"path(a, c)", "leaf(c)", "leaf(d)", "fork(a)"}


class FindingState(StrEnum):
    """What a finding means for the user."""

    FINE = "fine"
    MISSING = "missing"
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    topic: str
    value: str
    state: FindingState = FindingState.FINE
    advice: str = ""

    def as_line(self) -> str:
        """The finding on a line, with the advice below."""
        mark = {FindingState.FINE: "ok", FindingState.MISSING: "--", FindingState.BROKEN: "!!"}[
            self.state
        ]
        line = f"{mark}  {self.topic:<14} {self.value}"
        return f"{line}\n    {'':<14} -> {self.advice}" if self.advice else line

    def as_dict(self) -> dict[str, str]:
        """The finding as plain values."""
        return {**asdict(self), "state": self.state.value}


def examine() -> list[Finding]:
    """Look at everything, in the order in which it matters."""
    return [finding for look in LOOKS for finding in look()]


def kernels_are_compiled() -> bool:
    """Whether the cache has machine code of every kernel as it is now."""
    from livefacts.store.machine_code import CACHE

    return (CACHE / COMPLETE).exists()


def compile_kernels() -> float:
    """Compile every kernel, or load it from the cache; the seconds it took.

    A second process begins at the other end: what one has compiled, the other finds in the cache.
    """
    from livefacts.store.machine_code import CACHE

    started = time.perf_counter()
    other = get_context("spawn").Process(target=_run_quietly, daemon=True)
    if (os.cpu_count() or 1) > 1 and not kernels_are_compiled():
        other.start()
    _run_cases(CASES)
    if other.is_alive():
        other.join()
    if CACHE.exists():
        (CACHE / COMPLETE).touch()
    return time.perf_counter() - started


def _run_cases(cases: Iterable[Callable[[], None]]) -> None:
    """Do a small thing of each kind, and so compile what it needs."""
    for case in cases:
        case()


def _run_quietly() -> None:
    """The same from the other end; the first process says what there is to say."""
    with redirect_stderr(io.StringIO()):
        _run_cases(CASES[::-1])


def _system() -> Iterator[Finding]:
    yield Finding("livefacts", _version("livefacts") or "from a source folder")
    yield Finding("system", f"{platform.system()} {platform.release()} {platform.machine()}")
    yield Finding("Python", f"{platform.python_version()} at {sys.executable}")


def _dependencies() -> Iterator[Finding]:
    for name in EMBEDDED:
        found = _version(name)
        if found:
            yield Finding(name, found)
        else:
            yield Finding(name, "not installed", FindingState.BROKEN, "pip install livefacts")


def _engine() -> Iterator[Finding]:
    """The embedded engine by what it does; a cold cache is not filled here."""
    try:
        cache = _kernel_cache()
        yield cache
        if cache.state is FindingState.FINE:
            _small_closure()
            yield Finding("engine", "concludes what it should")
    except Exception as error:
        # Whatever goes wrong in here is the finding: the doctor must not fall ill.
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        advice = "remove the kernel cache, then: livefacts doctor --compile"
        yield Finding("engine", reason, FindingState.BROKEN, advice)


def _kernel_cache() -> Finding:
    from livefacts.store.machine_code import CACHE

    files = [path for path in CACHE.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    compiled = sum(path.suffix == ".nbc" for path in files)
    if not kernels_are_compiled():
        advice = "they compile at first use, a minute or so; now: livefacts doctor --compile"
        return Finding("kernels", f"not all compiled, cache {CACHE}", FindingState.MISSING, advice)
    others = len(list(CACHE.parent.glob("kernels-*"))) - 1
    older = f"; {others} of older versions beside it" if others else ""
    return Finding("kernels", f"{compiled} compiled, {_size(size)} in {CACHE}{older}")


def _small_closure() -> None:
    """Draw conclusions of every kind and ask for them; an assertion fails if one is wrong."""
    from livefacts.generate import chain
    from livefacts.service.reasoner.facade import Reasoner

    schema = Reasoner(rules="rdfs")
    schema.add(CASE_TRIPLES)
    # Enough terms and facts for every table to grow, since growing is a kernel too.
    schema.add(b"".join(chain(CASE_EDGES)).decode())
    answers = schema.query(CASE_QUERY).to_csv().split()
    assert answers == ["x", "urn:ada"], "RDFS missed a conclusion"
    assert schema.explain("<urn:ada> a <urn:Person>").holds, "a conclusion has no proof"
    written = io.BytesIO()
    schema.dump(written)
    assert written.getvalue().count(b"\n") == len(schema), "a dump lost a fact"
    program = Reasoner(rules=CASE_RULES)
    program.add("edge(a, b) . edge(b, c) . edge(a, d) .")
    true = {str(fact) for fact in program.facts(derived=True)}
    assert true >= CASE_CONCLUSIONS, f"no {sorted(CASE_CONCLUSIONS - true)} from the rules"
    program.remove("edge(b, c) .")
    assert ("path", "a", "c") not in program, "a path outlived its edge"
    _small_stream()


def _small_stream() -> None:
    """Let facts arrive and leave windows."""
    from livefacts.service.reasoner.facade import Reasoner

    timed = Reasoner(rules=CASE_TIMED)
    edges = [("edge", f"n{n}", f"n{n + 1}") for n in range(20)]
    for now in range(3):
        timed.push(edges, at=now)
        timed.advance(now)
    assert ("lasting", "n3", "n4") in timed, "a window lost a fact"
    timed.advance(9)
    assert not len(timed.facts(derived=True)), "a window kept a fact"


def _small_queries() -> None:
    """Ask for paths and for joins, before and after a change."""
    from livefacts.service.queries.results import Rows
    from livefacts.service.reasoner.facade import Reasoner

    meetings = Reasoner()
    meetings.add(" ".join(f"<urn:n{n}> <urn:met> <urn:n{n + 1}> ." for n in range(20)))
    for last in (20, 9):
        ends = meetings.query("SELECT ?x { <urn:n0> <urn:met>+ ?x }")
        pairs = meetings.query("SELECT * { ?x <urn:met> ?y . ?y <urn:met> ?z }")
        assert isinstance(ends, Rows), "it selects"
        assert isinstance(pairs, Rows), "it selects"
        assert len(ends) == last, "a query missed a path"
        assert len(pairs) == (19 if last == 20 else 17), "a query missed a match"
        meetings.remove("<urn:n9> <urn:met> <urn:n10> .")


def _small_changes() -> None:
    """Let rules and facts of every kind come and go."""
    from livefacts.service.reasoner.facade import Reasoner

    program = Reasoner(rules=CASE_RULES + CASE_TIMED)
    program.add([("edge", f"n{n}", f"n{n + 1}") for n in range(20)])
    program.add_rules(CASE_LEARNED)
    assert ("far", "n0", "n9") in program, "a new rule concludes nothing"
    program.remove([("edge", f"n{n}", f"n{n + 1}") for n in range(3, 20, 5)])
    assert ("far", "n0", "n9") not in program, "a conclusion outlived its reasons"
    program.remove_rules(CASE_LEARNED)
    triple = "<urn:a> <urn:p> <urn:b>"
    program.update(f"INSERT DATA {{ GRAPH <urn:g> {{ {triple} }} }}")
    program.update(f"DELETE DATA {{ GRAPH <urn:g> {{ {triple} }} }}")
    assert program.verify(), "conclusions differ by another road"


def _small_reports() -> None:
    """Let registered and watched queries follow a stream."""
    from livefacts.service.reasoner.facade import Reasoner

    meetings = Reasoner(rules=CASE_MEETINGS)
    reports = [meetings.register(text) for text in CASE_REPORTS]
    watch = meetings.watch(CASE_WATCHED)
    for now in range(6):
        met = "".join(f"<urn:n{n}> <urn:met> <urn:n{n + 1}> . " for n in range(now, now + 4))
        meetings.push(met, at=now, stream="urn:s")
        meetings.advance(now)
        if now == 4:
            meetings.retract(met, at=now, stream="urn:s")
    assert all(list(query.results()) for query in reports), "a query over a stream reports nothing"
    assert watch.answers(), "a watched query has no answers"
    meetings.advance(20)


def _small_patterns() -> None:
    """Let patterns of every kind follow updates without a graph."""
    from livefacts.service.continuous.message_query import ContinuousQuery

    for pattern in CASE_PATTERNS:
        query = ContinuousQuery(pattern)
        rows = [
            f"<urn:n{n}> <urn:met> <urn:n{n + 1}> . <urn:n{n}> <urn:in> <urn:Rome> . <urn:n{n}> <urn:likes> <urn:cats> ."
            for n in range(20)
        ]
        assert query.feed(add=" ".join(rows)), "a pattern has no answers"
        assert query.feed(messages="D <urn:n3> <urn:in> <urn:Rome> ."), "an answer stayed"


CASES = (_small_closure, _small_changes, _small_reports, _small_patterns, _small_queries)


def _java() -> Iterator[Finding]:
    from livefacts.engine.spark.java import find_java

    try:
        yield Finding("Java", str(find_java()))
    except LivefactsError as error:
        advice = f"only for the Spark pipeline: {error.hint}"
        yield Finding("Java", error.message, FindingState.MISSING, advice)


def _spark() -> Iterator[Finding]:
    found = {name: _version(name) for name in SPARK}
    if not found["pyspark"]:
        yield Finding("PySpark", "not installed", FindingState.MISSING, SPARK_ADVICE)
        return
    missing = [name for name, number in found.items() if not number]
    versions = ", ".join(f"{name} {number}" for name, number in found.items() if number)
    if missing:
        advice = f"{SPARK_ADVICE} brings {', '.join(missing)}"
        yield Finding("PySpark", versions, FindingState.MISSING, advice)
    elif sys.platform == "win32":
        yield Finding(
            "PySpark", versions, FindingState.MISSING, "the pipeline is untested on Windows"
        )
    else:
        yield Finding("PySpark", versions)


def _room() -> Iterator[Finding]:
    free = shutil.disk_usage(Path.cwd()).free
    if free >= FREE_DISK_WANTED:
        yield Finding("disk", f"{_size(free)} free here")
    else:
        yield Finding("disk", f"{_size(free)} free here", FindingState.MISSING, "make some room")
    yield _memory()


def _memory() -> Finding:
    cores = f"{os.cpu_count() or 1} cores"
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        total = page * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return Finding("memory", f"size unknown on this system, {cores}")
    room = f"{_size(total)}, {cores}"
    if total >= MEMORY_WANTED:
        return Finding("memory", room)
    return Finding(
        "memory", room, FindingState.MISSING, "a gigabyte is wanted to compile the kernels"
    )


LOOKS: tuple[Callable[[], Iterator[Finding]], ...] = (
    _system,
    _dependencies,
    _engine,
    _java,
    _spark,
    _room,
)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return ""


def _size(number: int) -> str:
    """A number of bytes for people.

    >>> _size(512), _size(3 << 20), _size(5 << 30)
    ('512 B', '3.0 MB', '5.0 GB')
    """
    value = float(number)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1024 or unit == "GB":
            break
        value /= 1024
    return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"

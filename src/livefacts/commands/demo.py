"""`livefacts demo`: a tour of what is ours, in small worlds that fit on a screen, then with size."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from livefacts.commands.console.fact_files import prepare
from livefacts.commands.console.terminal import counted, output
from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta
    from livefacts.service.queries.results import Rows
    from livefacts.service.reasoner.facade import Reasoner

ROADS = """\
route(?x, ?y) :- road(?x, ?y) .
route(?x, ?z) :- road(?x, ?y), route(?y, ?z) .
cut_off(?x)   :- place(?x), not route(harbour, ?x) ."""
PLACES = """\
place(mill) . place(castle) . place(abbey) .
road(harbour, mill) . road(mill, castle) . road(castle, abbey) ."""
STORM, FERRY = "road(mill, castle) .", "road(harbour, abbey) . road(abbey, castle) ."
BOILER = """\
@tick 1 s .
at ?t hot(?s) :- at ?t reading(?s, ?v) in [10 s], ?v >= 90 .
alarm(?s)     :- always hot(?s) in [2 s] ."""
READINGS = {1: 88, 2: 92, 3: 95, 4: 97, 5: 85}
PREFIX = "@prefix ub: <http://livefacts.example/university#> ."
HEADS = """\
SELECT ?chair (COUNT(?student) AS ?students) WHERE {
  ?chair a ub:Chair ; ub:memberOf ?department . ?student a ub:Student ; ub:memberOf ?department
} GROUP BY ?chair HAVING (COUNT(?student) > 540)"""
NEWCOMER = PREFIX + "\n<http://ada.example/> a ub:GraduateStudent ; ub:memberOf <{}> ."
DEPARTMENT = "SELECT ?department { ?chair a ub:Chair ; ub:memberOf ?department } LIMIT 1"
CONSTRAINT = "@id course_or_person  false :- [?x, a, ub:Course], [?x, a, ub:Person] ."
MISTAKE = (
    "<http://university0.example/department0/Course0> "
    "<http://livefacts.example/university#advisor> "
    "<http://university0.example/department0/FullProfessor0> ."
)
NEXT = """What to try next:
  livefacts demo --live       a city of sensors on the page of the server
  livefacts demo --spark      the university once more, by Spark
  livefacts generate university 5 -o uni.nt.gz
  livefacts query 'SELECT (COUNT(*) AS ?n) { ?s ?p ?o }' --data uni.nt.gz --rules rdfs
  livefacts --help"""


def demo_command(
    spark: Annotated[
        bool,
        typer.Option("--spark/--no-spark", help="The university also on Spark, which needs Java."),
    ] = False,
    live: Annotated[
        bool, typer.Option("--live", help="A city of sensors on the page of the server instead.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Of --live; 7878 if it is free.", min=0, max=65535)
    ] = None,
) -> None:
    """A tour: a change and its delta, why, what if, an alarm, a watched query, a contradiction.

    It takes some seconds, with --spark a minute. The first time, kernels are compiled before,
    which takes a minute or more.

    \b
    livefacts demo
    livefacts demo --spark
    livefacts demo --live
    """
    if live:
        from livefacts.commands.live_demo import live_demo

        live_demo(port)
        return
    prepare()
    _roads()
    _alarm()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uni.nt.gz"
        _generate(path)
        reasoner = _load(path)
        if spark:
            _on_spark(path, Path(folder) / "kb", len(reasoner))
    _watch(reasoner)
    _contradict(reasoner)
    typer.echo(NEXT.replace("livefacts ", f"{_called()} "))


# a small world


def _roads() -> None:
    """A change and its delta, why, and what if."""
    from livefacts.service.reasoner.facade import Reasoner

    with _stage("Rules that reach, and deny"):
        reasoner = Reasoner(rules=ROADS)
        reasoner.add(PLACES)
    _show(*ROADS.splitlines(), "", *PLACES.splitlines())
    with _stage("A storm takes a road: what that changes, and nothing else"):
        lost = reasoner.remove(STORM)
    _show_delta(lost)
    with _stage("What if there was a ferry? Nothing is changed yet"):
        found = reasoner.preview(add=FERRY)
    _show(FERRY)
    _show_delta(found)
    with _stage("There is one now. Why can the castle be reached?"):
        reasoner.add(FERRY)
        why = reasoner.explain("route(harbour, castle)")
    _show(*str(why).splitlines())


def _alarm() -> None:
    """A window over a stream, and an alarm that comes and goes with time alone."""
    from livefacts.service.reasoner.facade import Reasoner

    with _stage("A stream: an alarm while a boiler has been hot for two seconds"):
        reasoner = Reasoner(rules=BOILER)
        for second, value in READINGS.items():
            reasoner.push(("reading", "boiler", value), at=second)
        ticks = list(reasoner.ticks(8))
    _show(*BOILER.splitlines(), "")
    for now, delta in ticks:
        is_read = now in READINGS
        _show(f"second {now}: " + (f"{READINGS[now]} degrees" if is_read else "nothing comes"))
        _show_delta(delta, names=("alarm",))


# a larger one


def _generate(path: Path) -> None:
    from livefacts.generate import university

    with _stage("A university with its schema, like the LUBM benchmark"), output(str(path)) as out:
        lines = sum(out.write(piece) and piece.count(b"\n") for piece in university(1))
    _show(f"{path.name}: {counted(lines, 'triple')}")


def _load(path: Path) -> Reasoner:
    from livefacts.service.reasoner.facade import Reasoner

    with _stage("Loading it under the rules of RDFS"):
        reasoner = Reasoner(rules=["rdfs", PREFIX])
        reasoner.load(str(path))
    asserted = len(reasoner.facts(derived=False))
    derived = len(reasoner) - asserted
    _show(f"{counted(asserted, 'fact')} asserted, {derived:,} derived")
    return reasoner


def _watch(reasoner: Reasoner) -> None:
    """Answers that change with the graph."""
    with _stage("Watching how many students each head of a department has"):
        watch = reasoner.watch(HEADS)
    _show(*HEADS.splitlines(), "", *watch.answers().to_table().splitlines())
    (row,) = cast("Rows", reasoner.query(DEPARTMENT))
    with _stage(
        "A student comes; nobody says that graduate students are students: the schema does"
    ):
        reasoner.add(NEWCOMER.format(row["department"].value))  # type: ignore[union-attr]
        changes = sorted(watch.changes(), key=lambda change: change.op, reverse=True)
    _show_signed(f"{each.op} {each.row[0]}  {each.row['students'].value}" for each in changes)  # type: ignore[union-attr]


def _contradict(reasoner: Reasoner) -> None:
    with _stage("A constraint: nothing is both a course and a person"):
        reasoner.add_rules(f"{PREFIX}\n{CONSTRAINT}")
    _show(CONSTRAINT, counted(len(reasoner.violations()), "violation"))
    with _stage("Asserting that a course has an advisor, as only persons have"):
        delta = reasoner.add(MISTAKE)
    _show_delta(delta)
    for violation in delta.violations:
        _show(*_coloured(str(violation).splitlines(), typer.colors.YELLOW))


# Spark


def _on_spark(path: Path, folder: Path, embedded: int) -> None:
    """The same on Spark, stage by stage, and whether it comes to the same."""
    from livefacts.engine.spark.java import find_java

    try:
        from livefacts.engine.spark.pipeline import Pipeline
        from livefacts.engine.spark.session import session

        find_java()
    except (ImportError, LivefactsError):
        typer.echo("* The same on Spark: left out; `livefacts doctor` says what it needs")
        return
    with _stage("Starting Spark"):
        running = session()
    pipeline = Pipeline(running, folder)
    with _stage("The same university on Spark: files become asserted triples"):
        ingested = pipeline.ingest(path)
    _show(*str(ingested).splitlines())
    with _stage("Every conclusion of the same rules, in tasks"):
        closed = pipeline.materialize("rdfs")
    _show(*str(closed).splitlines())
    with _stage("Counting there"):
        found = pipeline.facts().count()
    agrees = "as many as" if found == embedded else f"and not the {embedded:,} of"
    _show(f"{counted(found, 'fact')}, {agrees} the reasoner has")
    running.stop()


# what people see


def _show(*lines: str) -> None:
    for line in lines:
        typer.echo(f"    {line}".rstrip())


def _show_delta(delta: Delta, names: tuple[str, ...] = ()) -> None:
    """What came and what went, all of it or the predicates of these names."""

    def chosen(facts: Iterable[Any]) -> list[str]:
        return sorted(str(fact) for fact in facts if not names or fact.name in names)

    _show_signed([f"- {fact}" for fact in chosen(delta.removed)])
    _show_signed([f"+ {fact}" for fact in chosen(delta.added)])


def _show_signed(lines: Iterable[str]) -> None:
    for line in lines:
        _show(typer.style(line, fg=typer.colors.GREEN if line[0] == "+" else typer.colors.RED))


def _coloured(lines: Iterable[str], colour: str) -> Iterator[str]:
    return (typer.style(line, fg=colour) for line in lines)


@contextmanager
def _stage(title: str) -> Iterator[None]:
    """Say what happens, and behind it how long it took."""
    typer.echo(f"{typer.style(f'* {title}', bold=True)} ... ", nl=False)
    started = time.perf_counter()
    yield
    took = time.perf_counter() - started
    typer.echo(f"{took:.2f} s" if took >= 0.01 else f"{took * 1000:.2f} ms")


def _called() -> str:
    """What to type for this command here."""
    program = os.path.relpath(sys.argv[0])
    is_found = shutil.which("livefacts") or os.path.basename(program) != "livefacts"
    return "livefacts" if is_found else program

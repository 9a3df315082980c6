"""`livefacts demo`: a tour of everything, with times."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livefacts.commands.console.fact_files import prepare
from livefacts.commands.console.terminal import counted, output
from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from livefacts.engine.spark.pipeline import Pipeline
    from livefacts.service.reasoner.facade import Reasoner

PREFIX = "@prefix ub: <http://livefacts.example/university#> ."
HEADS = """
SELECT ?chair (COUNT(?student) AS ?students) WHERE {
  ?chair a ub:Chair ; ub:memberOf ?department . ?student a ub:Student ; ub:memberOf ?department
} GROUP BY ?chair ORDER BY DESC(?students) LIMIT 3
"""
KINDS = """
SELECT ?class (COUNT(?x) AS ?members) WHERE {
  VALUES ?class { ub:Person ub:Student ub:Employee ub:Organization ub:Work } ?x a ?class
} GROUP BY ?class ORDER BY DESC(?members)
"""
CONSTRAINT = "@id course_or_person  false :- [?x, a, ub:Course], [?x, a, ub:Person] ."
MISTAKE = (
    "<http://university0.example/department0/Course0> "
    "<http://livefacts.example/university#advisor> "
    "<http://university0.example/department0/FullProfessor0> ."
)
NEXT = """What to try next:
  livefacts generate university 5 -o uni.nt.gz
  livefacts load uni.nt.gz --rules rdfs --stats
  livefacts query 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' --data uni.nt.gz --rules rdfs
  livefacts spark ingest uni.nt.gz --kb kb/
  livefacts rules show rdfs
  livefacts --help"""


def demo_command(
    spark: Annotated[
        bool,
        typer.Option(
            "--spark/--no-spark", help="Also on Spark, where that and Java are installed."
        ),
    ] = True,
    live: Annotated[
        bool, typer.Option("--live", help="A city of sensors on the page of the server instead.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(help="Of --live; 7878 if it is free.", min=0, max=65535)
    ] = None,
) -> None:
    """A tour: make data, draw conclusions, ask, break a constraint.

    It takes about a minute, most of it Spark; without Spark some seconds. The first time,
    kernels are compiled before, which takes a minute or more.

    \b
    livefacts demo
    livefacts demo --no-spark
    livefacts demo --live
    """
    if live:
        from livefacts.commands.live_demo import live_demo

        live_demo(port)
        return
    prepare()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uni.nt.gz"
        _generate(path)
        reasoner = _load(path)
        if spark:
            _on_spark(path, Path(folder) / "kb")
    _ask("Who heads a department, and how many students does it have?", reasoner, HEADS)
    _ask("How many of each kind are there, counting subclasses?", reasoner, KINDS)
    _break_constraint(reasoner)
    typer.echo(NEXT.replace("livefacts ", f"{_called()} "))


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


def _on_spark(path: Path, folder: Path) -> None:
    """The same on Spark, stage by stage, and a change there."""
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
    with _stage("Every conclusion of rho-df, which are fewer than those of RDFS, in tasks"):
        closed = pipeline.materialize("rho-df")
    _show(*str(closed).splitlines())
    with _stage("A change there: the course gets an advisor"):
        changed = pipeline.update(add=MISTAKE)
    _show(*str(changed).splitlines())
    with _stage("Asking Spark which predicates have most facts"):
        rows = _most_frequent(pipeline)
    _show(*(f"{row['count']:>8,}  {row.text}" for row in rows))
    running.stop()


def _most_frequent(pipeline: Pipeline) -> list[Any]:
    """The predicates of most triples, and how many each has."""
    counts = pipeline.facts().groupBy("p").count()
    named = counts.join(pipeline.terms().withColumnRenamed("id", "p"), "p")
    return list(named.orderBy("count", "text", ascending=False).take(3))


def _ask(question: str, reasoner: Reasoner, query: str) -> None:
    with _stage(question):
        answers = reasoner.query(query)
    _show(*query.strip().splitlines(), "", *answers.to_table().splitlines())


def _break_constraint(reasoner: Reasoner) -> None:
    with _stage("A constraint: nothing is both a course and a person"):
        reasoner.add_rules(f"{PREFIX}\n{CONSTRAINT}")
    _show(CONSTRAINT, counted(len(reasoner.violations()), "violation"))
    with _stage("Telling it that a course has an advisor, as only persons have"):
        delta = reasoner.add(MISTAKE)
    _show(*(f"asserted: {fact}" for fact in set(delta.added) - set(delta.derived)))
    _show(*(f"derived:  {fact}" for fact in delta.derived))
    _show(*(f"violated: {violation}" for violation in delta.violations))


def _show(*lines: str) -> None:
    for line in lines:
        typer.echo(f"    {line}".rstrip())


@contextmanager
def _stage(title: str) -> Iterator[None]:
    """Say what happens, and behind it how long it took."""
    typer.echo(f"* {title} ... ", nl=False)
    started = time.perf_counter()
    yield
    typer.echo(f"{time.perf_counter() - started:.2f} s")


def _called() -> str:
    """What to type for this command here."""
    program = os.path.relpath(sys.argv[0])
    is_found = shutil.which("livefacts") or os.path.basename(program) != "livefacts"
    return "livefacts" if is_found else program

"""`livefacts demo`: a tour of a minute through everything, with times."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from livefacts.commands.terminal import counted

if TYPE_CHECKING:
    from livefacts.service.reasoner import Reasoner

PREFIX = "PREFIX ub: <http://livefacts.example/university#>"
HEADS = f"""{PREFIX}
SELECT ?chair (COUNT(?student) AS ?students) WHERE {{
  ?chair a ub:Chair ; ub:memberOf ?department . ?student a ub:Student ; ub:memberOf ?department
}} GROUP BY ?chair ORDER BY DESC(?students) LIMIT 3"""
KINDS = f"""{PREFIX}
SELECT ?class (COUNT(?x) AS ?members) WHERE {{
  VALUES ?class {{ ub:Person ub:Employee ub:Student ub:Organization ub:Work }} ?x a ?class
}} GROUP BY ?class ORDER BY DESC(?members)"""
CONSTRAINT = """@prefix ub: <http://livefacts.example/university#> .
@id course_or_person  false :- [?x, a, ub:Course], [?x, a, ub:Person] ."""
MISTAKE = (
    "<http://university0.example/department0/Course0> "
    "<http://livefacts.example/university#advisor> "
    "<http://university0.example/department0/FullProfessor0> ."
)
NEXT = """What to try next:
  livefacts generate university 5 -o uni.nt.gz
  livefacts load uni.nt.gz --rules rdfs --stats
  livefacts query 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' --data uni.nt.gz --rules rdfs
  livefacts rules show rdfs
  livefacts --help"""


def demo_command() -> None:
    """A tour of a minute: make data, draw conclusions, ask, break a constraint.

    \b
    livefacts demo
    """
    from livefacts.doctor import compile_kernels

    with _stage("Getting ready: the kernels are compiled once and kept"):
        compile_kernels()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "uni.nt.gz"
        _generate(path)
        reasoner = _load(path)
    _ask("Who heads a department, and how many students does it have?", reasoner, HEADS)
    _ask("How many of each kind are there, counting subclasses?", reasoner, KINDS)
    _break_constraint(reasoner)
    typer.echo(NEXT)


def _generate(path: Path) -> None:
    from livefacts.commands.terminal import output
    from livefacts.generate import university

    with _stage("A university with its schema, like the LUBM benchmark"), output(str(path)) as out:
        lines = sum(out.write(piece) and piece.count(b"\n") for piece in university(1))
    typer.echo(f"    {path.name}: {counted(lines, 'triple')}")


def _load(path: Path) -> Reasoner:
    from livefacts.service.reasoner import Reasoner

    with _stage("Loading it under the rules of RDFS"):
        reasoner = Reasoner(rules="rdfs")
        reasoner.load(str(path))
    told = reasoner.stats()["asserted"]
    concluded = len(reasoner) - told
    typer.echo(f"    {counted(told, 'fact')} told, {counted(concluded, 'conclusion')} drawn")
    return reasoner


def _ask(question: str, reasoner: Reasoner, query: str) -> None:
    with _stage(question):
        answers = reasoner.query(query)
    table = str(answers.to_table())
    typer.echo("".join(f"    {line}\n" for line in table.splitlines()), nl=False)


def _break_constraint(reasoner: Reasoner) -> None:
    typer.echo("    " + CONSTRAINT.splitlines()[1])
    with _stage("Nothing is both a course and a person: a constraint"):
        reasoner.add_rules(CONSTRAINT)
    typer.echo(f"    {counted(len(list(reasoner.violations())), 'violation')}")
    with _stage("Telling it that a course has an advisor, as only persons have"):
        delta = reasoner.add(MISTAKE)
    for fact in delta.derived:
        typer.echo(f"    concluded: {fact}")
    for violation in reasoner.violations():
        typer.echo(f"    violated:  {violation}")


@contextmanager
def _stage(title: str) -> Iterator[None]:
    """Say what happens, and behind it how long it took."""
    typer.echo(f"* {title} ... ", nl=False)
    started = time.perf_counter()
    yield
    typer.echo(f"{time.perf_counter() - started:.2f} s")

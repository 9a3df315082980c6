"""`livefacts query`: a SPARQL query over files and what follows from them."""

from __future__ import annotations

import json
import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.fact_files import Inputs, leave, load, say_if_empty
from livefacts.commands.options import (
    BlankNodes,
    Bnodes,
    Data,
    Graph,
    InputFormat,
    Rejects,
    Rules,
    asked_and_files,
)
from livefacts.commands.terminal import say
from livefacts.errors import InputError, QueryError

if TYPE_CHECKING:
    from livefacts.service.queries.plan_tree import PlanTree
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.reasoner.reasoner import Reasoner

QUERY_FILES = (".rq", ".sparql")


class AnswerFormat(StrEnum):
    """How answers are printed."""

    table = "table"
    csv = "csv"
    tsv = "tsv"
    json = "json"
    nt = "nt"
    ttl = "ttl"
    text = "text"
    dot = "dot"


PLAN_FORMATS = {None, AnswerFormat.text, AnswerFormat.dot, AnswerFormat.json}


def query_command(
    words: Annotated[
        list[str],
        typer.Argument(
            metavar="[FILES] QUERY",
            help="What to load, as --data; then SPARQL, or a file.rq; - is standard input.",
        ),
    ],
    data: Data = None,
    rules: Rules = None,
    form: Annotated[
        AnswerFormat | None,
        typer.Option(
            "--format",
            help="nt and ttl are for CONSTRUCT and DESCRIBE; text and dot for plans.",
            show_default="table, nt or text",
        ),
    ] = None,
    plan: Annotated[
        bool, typer.Option("--plan", help="Print how the answers were found, instead of them.")
    ] = False,
    explain_only: Annotated[
        bool,
        typer.Option("--explain-only", help="Print how they would be found; look for nothing."),
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(help="Seconds after which the query is given up.")
    ] = None,
    limit_rows: Annotated[
        int | None, typer.Option(help="Print so many rows at the most.", min=0)
    ] = None,
    memory: Annotated[
        int | None, typer.Option(help="Bytes that rows may take at once.", min=1)
    ] = None,
    at: Annotated[
        int | None, typer.Option(metavar="N", help="As a folder was after its change N.", min=0)
    ] = None,
    graph: Graph = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    rejects: Rejects = None,
) -> None:
    """Ask a SPARQL 1.1 query of what the files say and of what follows by the rules.

    The prefixes rdf, rdfs, xsd and owl need no declaration.

    \b
    livefacts query 'SELECT (COUNT(*) AS ?n) WHERE { ?s ?p ?o }' --data uni.nt.gz --rules rdfs
    livefacts query heads.rq --data uni.nt.gz --rules rdfs --format csv
    livefacts query 'ASK { ?x a rdfs:Class }' --data schema.ttl
    livefacts query 'CONSTRUCT WHERE { ?x a ?c }' --data a.ttl --data b.ttl --format ttl
    livefacts query kb/ 'SELECT ?x { ?x a ?c }' --at 12
    livefacts query heads.rq --data uni.nt.gz --rules rdfs --plan
    livefacts query heads.rq --data uni.nt.gz --explain-only --format dot | dot -Tsvg > plan.svg
    """
    text, files = asked_and_files(words, data, looks_like_query, "query", "'SELECT ...'")
    asked = text_of(text)
    _check_format(form, plan or explain_only)
    loaded = load(Inputs(files, rules or [], graph, bnodes, input_format, rejects, at=at))
    say_if_empty(loaded)
    if explain_only:
        typer.echo(_written_plan(loaded.reasoner.query(asked, explain_only=True), form), nl=False)
        return leave(loaded)
    result = loaded.reasoner.query(asked, timeout=timeout, limit_rows=limit_rows, memory=memory)
    typer.echo(_written_plan(result.plan, form) if plan else _written(result, form), nl=False)
    if not getattr(result, "complete", True):
        say(f"there are more rows than {limit_rows or 0:,}")
    if not result:
        _say_unknown(asked, loaded.reasoner)
    leave(loaded)


def _check_format(form: AnswerFormat | None, is_plan: bool) -> None:
    """Refuse a format of answers for a plan, and one of plans for answers."""
    if is_plan and form not in PLAN_FORMATS:
        raise InputError(
            f"a plan cannot be written as {form}", hint="use --format text, dot or json"
        )
    if not is_plan and form in (AnswerFormat.text, AnswerFormat.dot):
        raise InputError(
            f"only a plan can be written as {form}", hint="add --plan, or --explain-only"
        )


def _written_plan(plan: PlanTree, form: AnswerFormat | None) -> str:
    match form:
        case AnswerFormat.dot:
            return plan.to_dot()
        case AnswerFormat.json:
            return json.dumps(plan.to_dict(), indent=2, ensure_ascii=False) + "\n"
        case _:
            return f"{plan}\n"


def _say_unknown(asked: str, reasoner: Reasoner) -> None:
    """Where there is no answer: which names of the query nothing speaks of."""
    from livefacts.commands.unknown_names import unknown_names

    if len(reasoner):
        for sentence in unknown_names(asked, reasoner):
            say(sentence)


def looks_like_query(word: str) -> bool:
    """Whether a word of the command line is a query, or where one is."""
    return "{" in word or word == "-" or word.endswith(QUERY_FILES)


def text_of(given: str, extensions: tuple[str, ...] = QUERY_FILES) -> str:
    """A query or an update: as given, from a file, or from standard input."""
    if given == "-":
        return sys.stdin.read()
    if not given.endswith(extensions) or "{" in given:
        return given
    try:
        return Path(given).read_text(encoding="utf-8")
    except FileNotFoundError as error:
        from livefacts.syntax.input.files import no_file

        raise no_file(given) from error
    except UnicodeDecodeError:
        raise InputError(f"{given} is not a text in UTF-8") from None


def _written(result: QueryResult, form: AnswerFormat | None) -> str:
    """The answers as text; a graph is N-Triples unless something else is asked for."""
    from livefacts.service.queries.results import Triples

    match form, result:
        case ((None | AnswerFormat.nt), Triples()):
            return result.to_ntriples()
        case AnswerFormat.ttl, Triples():
            return result.to_turtle()
        case ((AnswerFormat.nt | AnswerFormat.ttl), _):
            raise QueryError(
                f"only the answer of CONSTRUCT or DESCRIBE can be written as {form}",
                hint="use --format table, csv, tsv or json",
            )
        case AnswerFormat.csv, _:
            return result.to_csv()
        case AnswerFormat.tsv, _:
            return result.to_tsv()
        case AnswerFormat.json, _:
            return result.to_json()
    return result.to_table(_table_width())


def _table_width() -> int:
    """As wide as the terminal; a file has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 1_000

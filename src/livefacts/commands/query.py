"""`livefacts query`: a SPARQL query over files and what follows from them."""

from __future__ import annotations

import json
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.fact_files import Inputs, leave, load, say_if_empty
from livefacts.commands.console.options import (
    BlankNodes,
    Bnodes,
    Data,
    Graph,
    InputFormat,
    Rejects,
    Rules,
    asked_and_files,
)
from livefacts.commands.console.terminal import say
from livefacts.errors import InputError, QueryError

if TYPE_CHECKING:
    from livefacts.model.facts import Term
    from livefacts.service.queries.plan_tree import PlanTree
    from livefacts.service.queries.results import QueryResult
    from livefacts.service.reasoner.facade import Reasoner

QUERY_FILES = (".rq", ".sparql")


class AnswerFormat(StrEnum):
    """How answers are printed."""

    table = "table"
    csv = "csv"
    tsv = "tsv"
    json = "json"
    xml = "xml"
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
            help="xml is for SELECT and ASK, nt and ttl for CONSTRUCT and DESCRIBE; "
            "text and dot for plans.",
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
    bind: Annotated[
        list[str] | None,
        typer.Option(metavar="X=TERM", help="A value for a variable, as Turtle writes it."),
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
    livefacts query kb/ 'SELECT ?x { ?x a ?c }' --bind 'c=<http://example.org/Cat>'
    livefacts query heads.rq --data uni.nt.gz --rules rdfs --plan
    livefacts query heads.rq --data uni.nt.gz --explain-only --format dot | dot -Tsvg > plan.svg
    """
    text, files = asked_and_files(words, data, looks_like_query, "query", "'SELECT ...'")
    asked = text_of(text)
    _check_format(form, plan or explain_only)
    _check_form_of(asked, form, plan or explain_only)
    loaded = load(Inputs(files, rules or [], graph, bnodes, input_format, rejects, at=at))
    say_if_empty(loaded)
    given = _bindings(bind or [], loaded.reasoner.prefixes)
    if explain_only:
        future = loaded.reasoner.query(asked, explain_only=True, bindings=given)
        typer.echo(_written_plan(future, form), nl=False)
        return leave(loaded)
    result = loaded.reasoner.query(
        asked, timeout=timeout, limit_rows=limit_rows, memory=memory, bindings=given
    )
    typer.echo(_written_plan(result.plan, form) if plan else _written(result, form), nl=False)
    if not getattr(result, "complete", True):
        say(f"there are more rows than {limit_rows or 0:,}")
    if not result:
        _say_unknown(asked, loaded.reasoner)
    leave(loaded)


def _bindings(given: Sequence[str], prefixes: Mapping[str, str]) -> dict[str, Term]:
    """The values of variables by their names, out of `x=TERM`."""
    from pyoxigraph import RdfFormat, parse

    from livefacts.model.namespaces import DECLARED

    known = {**DECLARED, **prefixes}.items()
    declared = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in known)
    found: dict[str, Term] = {}
    for each in given:
        name, _, term = each.partition("=")
        name = name.strip().removeprefix("?").removeprefix("$")
        try:
            turtle = f"{declared}<x:s> <x:p> {term} ."
            (quad,) = parse(turtle, format=RdfFormat.TURTLE)
        except (SyntaxError, ValueError) as error:
            raise InputError(
                f"--bind {each!r} gives no variable a term",
                hint="write it as 'x=<http://example.org/tom>', 'n=5' or 'name=\"Tom\"'",
            ) from error
        if name in found:
            raise InputError(f"--bind gives ?{name} two values", hint="give it one")
        found[name] = quad.object
    return found


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


FORM = re.compile(r"\b(SELECT|ASK|CONSTRUCT|DESCRIBE)\b", re.IGNORECASE)
ASIDE = re.compile(r"<[^<>\s]*>|#[^\n]*|\bPREFIX\s+[^\s:]*:", re.IGNORECASE)
GRAPH_FORMATS = (AnswerFormat.nt, AnswerFormat.ttl)


def _check_form_of(asked: str, form: AnswerFormat | None, is_plan: bool) -> None:
    """Refuse a format that the answers of this form of query do not have, before anything is read."""
    found = FORM.search(ASIDE.sub(" ", asked))
    if found is None or is_plan:
        return
    has_graph = found[1].upper() in ("CONSTRUCT", "DESCRIBE")
    if form in GRAPH_FORMATS and not has_graph:
        raise _no_graph(form)
    if form is AnswerFormat.xml and has_graph:
        raise _no_rows()


def _no_graph(form: AnswerFormat | None) -> QueryError:
    return QueryError(
        f"only the answer of CONSTRUCT or DESCRIBE can be written as {form}",
        hint="use --format table, csv, tsv, json or xml",
    )


def _no_rows() -> QueryError:
    return QueryError(
        "only the answer of SELECT or ASK can be written as xml",
        hint="use --format nt, ttl, table, csv, tsv or json",
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
    from livefacts.commands.console.unknown_names import unknown_names

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
    from livefacts.service.queries.results import Answer, Rows, Triples

    match form, result:
        case ((None | AnswerFormat.nt), Triples()):
            return result.to_ntriples()
        case AnswerFormat.ttl, Triples():
            return result.to_turtle()
        case ((AnswerFormat.nt | AnswerFormat.ttl), _):
            raise _no_graph(form)
        case AnswerFormat.csv, _:
            return result.to_csv()
        case AnswerFormat.tsv, _:
            return result.to_tsv()
        case AnswerFormat.json, _:
            return result.to_json()
        case AnswerFormat.xml, (Rows() | Answer()):
            return result.to_xml()
        case AnswerFormat.xml, _:
            raise _no_rows()
    return result.to_table(_table_width())


def _table_width() -> int:
    """As wide as the terminal; a file has room for everything."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else 1_000

"""`livefacts spark`: a knowledge base in a folder, filled and kept true by Spark.

Each job says what it did on standard error, stage by stage; facts and changes go to
standard output as N-Triples and RDF Patch.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livefacts.commands import spark_answers
from livefacts.commands.console.options import BlankNodes, Bnodes, Derived, InputFormat, Rules
from livefacts.commands.console.terminal import ExitCode, is_watched, say
from livefacts.errors import LivefactsError
from livefacts.kb.stores.address import is_remote

if TYPE_CHECKING:
    from livefacts.engine.spark.jobs.stage_report import JobReport, Stage
    from livefacts.engine.spark.pipeline import Pipeline
    from livefacts.service.micro_batches.stream_pipeline import StreamPipeline

SYMBOL_MARK = "'"
NO_SETTINGS: Mapping[str, str] = MappingProxyType({})

app = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


@app.callback()
def spark() -> None:
    """A knowledge base in a folder, filled and kept true by Spark, for data of any size.

    Each command says which stage runs, how long it took and what came out of it; facts and
    changes go to standard output. Spark's own log is shown with LIVEFACTS_SPARK_LOG=info.

    \b
    livefacts spark ingest 'data/*.nt.gz' --kb kb/                  files in, each triple once
    livefacts spark materialize --kb kb/ --rules rho-df             every conclusion
    livefacts spark update --kb kb/ --add new.nt --remove gone.nt   a change, and what follows
    livefacts spark facts --kb kb/ --derived | head                 what holds
    livefacts spark facts --kb kb/ --version 2 | head               what held after change 2
    livefacts spark query --kb kb/ 'SELECT ...'                     SPARQL, answered by Spark
    livefacts spark stream --kb kb/ --from kafka://host/topic       changes as they come
    livefacts spark history --kb kb/                                all changes
    livefacts spark optimize --kb kb/                               fold changes in, make room
    livefacts spark verify --kb kb/                                 compute anew, and compare
    livefacts spark register q.csparql --kb kb/ --from in/ --to out/   a query over a stream
    livefacts spark run hot.rules --kb kb/ --from in/ --to out/     a program with time
    livefacts spark package -o livefacts.tar.gz                     what spark-submit sends along
    """


class HistoryFormat(StrEnum):
    """How a list of changes is printed."""

    text = "text"
    json = "json"


Base = Annotated[
    str,
    typer.Option(
        "--kb", metavar="FOLDER", help="The knowledge base, a folder or s3://…; made by `ingest`."
    ),
]
Master = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="Spark's master, such as local[4], spark://host:7077 or yarn.",
        show_default="all cores of this machine",
    ),
]
Batch = Annotated[
    str, typer.Option(metavar="ID", help="Do nothing if this batch was taken in before.")
]


Memory = Annotated[
    str,
    typer.Option(
        metavar="SIZE",
        help="General rules are followed in the driver if a third of this holds what is asserted; 0: never.",
    ),
]


@app.command("ingest", short_help="Read files into a knowledge base.")
def ingest_command(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILES", help="RDF files or quoted globs, .gz and .zst too."),
    ],
    kb: Base,
    master: Master = None,
    bnodes: Bnodes = BlankNodes.local,
    input_format: InputFormat = None,
    batch: Batch = "",
) -> None:
    """Read RDF files in tasks, and keep every triple and term once.

    Lines and files that cannot be read are listed in the `rejects` table; the command then
    ends with 3.

    \b
    livefacts spark ingest 'data/*.nt.gz' --kb kb/
    livefacts spark ingest big.nt --kb kb/ --master 'local[8]'
    """
    report = open_pipeline(kb, master, new=True).ingest(
        files, format=input_format, bnodes=bnodes.value, batch=batch
    )
    say(str(report))
    if report.figures.get("rejected"):
        raise typer.Exit(ExitCode.SOME_REJECTED)


@app.command("materialize", short_help="Draw every conclusion.")
def materialize_command(
    kb: Base,
    rules: Rules = None,
    master: Master = None,
    memory: Memory = "1g",
    batch: Batch = "",
) -> None:
    """Draw every conclusion of the rules, or of those that the knowledge base has already.

    \b
    livefacts spark materialize --kb kb/ --rules rho-df
    livefacts spark materialize --kb kb/
    livefacts spark materialize --kb kb/ --rules family.rules --memory 4g
    """
    say(str(open_pipeline(kb, master, memory).materialize(rules, batch=batch)))


@app.command("update", short_help="Assert and retract triples.")
def update_command(
    kb: Base,
    add: Annotated[
        str | None, typer.Option("--add", metavar="FILE", help="Triples to assert.")
    ] = None,
    remove: Annotated[
        str | None, typer.Option("--remove", metavar="FILE", help="Triples to retract.")
    ] = None,
    master: Master = None,
    batch: Batch = "",
) -> None:
    """Change what is asserted, and print as RDF Patch what became true and what ended.

    \b
    livefacts spark update --kb kb/ --add new.nt --remove gone.nt
    """
    pipeline = open_pipeline(kb, master)
    report = pipeline.update(add=_named(add), remove=_named(remove), batch=batch)
    say(str(report))
    _print_delta(pipeline, report)


@app.command("stream", short_help="Follow a stream of changes.")
def stream_command(
    kb: Base,
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="SOURCE",
            help="kafka://host:9092/topic, mqtt://host/topic, or a folder of patches or text.",
        ),
    ],
    deltas: Annotated[
        str | None,
        typer.Option(metavar="FOLDER", help="A Delta table for what comes and goes."),
    ] = None,
    trigger: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="Time between micro-batches, such as 1s; `now`: take what there is, and end.",
            show_default="as soon as one is done",
        ),
    ] = None,
    name: Annotated[
        str, typer.Option(metavar="NAME", help="A stream goes on under its name.")
    ] = "default",
    checkpoint: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER",
            help="Where Spark notes how far it is.",
            show_default="_streams/NAME in the knowledge base",
        ),
    ] = None,
    map_text: Annotated[
        str | None,
        typer.Option("--map", metavar="MAP", help="What a message of JSON stands for."),
    ] = None,
    form: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="facts, patch or json, for all messages.",
            show_default="each message shows it",
        ),
    ] = None,
    pause: Annotated[
        int,
        typer.Option(
            metavar="N", help="Stop when so many messages in a row cannot be read; 0: never."
        ),
    ] = 100,
    metrics: Annotated[
        int | None, typer.Option(metavar="PORT", help="Figures for Prometheus, on loopback.")
    ] = None,
    jars: Annotated[
        str | None, typer.Option(metavar="FILES", help="Jars for Spark: the connector of Kafka.")
    ] = None,
    master: Master = None,
) -> None:
    """Follow a stream: each micro-batch of messages is one change, made once.

    Each batch is said in a line. Ctrl-C ends it; the same command goes on where it stopped.

    \b
    livefacts spark stream --kb kb/ --from kafka://localhost:9092/facts --deltas out/ --trigger 1s
    livefacts spark stream --kb kb/ --from in/ --trigger now
    livefacts spark stream --kb kb/ --from mqtt://localhost/sensors/# --map 'hot($.room)'
    """
    from livefacts.syntax.json_map.mapping_text import read_map

    mapped = None if map_text is None else read_map(map_text)
    pipeline = open_pipeline(kb, master, settings={"spark.jars": jars} if jars else {})
    from livefacts.commands.stream_run import follow_stream, trigger_of

    follow_stream(
        pipeline,
        source,
        say,
        metrics,
        deltas=deltas,
        trigger=trigger_of(trigger),
        name=name,
        checkpoint=checkpoint,
        format=mapped or form,
        pause=pause or None,
    )


def _named(file: str | None) -> Path | str | tuple[()]:
    """A file of this machine or of a store, if there is one."""
    if not file:
        return ()
    return file if is_remote(file) else Path(file)


def _print_delta(pipeline: Pipeline, report: JobReport) -> None:
    if not report.is_replay:
        for row in pipeline.delta(report.seq, decoded=True).toLocalIterator():
            sys.stdout.write(f"{'A' if row.sign > 0 else 'D'} {_fact(row)} .\n")


def _fact(row: Any) -> str:
    """A fact as RDF Patch has it: a triple, or a predicate with its arguments."""
    if row.name is None:
        return f"{row.s} {row.p} {row.o}"
    return f"{row.name}({', '.join(text.removeprefix(SYMBOL_MARK) for text in row.arguments)})"


@app.command("change-rules", short_help="Add and remove rules.")
def change_rules_command(
    kb: Base,
    add: Annotated[
        list[str] | None,
        typer.Option("--add", metavar="RULES", help="Rules: a file, a ready name, or text."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option("--remove", metavar="RULE", help="A rule that goes: its id or its text."),
    ] = None,
    master: Master = None,
    batch: Batch = "",
) -> None:
    """Change the rules, and print as RDF Patch what became true and what ended.

    Rules are removed before others are added; facts that come with rules are asserted.

    \b
    livefacts spark change-rules --kb kb/ --add more.rules --remove r3
    livefacts spark change-rules --kb kb/ --add 'near(?x, ?y) :- near(?y, ?x) .'
    """
    pipeline = open_pipeline(kb, master)
    report = pipeline.change_rules(add or (), remove or (), batch=batch)
    say(str(report))
    _print_delta(pipeline, report)


@app.command("facts", short_help="Print what holds.")
def facts_command(
    kb: Base,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="As it was after change N.")
    ] = None,
    derived: Derived = None,
    master: Master = None,
) -> None:
    """Print what holds as N-Triples.

    \b
    livefacts spark facts --kb kb/ --derived | head
    livefacts spark facts --kb kb/ --version 1 | sort > before.nt
    """
    from livefacts.kb.failures import read_plainly

    pipeline = open_pipeline(kb, master)
    with read_plainly(kb):
        facts = pipeline.facts(derived=derived, decoded=True, version=version)
        for row in facts.toLocalIterator():
            sys.stdout.write(f"{row.s} {row.p} {row.o} .\n")


@app.command("query", short_help="Ask a SPARQL query.")
def query_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="SELECT, ASK or CONSTRUCT.")],
    kb: Base,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="As it was after change N.")
    ] = None,
    master: Master = None,
) -> None:
    """Ask a query, which Spark answers over the tables.

    Rows are printed as tab-separated values, triples of CONSTRUCT as N-Triples. The same
    without Java, in one process: livefacts query FOLDER QUERY.

    \b
    livefacts spark query --kb kb/ 'SELECT ?c (COUNT(*) AS ?n) { ?x a ?c } GROUP BY ?c'
    livefacts spark query --kb kb/ --version 1 'ASK { ?x ?y ?z }'
    """
    from livefacts.kb.failures import read_plainly
    from livefacts.model.namespaces import DECLARED
    from livefacts.syntax.sparql.query_shapes import shape_of

    # A mistake in the query is said before Spark is started.
    form = shape_of(query, DECLARED).query.form
    pipeline = open_pipeline(kb, master)
    with read_plainly(kb):
        answers = pipeline.query(query, version=version)
        if form == "ASK":
            typer.echo("yes" if answers.collect()[0].answer else "no")
            return
        between, end = (" ", " .\n") if form == "CONSTRUCT" else ("\t", "\n")
        if form == "SELECT":
            typer.echo(between.join(f"?{name}" for name in answers.columns))
        for row in answers.toLocalIterator():
            sys.stdout.write(between.join(text or "" for text in row) + end)


@app.command("history", short_help="List all changes.")
def history_command(
    kb: Base,
    form: Annotated[
        HistoryFormat, typer.Option("--format", help="How to print the list.")
    ] = HistoryFormat.text,
) -> None:
    """List all changes, oldest first: number, time, kind, rows written by table, batch.

    \b
    livefacts spark history --kb kb/
    livefacts spark history --kb kb/ --format json
    """
    from livefacts.engine.spark.session import require_extra

    require_extra()
    from livefacts.kb.tables import OLDEST, KnowledgeBase

    base = KnowledgeBase(kb)
    if not base.settings:
        raise LivefactsError(f"there is no knowledge base in {kb}")
    if not base.commits():
        say(f"no versions yet; livefacts log {kb} lists the changes since the beginning")
    oldest = base.last().notes.get(OLDEST, 1)
    for commit in base.commits():
        row = {
            "seq": commit.seq,
            "time": commit.time.isoformat(" ", "seconds").removesuffix("+00:00") + "Z",
            "kind": commit.kind,
            "rows": dict(commit.rows),
            "batch": commit.batch,
            "kept": commit.seq >= oldest,
        }
        typer.echo(json.dumps(row) if form is HistoryFormat.json else _history_line(row))


@app.command("optimize", short_help="Fold changes into facts, and make room.")
def optimize_command(
    kb: Base,
    keep: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Let all versions go but the last N.", show_default="all"
        ),
    ] = None,
    master: Master = None,
) -> None:
    """Fold changes into the facts, put small files together, and make room.

    Files that no kept version needs are removed, and so is what changes that were cut off
    have left behind. Every version stays readable unless --keep says otherwise.

    \b
    livefacts spark optimize --kb kb/
    livefacts spark optimize --kb kb/ --keep 10
    """
    say(str(open_pipeline(kb, master).optimize(keep=keep)))


@app.command("verify", short_help="Compute everything anew, and compare.")
def verify_command(
    kb: Base,
    form: Annotated[
        HistoryFormat, typer.Option("--format", help="How to print the report.")
    ] = HistoryFormat.text,
    master: Master = None,
) -> None:
    """Read all files, compute everything anew in tasks, and compare it with the tables.

    Facts, what was asserted, counters, terms and graphs are compared, and files that are damaged
    are named. Differences are listed, and the command then ends with 1.

    \b
    livefacts spark verify --kb kb/
    livefacts spark verify --kb kb/ --format json
    """
    report = open_pipeline(kb, master).verify()
    typer.echo(
        str(report) if form is HistoryFormat.text else json.dumps(report.as_dict(), indent=2)
    )
    if not report:
        raise typer.Exit(ExitCode.ERROR)


@app.command("plan", short_help="Say where each rule runs.")
def plan_command(kb: Base, rules: Rules = None, master: Master = None) -> None:
    """Say which rules the driver closes and which run inside tasks.

    \b
    livefacts spark plan --kb kb/ --rules rdfs
    """
    typer.echo(open_pipeline(kb, master).plan(rules))


@app.command("package", short_help="Write what spark-submit sends to executors.")
def package_command(
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The archive, a .tar.gz.")
    ] = Path("livefacts.tar.gz"),
    bare: Annotated[
        bool,
        typer.Option(
            "--bare", help="livefacts alone, where executors have the packages that it needs."
        ),
    ] = False,
) -> None:
    """Write an archive of livefacts, and of the packages that its tasks need.

    Executors unpack it; they need the same Python as this one, and nothing in it. Printed is
    what spark-submit is to be given.

    \b
    livefacts spark package -o livefacts.tar.gz
    spark-submit $(livefacts spark package -o livefacts.tar.gz) --master yarn job.py
    """
    from livefacts.engine.spark.archive import options, write_archive

    count = write_archive(out, bare=bare)
    say(f"{out}: {count} packages, {out.stat().st_size / 1e6:.0f} MB")
    typer.echo(options(out))


app.command("register", short_help="Follow a C-SPARQL query over a stream.")(
    spark_answers.register_command
)
app.command("run", short_help="Follow a program with time over a stream.")(
    spark_answers.run_command
)


def _history_line(row: Mapping[str, Any]) -> str:
    rows = ", ".join(f"{count:,} {table}" for table, count in row["rows"].items() if count)
    batch = f"  batch {row['batch']}" if row["batch"] else ""
    gone = "" if row["kept"] else "  (no longer kept)"
    return f"{row['seq']:>6}  {row['time']}  {row['kind']:<12}{rows}{batch}{gone}"


def open_pipeline(
    kb: str,
    master: str | None,
    memory: str = "1g",
    *,
    new: bool = False,
    settings: Mapping[str, str] = NO_SETTINGS,
) -> StreamPipeline:
    """The knowledge base in a folder, with Spark; it is there, unless it is to be a new one."""
    from livefacts.engine.spark.session import require_extra, session

    require_extra()
    from livefacts.kb.tables import KnowledgeBase
    from livefacts.service.micro_batches.stream_pipeline import StreamPipeline

    def check(base: KnowledgeBase) -> None:
        if not base.settings and not new:
            raise LivefactsError(
                f"there is no knowledge base in {kb}",
                hint=f"livefacts spark ingest FILES --kb {kb} makes one",
            )

    # Starting Spark takes a while: what is wrong with the folder is said before.  The keys of a
    # store may be in Spark's settings.
    if not is_remote(kb):
        check(KnowledgeBase(kb))
    shown = _show_stage if is_watched() else None
    found = StreamPipeline(session(master, settings=settings), kb, memory=memory, on_stage=shown)
    check(found.base)
    return found


def _show_stage(stage: Stage, is_done: bool) -> None:
    if not is_done:
        done = f" {stage.tasks_done} of {stage.tasks} tasks" if stage.tasks else ""
        say(f"  {stage.name} ...{done}")

"""`livefacts spark register` and `run`: queries and programs over streams that Spark reads."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from livefacts.commands.console.options import Lateness, Map, MaxAhead, Tick
from livefacts.commands.console.terminal import say
from livefacts.errors import InputError

if TYPE_CHECKING:
    from livefacts.service.micro_batches.stream_pipeline import RunningStream, StreamPipeline

SECOND = "1s"
BROKERS = ("kafka:", "mqtt:")
FILES_AT_ONCE = 100
SHOWN_REJECTS = 10


class WrittenAs(StrEnum):
    """What answers are written as."""

    delta = "delta"
    parquet = "parquet"
    jsonl = "jsonl"
    patch = "patch"


class FactTime(StrEnum):
    """When facts happen."""

    value = "value"
    row = "row"
    arrival = "arrival"


From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="SOURCE",
        help="kafka://host:9092/topic, mqtt://host/topic, or a folder of stream files.",
    ),
]
To = Annotated[str, typer.Option("--to", metavar="FOLDER", help="Where answers go.")]
Base = Annotated[
    str,
    typer.Option("--kb", metavar="FOLDER", help="The knowledge base: background and rules."),
]
Form = Annotated[WrittenAs, typer.Option("--format", help="A table, or files by batch.")]
Name = Annotated[
    str | None, typer.Option(metavar="NAME", help="What goes on where it stopped is called so.")
]
Trigger = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="Time between micro-batches, such as 5s; `now`: take what there is, and end.",
    ),
]
When = Annotated[
    FactTime, typer.Option(help="Times that facts say, those of rows, or when they arrive.")
]
Upgrade = Annotated[
    bool, typer.Option("--upgrade", help="Go on where another query of this name stopped.")
]
Jars = Annotated[
    str | None, typer.Option(metavar="FILES", help="Jars for Spark: the connector of Kafka.")
]
Master = Annotated[
    str | None, typer.Option(metavar="URL", help="Spark's master, such as local[4].")
]


def register_command(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="C-SPARQL, or a file of it.")],
    kb: Base,
    source: From,
    to: To,
    form: Form = WrittenAs.delta,
    name: Name = None,
    trigger: Trigger = SECOND,
    json_map: Map = None,
    when: When = FactTime.value,
    lateness: Lateness = "0",
    max_ahead: MaxAhead = "1 h",
    tick: Tick = None,
    upgrade: Upgrade = False,
    jars: Jars = None,
    master: Master = None,
) -> None:
    """Follow a C-SPARQL or RSP-QL query over a stream; the same command goes on where it stopped.

    \b
    livefacts spark register seen.csparql --kb kb/ --from kafka://localhost:9092/positions --to answers/
    """
    from livefacts.commands.query import text_of

    given = _given(form, name, trigger, json_map, when, lateness, max_ahead, tick, upgrade)
    text = text_of(query, (".csparql", ".rspql", ".rq", ".sparql"))
    pipeline = _pipeline(kb, master, jars)
    _follow(pipeline.register(text, source=_source(pipeline, source), to=to, **given))


def run_command(
    program: Annotated[list[str], typer.Argument(metavar="PROGRAM...", help="Files of rules.")],
    kb: Base,
    source: From,
    to: To,
    form: Form = WrittenAs.delta,
    name: Name = None,
    keys: Annotated[
        bool, typer.Option("--keys", help="By groups of keys in tasks, where that is proven.")
    ] = False,
    trigger: Trigger = SECOND,
    json_map: Map = None,
    when: When = FactTime.value,
    lateness: Lateness = "0",
    max_ahead: MaxAhead = "1 h",
    tick: Tick = None,
    upgrade: Upgrade = False,
    jars: Jars = None,
    master: Master = None,
) -> None:
    """Follow a program with time over a stream: what it concludes comes (+) and goes (-).

    \b
    livefacts spark run hot.rules --kb kb/ --from readings/ --to answers/ --trigger now
    """
    from livefacts.syntax.rule_sets import open_rules

    given = _given(form, name, trigger, json_map, when, lateness, max_ahead, tick, upgrade)
    rules = open_rules(program)
    pipeline = _pipeline(kb, master, jars)
    _follow(pipeline.run(rules, source=_source(pipeline, source), to=to, keys=keys, **given))


def _given(
    form: WrittenAs,
    name: str | None,
    trigger: str,
    json_map: str | None,
    when: FactTime,
    lateness: str,
    max_ahead: str,
    tick: str | None,
    upgrade: bool,
) -> Any:
    from livefacts.commands.console.events import ahead
    from livefacts.commands.stream_run import trigger_of

    if json_map is not None and Path(json_map).is_file():
        json_map = Path(json_map).read_text(encoding="utf-8")
    found = {
        "format": form.value,
        "trigger": trigger_of(trigger),
        "json_map": json_map,
        "when": when.value,
        "lateness": int(lateness) if lateness.isdecimal() else lateness,
        "max_ahead": ahead(max_ahead),
        "tick": tick,
        "upgrade": upgrade,
    }
    return found if name is None else {**found, "name": name}


def _source(pipeline: StreamPipeline, address: str) -> Any:
    """The stream at an address; a folder has its files in the order of their names."""
    if address.startswith(BROKERS):
        from livefacts.engine.spark.streaming.source_address import source_frame

        return source_frame(pipeline.session, address)
    folder = Path(address.removeprefix("file://"))
    if not folder.is_dir():
        raise InputError(
            f"there is no folder {address}",
            hint="name one of stream files, kafka://host:9092/topic or mqtt://host/topic",
        )
    reader = pipeline.session.readStream.option("maxFilesPerTrigger", FILES_AT_ONCE)
    named = reader.text(str(folder)).selectExpr("value", "_metadata.file_name as file")
    return named.selectExpr("*", "0L as line")


def _pipeline(kb: str, master: str | None, jars: str | None) -> StreamPipeline:
    # That module has this one's commands.
    from livefacts.commands.spark import open_pipeline

    return open_pipeline(kb, master, settings={"spark.jars": jars} if jars else {})


def _follow(stream: RunningStream) -> None:
    """Until it is interrupted, or has seen all that was there."""
    say(stream.plan)
    with stream:
        stream.await_end()
        answers = sum(each.answers for each in stream.stream.figures)
        rejects = stream.stream.rejects
    for reject in rejects.kept[:SHOWN_REJECTS]:
        say(str(reject))
    say(f"{answers:,} answers{f', {rejects.count:,} rejected' if rejects.count else ''}")

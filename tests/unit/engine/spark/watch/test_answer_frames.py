"""Continuous patterns on Spark tell the same changes as those in one process."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.properties.generate.graph_patterns import EX, random_messages
from tests.properties.generate.queries import MessageMaker, QueryMaker
from tests.system.running import environment

from livefacts import ContinuousQuery, InputError, LivefactsError, QueryError
from livefacts.engine.spark.watch.answer_frames import PROVIDER, ROCKSDB
from livefacts.engine.spark.watch.keeper import Keeper, KeptQuery
from livefacts.service.continuous.query_plans import build_of
from livefacts.spark import watch

STAR = f"SELECT ?x {{ ?x <{EX}p0> <{EX}n0> . ?x <{EX}p1> <{EX}n1> }}"
PATH = f"SELECT ?x ?z {{ ?x <{EX}p0> ?y . ?y <{EX}p1> ?z }}"
LOOSE = f"SELECT DISTINCT ?x {{ ?x <{EX}p0> <{EX}n0> . ?y <{EX}p1> <{EX}n1> }}"
COUNTED = (
    "SELECT ?x (COUNT(?z) AS ?n) (SAMPLE(?w) AS ?some) "
    "{ ?x <x:p> ?y OPTIONAL { ?y <x:q>+ ?z FILTER(isIRI(?z)) } OPTIONAL { ?x <x:r> ?w } } GROUP BY ?x"
)
QUESTIONS = (4, 15, 28, 30, 47, 50)
"""Numbers of random queries that have answers: paths, OPTIONAL, EXISTS, VALUES, groups."""
BATCHES, SIZE = 3, 40
SCHEMA = "t long, op string, s string, p string, o string"
Row = tuple[Any, ...]
Change = tuple[str, ...]


def told(query: str) -> list[Row]:
    """Messages about the patterns of a query, some repeated, some about nothing."""
    group = query[query.index("{") + 1 : query.index("}")]
    patterns = [tuple(pattern.split()) for pattern in group.split(" . ")]
    rng = random.Random(3)
    messages = random_messages(rng, patterns, BATCHES * SIZE)  # type: ignore[arg-type]
    return [(t, op, *map(str, triple)) for t, (op, triple) in enumerate(messages)]


def expected(query: str, batches: Sequence[Sequence[Row]]) -> list[Counter[Change]]:
    standing = ContinuousQuery(query)
    signs = {"ins": "A", "del": "D"}
    found = []
    for batch in batches:
        patch = "\n".join(f"{signs[op]} {s} {p} {o} ." for _, op, s, p, o in batch)
        changes = standing.feed(messages=patch)
        found.append(Counter((c.op, *map(str, c.row), str(c.count)) for c in changes))
    return found


def questioned(seed: int | str, messages: int) -> list[list[Row]]:
    """Batches of messages that random queries are about."""
    telling, found = MessageMaker(seed), []
    for _ in range(messages):
        added, removed = telling.message()
        rows = [("del", t) for t in removed] + [("ins", t) for t in added]
        terms = [(op, str(t.subject), str(t.predicate), str(t.object)) for op, t in rows]
        found.append([(t, *row) for t, row in enumerate(terms)])
    return found


def streamed(spark: Any, query: str, batches: Sequence[Sequence[Row]], folder: Path) -> list[Any]:
    """The changes of each batch, which comes as a file of its own."""
    source = folder / "messages"
    source.mkdir()
    found: list[Any] = []
    stream = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).json(str(source))
    for number, batch in enumerate(batches):
        written(spark, batch, source / f"{number}.json")
        running = (
            watch(stream, query)
            .writeStream.outputMode("update")
            .option("checkpointLocation", str(folder / "checkpoint"))
            .foreachBatch(lambda changes, _: found.append(rows_of(changes)))
            .trigger(availableNow=True)
            .start()
        )
        assert running.awaitTermination(240)
    return found


def written(spark: Any, batch: Sequence[Row], path: Path) -> None:
    """A batch as a file."""
    made = spark.createDataFrame(list(batch), SCHEMA).toPandas()
    made.to_json(path, orient="records", lines=True)


def rows_of(changes: Any) -> Counter[Change]:
    return Counter(tuple(map(str, row)) for row in changes.collect())


@pytest.mark.parametrize("query", [STAR, PATH, LOOSE], ids=["star", "path", "loose"])
def test_a_table_of_messages_tells_what_one_batch_would(spark: Any, query: str) -> None:
    messages = told(query)
    (wanted,) = expected(query, [messages])
    assert rows_of(watch(spark.createDataFrame(messages, SCHEMA), query)) == wanted
    assert wanted


def test_queries_of_any_form_tell_what_one_batch_would(spark: Any) -> None:
    for seed in QUESTIONS:
        query = QueryMaker(f"on spark {seed}").query()
        (messages,) = questioned(f"on spark {seed}", 1)
        (wanted,) = expected(query, [messages])
        assert rows_of(watch(spark.createDataFrame(messages, SCHEMA), query)) == wanted, query
        assert wanted


def test_a_query_that_speaks_of_graphs_takes_their_names_from_a_column(spark: Any) -> None:
    query = f"SELECT ?x ?g {{ ?x <{EX}p0> ?y GRAPH ?g {{ ?y <{EX}p0> ?z }} }}"
    nodes = [f"<{EX}n{number}>" for number in range(4)]
    messages = [
        (t, "ins" if t % 5 else "del", nodes[t % 3], f"<{EX}p0>", nodes[t % 4], graph)
        for t, graph in enumerate([None, f"<{EX}g>", f"<{EX}h>", None, f"<{EX}g>"] * 6)
    ]
    alone = ContinuousQuery(query)
    patch = "".join(
        f"{'A' if op == 'ins' else 'D'} {s} {p} {o} {g or ''} .\n" for _, op, s, p, o, g in messages
    )
    wanted = Counter((c.op, *map(str, c.row), str(c.count)) for c in alone.feed(messages=patch))
    table = spark.createDataFrame(messages, f"{SCHEMA}, g string")
    assert rows_of(watch(table, query)) == wanted
    assert len(wanted) > 2
    with pytest.raises(Exception, match="of which the query does not speak"):
        watch(table, f"SELECT ?x {{ ?x <{EX}p0> <{EX}n1> }}").collect()


def test_a_keeper_of_quads_is_made_again_from_its_snapshot() -> None:
    text = f"SELECT ?x ?g {{ GRAPH ?g {{ ?x <{EX}p0> ?y }} }}"
    asked = KeptQuery(text, ("x", "g"), build_of(text, {}))
    keeper, other = Keeper(asked), Keeper(asked)
    lines = [f"<{EX}n{n}> <{EX}p0> <{EX}n0>" for n in range(3)]
    told = [("+", lines[0]), ("+", f"{lines[1]} <{EX}g>"), ("+", f"{lines[2]} <{EX}h>")]
    keeper.replay("\n".join(sign + line for sign, line in [*told, ("-", told[2][1])]))
    assert sorted(keeper.snapshot()) == sorted(sign + line for sign, line in told[:2])
    other.replay("\n".join(keeper.snapshot()))
    assert other.snapshot() == keeper.snapshot()


def test_a_stream_of_a_star_tells_batch_by_batch_what_one_process_does(
    spark: Any, tmp_path: Path
) -> None:
    messages = told(STAR)
    batches = [messages[at : at + SIZE] for at in range(0, len(messages), SIZE)]
    wanted = expected(STAR, batches)
    assert streamed(spark, STAR, batches, tmp_path) == wanted
    assert any(change[0] == "-" for batch in wanted for change in batch)


def test_a_stream_of_any_query_tells_batch_by_batch_what_one_process_does(
    spark: Any, tmp_path: Path
) -> None:
    batches = questioned("counted", BATCHES)
    wanted = expected(COUNTED, batches)
    assert streamed(spark, COUNTED, batches, tmp_path) == wanted
    assert any("None" in change for batch in wanted for change in batch)
    assert any(change[0] == "-" for batch in wanted for change in batch)


@pytest.mark.thorough
def test_a_query_whose_process_is_killed_goes_on_where_it_was(spark: Any, tmp_path: Path) -> None:
    batches = questioned("killed", BATCHES)
    (tmp_path / "messages").mkdir()
    for number, batch in enumerate(batches):
        written(spark, batch, tmp_path / "messages" / f"{number}.json")
    for killed_in in (1, None):
        arguments = [str(tmp_path), COUNTED, str(killed_in)]
        subprocess.run(
            [sys.executable, "-c", PROCESS, *arguments],
            env=environment(),
            timeout=300,
            stdout=subprocess.DEVNULL,
            check=killed_in is None,
        )
    found = [
        Counter(tuple(row) for row in json.loads((tmp_path / f"{number}.told").read_text()))
        for number in range(BATCHES)
    ]
    assert found == expected(COUNTED, batches)
    assert (tmp_path / "1.told.killed").exists()


PROCESS = f"""
import json, os, pathlib, sys
from livefacts.spark import session, watch

folder, query, killed_in = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
spark = session("local[1]", settings={{"spark.sql.shuffle.partitions": "1"}})

def tell(changes, number):
    rows = [list(map(str, row)) for row in changes.collect()]
    (folder / f"{{number}}.told").write_text(json.dumps(rows))
    if str(number) == killed_in:
        (folder / f"{{number}}.told").rename(folder / f"{{number}}.told.killed")
        os._exit(9)

stream = spark.readStream.schema("{SCHEMA}").option("maxFilesPerTrigger", 1)
running = (
    watch(stream.json(str(folder / "messages")), query)
    .writeStream.outputMode("update")
    .option("checkpointLocation", str(folder / "checkpoint"))
    .foreachBatch(tell)
    .trigger(availableNow=True)
    .start()
)
running.awaitTermination()
"""
"""Follows a stream; where it is told so, it ends before a micro-batch is committed."""


def test_what_cannot_be_followed_is_refused_before_anything_runs(spark: Any) -> None:
    messages = spark.createDataFrame([], SCHEMA)
    with pytest.raises(QueryError, match="another value each time"):
        watch(messages, "SELECT ?x { ?x <e:p> ?y FILTER(?y > NOW()) }")
    with pytest.raises(QueryError, match="DESCRIBE"):
        watch(messages, "DESCRIBE <e:a>")
    with pytest.raises(QueryError, match="second column count"):
        watch(messages, "SELECT ?count { ?count <e:p> ?y }")
    with pytest.raises(InputError, match="no column t"):
        watch(messages.drop("t"), STAR)


def test_a_session_whose_state_cannot_have_maps_is_told_so(spark: Any, tmp_path: Path) -> None:
    other = spark.newSession()
    other.conf.set(PROVIDER, ROCKSDB.replace("RocksDB", "HDFSBacked"))
    stream = other.readStream.schema(SCHEMA).json(str(tmp_path))
    with pytest.raises(LivefactsError, match="needs RocksDB"):
        watch(stream, PATH)
    assert watch(stream, STAR).isStreaming

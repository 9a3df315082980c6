"""`livefacts register`: queries over stream files and standard input."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.system.running import livefacts

EX = "http://example.org/"
QUERY = (
    f"REGISTER QUERY q AS PREFIX : <{EX}> SELECT ?x ?y FROM STREAM :walks [RANGE 2 STEP 1] "
    "WHERE { ?x :in ?y }"
)
EVENTS = (
    f"<{EX}ann> <{EX}in> <{EX}hall> <{EX}walks> 1 .\n"
    f"<{EX}bob> <{EX}in> <{EX}hall> <{EX}walks> 3 .\n"
)


@pytest.fixture
def stream(tmp_path: Path) -> Path:
    path = tmp_path / "walks.nq"
    path.write_text(EVENTS, encoding="utf-8")
    return path


def test_reports_are_printed_as_they_become_due(stream: Path) -> None:
    ended = livefacts("register", QUERY, "--stream", str(stream))
    assert ended.code == 0
    heads = [line for line in ended.out.splitlines() if line.startswith("q at")]
    assert heads == ["q at 1:", "q at 2:", "q at 3:"]
    assert ":ann  :hall" in ended.out


def test_reports_can_be_json_lines(stream: Path) -> None:
    ended = livefacts("register", QUERY, "--stream", str(stream), "--format", "jsonl", "--empty")
    asserted = [json.loads(line) for line in ended.out.splitlines()]
    assert [(each["time"], len(each["rows"]), each["window"]) for each in asserted] == [
        (1, 1, [[1, 1]]),
        (2, 1, [[1, 2]]),
        (3, 1, [[2, 3]]),
    ]
    assert asserted[2]["rows"][0]["x"] == {"type": "uri", "value": EX + "bob"}


def test_reports_can_be_csv(stream: Path) -> None:
    ended = livefacts("register", QUERY, "--stream", str(stream), "--format", "csv")
    assert ended.out.splitlines()[:2] == ["query,time,x,y", f"q,1,{EX}ann,{EX}hall"]


def test_what_a_query_constructs_is_a_stream_again(stream: Path, tmp_path: Path) -> None:
    text = QUERY.replace("QUERY q", "STREAM :out").replace(
        "SELECT ?x ?y", "CONSTRUCT { ?y :has ?x }"
    )
    text = f"PREFIX : <{EX}> {text}"
    made = livefacts("register", text, "--stream", str(stream), "--format", "nq")
    again = tmp_path / "again.nq"
    again.write_text(made.out, encoding="utf-8")
    asked = QUERY.replace(":walks", ":out").replace("?x :in ?y", "?y :has ?x")
    ended = livefacts("register", asked, "--stream", str(again), "--format", "csv")
    assert f"q,1,{EX}ann,{EX}hall" in ended.out


def test_a_patch_has_what_comes_and_goes(stream: Path) -> None:
    text = QUERY.replace("SELECT ?x ?y", "CONSTRUCT { ?x :in ?y }")
    ended = livefacts("register", text, "--stream", str(stream), "--format", "patch")
    rows = [line for line in ended.out.splitlines() if line[:2] in ("A ", "D ")]
    assert [row[:2] + row.split()[1] for row in rows] == [
        f"A <{EX}ann>",
        f"D <{EX}ann>",
        f"A <{EX}bob>",
    ]


def test_a_stream_from_standard_input_is_named_by_its_end() -> None:
    line = json.dumps({"at": 1, "facts": f"<{EX}ann> <{EX}in> <{EX}hall> ."})
    ended = livefacts("register", QUERY, "--stream", "walks=-", stdin=f"{line}\n")
    assert "q at 1:" in ended.out


def test_background_and_rules_take_part(stream: Path, tmp_path: Path) -> None:
    data, rules = tmp_path / "map.ttl", tmp_path / "in.rules"
    data.write_text(f"<{EX}hall> <{EX}in> <{EX}house> .", encoding="utf-8")
    rules.write_text(
        f"@prefix : <{EX}> . [?x, :in, ?z] :- [?x, :in, ?y], [?y, :in, ?z] .", encoding="utf-8"
    )
    arguments = ["--stream", str(stream), "--data", str(data), "--rules", str(rules)]
    ended = livefacts("register", QUERY, *arguments, "--format", "csv")
    assert f"q,1,{EX}ann,{EX}house" in ended.out


def test_bad_lines_and_late_facts_are_told_and_change_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "walks.nq"
    late = EVENTS.splitlines()[0].replace(" 1 .", " -9 .")
    path.write_text(f"{EVENTS}nonsense\n{late}\n", encoding="utf-8")
    ended = livefacts("register", QUERY, "--stream", str(path), "--lateness", "1")
    assert ended.code == 3
    assert "1 line was rejected" in ended.err
    assert "set aside: older than the watermark" in ended.err


def test_corrections_are_marked_and_refused_where_they_cannot_be(tmp_path: Path) -> None:
    path = tmp_path / "late.jsonl"
    fact = "<http://e/a> <http://e/p> <http://e/o> ."
    lines = [("facts", 1, fact), ("facts", 3, fact), ("retract", 1, fact)]
    path.write_text(
        "\n".join(
            json.dumps({"at": at, "stream": "http://e/s", key: text}) for key, at, text in lines
        )
    )
    asked = (
        "REGISTER STREAM <http://e/q> AS CONSTRUCT { ?x ?y ?z } "
        "FROM STREAM <http://e/s> [RANGE 1] WHERE { ?x ?y ?z }"
    )
    common = ("register", asked, "--stream", str(path), "--late", "correct", "--lateness", "5")
    for form in ("csv", "nq", "patch"):
        ended = livefacts(*common, "--format", form)
        assert ended.code == 1
        assert "takes the place of an earlier one" in ended.err
        assert "--format jsonl" in ended.err
        assert ended.out == ""
    ended = livefacts(*common, "--format", "jsonl")
    reports = [json.loads(line) for line in ended.out.splitlines()]
    corrected = [each for each in reports if each.get("correction")]
    assert [(each["time"], each["rows"]) for each in corrected] == [(1, [])]


def test_an_unknown_name_of_a_stream_is_refused(stream: Path) -> None:
    ended = livefacts("register", QUERY, "--stream", f"runs={stream}")
    assert ended.code == 1
    assert "no stream is called runs" in ended.err


def test_positions_are_generated_with_their_map(tmp_path: Path) -> None:
    stream, city = tmp_path / "positions.nq", tmp_path / "city.nt"
    made = livefacts("generate", "positions", "6", "--map", str(city), "-o", str(stream))
    assert made.code == 0
    lines = stream.read_text().splitlines()
    assert len(lines) == 120
    query = (
        "REGISTER QUERY q AS PREFIX : <http://livefacts.example/city#> SELECT ?who "
        "FROM STREAM <http://livefacts.example/positions> [RANGE 5 STEP 5] "
        "WHERE { ?who a :Person }"
    )
    arguments = ["--stream", str(stream), "--data", str(city), "--rules", "rdfs"]
    ended = livefacts("register", query, *arguments, "--format", "csv")
    assert ended.code == 0
    from_1_to_5 = {line.split()[0] for line in lines[20:]}
    assert len(ended.out.splitlines()) == 1 + len(from_1_to_5)


@pytest.mark.parametrize("form", ["table", "jsonl", "csv"])
def test_a_query_that_derives_too_much_says_so_and_others_are_printed(
    form: str, tmp_path: Path
) -> None:
    rules, walks = tmp_path / "same.rules", tmp_path / "walks.nq"
    same = "[?x, :with, ?y] :- [?x, :in, ?z], [?y, :in, ?z] ."
    rules.write_text(f"@prefix : <{EX}> . @limit 2 . {same}", encoding="utf-8")
    walks.write_text(
        "".join(f"<{EX}w{n}> <{EX}in> <{EX}hall> <{EX}walks> {n} .\n" for n in range(1, 5)),
        encoding="utf-8",
    )
    bad = QUERY.replace("QUERY q", "QUERY bad").replace(":in", ":with")
    given = ("--stream", str(walks), "--rules", str(rules), "--format", form)
    ended = livefacts("register", bad, QUERY, *given)
    assert ended.code == 1
    assert "of bad could not be made: the rules derive more than 2 facts" in ended.err
    alone = livefacts("register", QUERY, *given)
    assert alone.code == 0
    mine = [line for line in ended.out.splitlines() if "bad" not in line]
    assert [line for line in mine if "w4" in line] == [
        line for line in alone.out.splitlines() if "w4" in line
    ]
    if form != "csv":
        assert "derive more than 2 facts for the query bad" in ended.out


@pytest.mark.parametrize("packing", [gzip.compress, zstandard.compress])
def test_standard_input_may_be_packed(packing: Callable[[bytes], bytes]) -> None:
    plain = livefacts("register", QUERY, "--stream", "-", stdin=EVENTS)
    ended = livefacts("register", QUERY, "--stream", "-", stdin=packing(EVENTS.encode()))
    assert ended == plain
    assert ended.code == 0
    assert "q at 3:" in ended.out


def test_facts_that_happen_when_they_arrive_need_no_times() -> None:
    lines = "".join(line.rpartition(" <")[0] + " .\n" for line in EVENTS.splitlines())
    query = QUERY.replace("STEP 1", "STEP 1 BOUNDS CLOSED")
    ended = livefacts("register", query, "--stream", "walks=-", "--arrival-time", stdin=lines)
    assert (ended.code, ended.err) == (0, "")
    assert re.search(r"^q at 20\d\d-\d\d-\d\dT", ended.out, re.MULTILINE)
    assert ":ann  :hall" in ended.out
    assert ":bob  :hall" in ended.out


def test_a_stream_that_was_made_can_be_read_again_from_a_patch(
    stream: Path, tmp_path: Path
) -> None:
    text = QUERY.replace("QUERY q", "STREAM :out").replace(
        "SELECT ?x ?y", "CONSTRUCT { ?x :at ?y }"
    )
    made = livefacts(
        *("register", f"PREFIX : <{EX}> {text}", "--stream", str(stream), "--format", "patch")
    )
    again = tmp_path / "again.rdfp"
    again.write_text(made.out, encoding="utf-8")
    asked = QUERY.replace(":walks", ":out").replace(":in", ":at")
    ended = livefacts("register", asked, "--stream", str(again), "--format", "csv")
    assert f"q,3,{EX}bob,{EX}hall" in ended.out.splitlines()


def test_a_mistake_in_a_query_names_its_file(stream: Path, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.csparql", tmp_path / "bad.csparql"
    good.write_text(QUERY, encoding="utf-8")
    bad.write_text(QUERY.replace("QUERY q", "QUERY b").replace(":in", "zz:in"), encoding="utf-8")
    ended = livefacts("register", str(good), str(bad), "--stream", str(stream))
    assert ended.code == 1
    assert re.search(r"bad\.csparql:1:\d+", re.sub(r"\s*\n\s*", "", ended.err))


def test_a_query_that_reads_no_stream_is_refused(stream: Path, tmp_path: Path) -> None:
    asked = "REGISTER QUERY q COMPUTE EVERY 1s AS SELECT ?x { ?x ?p ?y }"
    ended = livefacts("register", asked, "--stream", str(stream))
    assert ended.code == 1
    assert "error: the query q reads no stream" in ended.err
    assert "FROM STREAM" in ended.err
    rules = tmp_path / "recent.rules"
    rules.write_text(f"@prefix : <{EX}> . [?x, :was, ?y] :- sometime [?x, :in, ?y] in [5] .")
    ended = livefacts("register", asked, "--stream", str(stream), "--rules", str(rules))
    assert (ended.code, ended.err) == (0, "")


def test_a_misspelt_stream_is_recognised(stream: Path) -> None:
    ended = livefacts("register", QUERY.replace(":walks", ":walk"), "--stream", str(stream))
    assert (ended.code, ended.out) == (0, "")
    assert f"no query reads what came on <{EX}walks>: 2 facts" in ended.err
    meant = f"nothing came on <{EX}walk>; did you mean <{EX}walks> in the query?"
    assert f"hint: {meant}" in ended.err


def test_a_misspelt_file_of_a_query_is_recognised(stream: Path, tmp_path: Path) -> None:
    (tmp_path / "heads.csparql").write_text(QUERY)
    ended = livefacts("register", str(tmp_path / "head.csparql"), "--stream", str(stream))
    assert ended.code == 1
    assert f"hint: did you mean {tmp_path / 'heads.csparql'}?" in ended.err


@pytest.mark.parametrize("fact", [f"<{EX}a> <{EX}b> 1 <{EX}s> 17 .", '<x:a> <x:b> <x:c> "17" .'])
def test_facts_with_times_are_not_loaded_and_it_is_said_who_reads_them(
    fact: str, tmp_path: Path
) -> None:
    path = tmp_path / "timed.nq"
    path.write_text(fact.replace(" 1 ", ' "1" ') + "\n")
    ended = livefacts("query", "ASK { ?x ?p ?y }", "--data", str(path))
    assert ended.code == 1
    assert "the last term is a time, and facts with times are a stream" in ended.err
    assert "hint: livefacts register and livefacts run read it" in ended.err


def test_facts_that_no_query_reads_are_named(tmp_path: Path) -> None:
    path = tmp_path / "walks.nt"
    path.write_text(EVENTS.replace(f" <{EX}walks>", "", 1).replace("walks", "runs"), "utf-8")
    ended = livefacts("register", QUERY, "--stream", str(path))
    assert (ended.code, ended.out) == (0, "")
    assert "no query reads what came without the name of a stream: 1 fact" in ended.err
    assert f"no query reads what came on <{EX}runs>: 1 fact" in ended.err
    assert "--stream NAME=FILE" in ended.err

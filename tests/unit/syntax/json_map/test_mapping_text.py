"""Maps from JSON to facts: what lines mean, and what is said of mistakes."""

from __future__ import annotations

from pathlib import Path

import pytest

from livefacts.errors import InputError, MapError
from livefacts.syntax.input.rejects import Rejects
from livefacts.syntax.json_map.mapping_text import parse_map, read_map
from livefacts.syntax.stream_files import Event, read_events

EX = "@prefix ex: <http://ex.org/> .\n"


def facts(text: str, message: str, event: str = "e") -> list[str]:
    return [str(found.fact) for found in parse_map(text).facts(message, event)]


def reason(text: str, message: str) -> str:
    with pytest.raises(InputError) as caught:
        parse_map(text).facts(message)
    return caught.value.message


def mistake(text: str) -> str:
    with pytest.raises(MapError) as caught:
        parse_map(text)
    assert caught.value.place is not None
    return str(caught.value)


# what lines mean


def test_arguments_are_in_the_order_of_the_text_with_names_or_without() -> None:
    message = '{"id": "s1", "value": 95}'
    assert facts("reading(s=$.id, v=$.value)", message) == ["reading(s1, 95)"]
    assert facts("reading($.value, s=$.id)", message) == ["reading(95, s1)"]


@pytest.mark.parametrize(
    ("json", "term"),
    [
        ('"kitchen"', "kitchen"),
        ('"sensor-1"', '"sensor-1"'),
        ('"1"', '"1"'),
        ('"not"', '"not"'),
        ('""', '""'),
        ("21", "21"),
        ("-0", "-0"),
        ("21.50", "21.50"),
        ("2E3", "2E3"),
        ("true", "true"),
    ],
)
def test_values_are_written_as_rules_write_them(json: str, term: str) -> None:
    assert facts("r($.x)", f'{{"x": {json}}}') == [f"r({term})"]


def test_a_datatype_makes_a_literal_of_any_value() -> None:
    assert facts("r($.x^^xsd:string)", '{"x": "kitchen"}') == ['r("kitchen")']
    assert facts("r($.x^^xsd:decimal)", '{"x": "5.0"}') == ["r(5.0)"]


def test_constants_of_the_rule_language_may_stand_beside_paths() -> None:
    text = EX + 'r(kitchen, -5, "Küche"@de, ex:a, <http://ex.org/b>, true, "1"^^xsd:int)'
    assert len(parse_map(text).facts("{}")[0].fact) == 2


def test_triples_have_iris_made_of_templates() -> None:
    text = EX + "[<http://ex.org/sensor/{$.id}>, ex:value, $.value] ."
    assert facts(text, '{"id": "a b/c", "value": "kitchen"}') == [
        '<http://ex.org/sensor/a%20b%2Fc> <http://ex.org/value> "kitchen"'
    ]


def test_a_subject_that_is_an_iri_is_taken_as_it_is() -> None:
    text = "[$.id, a, <{$.type}>]"
    assert facts(text, '{"id": "x:a", "type": "x:T"}') == [
        "<x:a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <x:T>"
    ]
    assert "is no IRI" in reason(text, '{"id": "sensor 1", "type": "x:T"}')
    assert "is an IRI" in reason(text, '{"id": 5, "type": "x:T"}')


def test_a_star_makes_a_fact_of_each_element() -> None:
    text = "r($.id, $.rooms[*].n, $.rooms[*].t[*])"
    message = (
        '{"id": 1, "rooms": [{"n": "a", "t": [5, 6]}, {"n": "b", "t": []}, {"n": "c", "t": [7]}]}'
    )
    assert facts(text, message) == ["r(1, a, 5)", "r(1, a, 6)", "r(1, c, 7)"]
    assert facts("r($[*])", "[1, 2]") == ["r(1)", "r(2)"]


def test_any_name_and_numbers_of_elements_may_be_steps() -> None:
    assert facts("""r($["a b"]['c\\'"'][1])""", """{"a b": {"c'\\"": [5, 6]}}""") == ["r(6)"]


def test_a_missing_path_leaves_the_fact_out_or_makes_a_dead_letter() -> None:
    text = "r($.id, $.v?)\nq($.id)"
    assert facts(text, '{"id": 1, "v": 2}') == ["r(1, 2)", "q(1)"]
    assert facts(text, '{"id": 1}') == facts(text, '{"id": 1, "v": null}') == ["q(1)"]
    assert reason(text, '{"v": 2}').startswith("there is no $.id in this message")
    assert facts("r($.gone?, $.x)", "{}") == []
    assert facts("r($.list[*].x?)", '{"list": [{"x": 1}, {}]}') == ["r(1)"]
    assert facts("r($.list[*].x?)", "{}") == []
    assert reason("r($.list[*].x)", '{"list": 5}') == "there is no list $.list in this message"


def test_what_is_not_one_value_makes_a_dead_letter() -> None:
    assert reason("r($.x?)", '{"x": {}}') == "$.x? is an object, and not one value"
    assert reason("r($)", "[1]") == "$ is a list, and not one value"
    assert "surrogate" in reason("r($.x)", '{"x": "\\ud800"}')
    assert "no JSON" in reason("r($.x)", "{x}")
    assert "no JSON" in reason("r($.x)", '{"x": NaN}')
    assert "nested too deeply" in reason("r($.x)", "[" * 100_000)


def test_times_are_points_date_times_or_units_since_1970() -> None:
    def time(text: str, json: str) -> object:
        return getattr(
            found := parse_map(f"r() at {text}").facts(f'{{"t": {json}}}')[0].time, "value", found
        )

    assert time("$.t", "17") == 17
    assert time("$.t", '"2026-01-31T12:00:00Z"') == "2026-01-31T12:00:00Z"
    assert time("$.t ms", "1700000000123") == "2023-11-14T22:13:20.123000+00:00"
    assert time("$.t s", "-0.5") == "1969-12-31T23:59:59.500000+00:00"
    for text, json in [
        ("$.t", "1.5"),
        ("$.t", '"noon"'),
        ("$.t", "true"),
        ("$.t ms", '"5"'),
        ("$.t s", "1e400"),
        ("$.t s", "1e99999999999999999999"),
        ("$.t", "9" * 30),
    ]:
        with pytest.raises(InputError):
            time(text, json)


def test_a_line_may_name_its_stream_and_take_facts_back() -> None:
    text = EX + "retract r($.old?) at $.t stream ex:s\nr($.new) at $.t stream <x:{$.site}>"
    found = parse_map(text).facts('{"old": 1, "new": 2, "t": 3, "site": "a"}')
    assert [(each.stream, each.retracts) for each in found] == [
        ("http://ex.org/s", True),
        ("x:a", False),
    ]


def test_each_message_is_an_event_of_its_own() -> None:
    assert facts("r(event(), $.x)", '{"x": 1}', "a b:7") == ["r(<urn:livefacts:event:a%20b:7>, 1)"]
    assert parse_map("r(event())").has_events
    assert not parse_map("r()").has_events


# mistakes


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "this map has no line"),
        ("r($.a", "a comma or a closing )"),
        ("r($.a-b)", 'a path has steps .name, ["any name"]'),
        ("r(?x)", "a path such as $.id or a constant"),
        ("r($.a) at $.t min", "`min` is no unit"),
        ("r($.a) at 5", "a time is a path: at $.ts"),
        ("r($.a) stream foo", "( was expected"),
        ("r($.a[*], $.b[*])", "$.b[*] ranges over another list than $.a[*]"),
        ("r(a=$.x, a=$.y)", "two arguments called a"),
        ("r(a=$.x) r($.x, $.y)", "r has 2 arguments here, and 1 above"),
        ("r(a=$.x, b=$.y) r(b=$.x, a=$.y)", "names do not move them"),
        ("[x, a, $.y]", "a path begins with a dollar: $.x"),
        ('["x", a, $.y]', "the subject of a triple is an IRI"),
        ("[$.x^^xsd:int, a, $.y]", "has no datatype"),
        ("[$.x, ex:v, $.y]", "the prefix ex: is not declared"),
        ("[$.x, a, <foo{$.y}>]", "is a relative IRI"),
        ("[$.x, a, <foo:{.y}>]", "{.y} is no path"),
        ("not($.x)", "`not` is a word of the language"),
        ("r($['\\q'])", "has an escape that JSON has not"),
        ("r($.x^^rdf:langString)", "needs a language"),
    ],
)
def test_mistakes_are_said_with_their_place(text: str, said: str) -> None:
    assert said in mistake(text)


def test_a_map_is_a_text_or_a_file(tmp_path: Path) -> None:
    path = tmp_path / "readings.map"
    path.write_text("r($.x) .")
    assert read_map(path) == read_map(str(path)) == read_map("r($.x)")
    with pytest.raises(InputError, match="there is no file"):
        read_map("readings.map")
    path.write_bytes(b"\xff")
    with pytest.raises(MapError, match="UTF-8"):
        read_map(path)


# lines of files


def test_each_line_of_a_file_is_a_message() -> None:
    rejects = Rejects()
    lines = b'{"x": 1, "t": 5}\n\n{"x": 2, "t": 5}\n{"t": 5}\n{"x": [3], "t": 6}\n'
    json_map = parse_map("r($.x) at $.t\nq($.x) at $.t")
    events = list(read_events(lines, rejects, json_map=json_map))
    assert [(event.time, str(event.facts)) for event in events] == [
        (5, "(r(1), q(1))"),
        (5, "(r(2), q(2))"),
    ]
    assert [(reject.line, reject.reason[:18]) for reject in rejects.kept] == [
        (4, "there is no $.x in"),
        (5, "$.x is a list, and"),
    ]


def test_a_map_without_times_needs_the_time_of_arrival() -> None:
    rejects, json_map = Rejects(), parse_map("r($.x)")
    assert not list(read_events(b'{"x": 1}', rejects, json_map=json_map))
    assert "--arrival-time" in rejects.kept[0].reason
    assert [
        each.time for each in read_events(b'{"x": 1}', rejects, untimed=0, json_map=json_map)
    ] == [0]
    assert isinstance(next(read_events(b'{"x": 1}', rejects, untimed=0, json_map=json_map)), Event)

"""Random maps over random messages make what the naive definition says.

The definition knows no steps: a message is the table of all its places by their written paths
(`$.r[0].v`), and a line is tried with every number in the place of every star.
"""

from __future__ import annotations

import json
from itertools import product
from random import Random
from typing import Any

import pytest
from tests.properties.generate.seeds import chunks

from livefacts.errors import InputError
from livefacts.syntax.json_map.mapping_text import parse_map

SEEDS = 100
NAMES = ("a", "b", "c")
LEAVES = ("kitchen", "sensor-1", "x:y", 5, 2.5, True, None, "not")
DEAD = "dead letter"


def a_message(random: Random, depth: int = 0) -> Any:
    kind = random.random()
    if depth == 0 or (depth < 3 and kind < 0.3):
        time = {} if depth else {"t": random.choice([7, 8])}
        return time | {n: a_message(random, depth + 1) for n in NAMES if random.random() < 0.9}
    if depth < 3 and kind < 0.6:
        return [a_message(random, depth + 1) for _ in range(random.randrange(3))]
    return random.choice(LEAVES)


def a_path(random: Random, stars: str) -> str:
    """A path that begins with these lists, if it has any."""
    path = stars if random.random() < 0.7 else "$"
    for _ in range(random.randrange(1 if path == "$" else 0, 3)):
        path += random.choice([".a", ".b", '["c"]', ".c", "[0]"])
    return path + ("?" if random.random() < 0.4 else "")


def a_line(random: Random) -> tuple[list[str], str]:
    """The paths of the arguments of a line, and that of its time, which is the message's."""
    stars = random.choice(["$", "$", "$.a[*]", "$.b[*]", "$.a[*].b[*]", "$.c.a[*]"])
    time = random.choice(["$.t", "$.t", "$.t?", "$.u?", a_path(random, stars)])
    return [a_path(random, stars) for _ in range(random.randint(1, 2))], time


def places(message: Any, path: str = "$") -> dict[str, Any]:
    """Everything that is in a message, by its path."""
    found = {} if message is None else {path: message}
    inside = message.items() if isinstance(message, dict) else ()
    for name, value in inside:
        found |= places(value, f"{path}.{name}")
    for number, value in enumerate(message) if isinstance(message, list) else ():
        found |= places(value, f"{path}[{number}]")
    return found


def defined(lines: list[tuple[list[str], str]], message: Any) -> list[tuple[str, int]] | str:
    """The facts of a message by the definition, with their times."""
    table = places(message)
    facts = []
    for arguments, time in lines:
        texts = [path.replace('["c"]', ".c") for path in (*arguments, time)]
        longest = max((text.rpartition("[*]")[0] for text in texts), key=len)
        stars = f"{longest}[*]".count("[*]") if any("[*]" in text for text in texts) else 0
        for numbers in product(range(3), repeat=stars):
            made = one_fact(texts, longest, numbers, table)
            if made is DEAD:
                return DEAD
            facts += [made] if isinstance(made, tuple) else []
    return facts


def one_fact(
    texts: list[str], longest: str, numbers: tuple[int, ...], table: dict[str, Any]
) -> tuple[str, int] | str | None:
    """A fact, a dead letter, or nothing, for these numbers in the place of stars."""
    for depth in range(len(numbers)):
        prefix = "[*]".join(f"{longest}[*]".split("[*]")[: depth + 1])
        items = table.get(filled(prefix, numbers))
        if not isinstance(items, list):
            through = [text for text in texts if text.startswith(f"{prefix}[*]")]
            is_first = not any(numbers[depth:])
            return DEAD if is_first and not any(t.endswith("?") for t in through) else None
        if numbers[depth] >= len(items):
            return None
    found = {text: table.get(filled(text.rstrip("?"), numbers)) for text in texts}
    if any(value is None for text, value in found.items() if text.endswith("?")):
        return None
    *values, time = [found[text] for text in texts]
    if any(value is None or isinstance(value, dict | list) for value in values):
        return DEAD
    if isinstance(time, bool) or not isinstance(time, int):
        return DEAD
    return f"r{len(values)}({', '.join(map(written, values))})", time


def filled(text: str, numbers: tuple[int, ...]) -> str:
    for number in numbers:
        text = text.replace("[*]", f"[{number}]", 1)
    return text


def written(value: Any) -> str:
    if isinstance(value, str):
        return value if value == "kitchen" else f'"{value}"'
    return json.dumps(value)


@pytest.mark.parametrize("chunk", chunks(8, usual=2))
def test_a_map_makes_what_the_definition_says(chunk: int) -> None:
    for seed in range(chunk * SEEDS, (chunk + 1) * SEEDS):
        random = Random(seed)
        lines = [a_line(random) for _ in range(random.randint(1, 3))]
        text = "\n".join(f"r{len(a)}({', '.join(a)}) at {time}" for a, time in lines)
        json_map = parse_map(text)
        for _ in range(20):
            message = a_message(random)
            expected = defined(lines, message)
            try:
                mapped = json_map.facts(json.dumps(message))
                made: object = [(str(each.fact), each.time) for each in mapped]
            except InputError:
                made = DEAD
            assert made == expected, (seed, text, message)


def test_the_random_maps_make_facts_and_dead_letters() -> None:
    random = Random(0)
    outcomes = [defined([a_line(random)], a_message(random)) for _ in range(5_000)]
    facts = sum(isinstance(each, list) and bool(each) for each in outcomes)
    assert facts > 100
    assert outcomes.count(DEAD) > 100
    assert outcomes.count([]) > 100

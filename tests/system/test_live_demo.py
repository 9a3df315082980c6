"""The live demo: a city on the page that can be watched, asked and explained, and that ends in order."""

from __future__ import annotations

import json
import os
import signal
import urllib.parse
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from tests.system.running import started

from livefacts.generate.sensors import ALERTS, CITY

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]


def reasons(client: httpx.Client) -> Iterator[str]:
    """Why districts are on alert that have a hot sensor; one may have cooled down meanwhile."""
    for _ in range(100):
        answer = client.get("/sparql", params={"query": ALERTS}).json()
        for row in answer["results"]["bindings"]:
            fact = f"<{row['district']['value']}> a <{CITY}Alert>"
            yield client.get("/explain", params={"fact": fact, "format": "text"}).text


def test_a_city_lives_until_ctrl_c_and_leaves_nothing(tmp_path: Path) -> None:
    with started("demo", "--live", "--port", "0", TMPDIR=str(tmp_path)) as process:
        assert process.stdout is not None
        said = iter(process.stdout.readline, b"")
        address = next(
            line.split()[-1].decode().rstrip("/") for line in said if b"the page:" in line
        )
        hot = next(line.decode().split() for line in said if b"is hot" in line)
        assert hot[1] == "+"
        with httpx.Client(base_url=address, timeout=60) as client:
            assert any("by alert" in reason for reason in reasons(client))
            [registered] = client.get("/register").json()["queries"]
            assert registered["name"] == "MeansOfDistricts"
            reports = "/register?" + urllib.parse.urlencode({"name": registered["name"]})
            with client.stream("GET", reports) as answer:
                data = next(each for each in answer.iter_lines() if each.startswith("data: "))
            assert len(json.loads(data[6:])["rows"]) == 6
        process.send_signal(signal.SIGINT)
        rest, trouble = process.communicate(timeout=60)
        assert process.returncode in (os.EX_OK, 130)
        assert (rest.splitlines()[-1], trouble) == (b"The city is gone.", b"")
    assert not [each for each in tmp_path.iterdir() if (each / "city").exists()]

"""The description of the server is true: every path is in it, and whatever it allows is answered."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest
from starlette.routing import Route
from tests.system.serving import Serving, serving

from livefacts.server.application import ROUTES

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
RULES = "hot(?s) :- reading(?s, ?v), ?v > 90 ."
CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance"
CHECKS += ",response_schema_conformance,missing_required_header,unsupported_method"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("description")
    (folder / "mine.rules").write_text(RULES)
    with serving(folder / "kb", "--rules", str(folder / "mine.rules"), "--timeout", "2") as found:
        found.update("INSERT DATA { <x:a> <x:b> <x:c> }")
        yield found


def plain(path: str) -> str:
    return path.replace(":path}", "}").rstrip("/")


def test_every_path_and_method_is_described_and_no_other(server: Serving) -> None:
    described = server.get("/openapi.json").json()
    told = {
        (path, method.upper()) for path, methods in described["paths"].items() for method in methods
    }
    routed = {
        (plain(route.path), method)
        for route in ROUTES
        if isinstance(route, Route)
        for method in (route.methods or ())
        if method != "HEAD"
    }
    assert told == routed
    assert described["openapi"] == "3.1.0"


def test_who_may_not_write_is_told_so_wherever_a_token_is_wanted(server: Serving) -> None:
    described = server.get("/openapi.json").json()["paths"]
    closed = [
        (method, path.replace("{name}", "s").replace("{rest}", "r"))
        for path, methods in described.items()
        for method, said in methods.items()
        if said.get("security") == [{"token": []}]
    ]
    assert len(closed) > 15
    with server.client() as client:
        for method, path in closed:
            assert client.request(method, path).status_code == 401, (method, path)


ALL = "examples,coverage,fuzzing"
TRIES = [("fuzzing", "1"), pytest.param(ALL, "40", marks=pytest.mark.thorough)]


@pytest.mark.skipif(find_spec("schemathesis") is None, reason="schemathesis is not installed")
@pytest.mark.parametrize(("phases", "tries"), TRIES)
def test_whatever_the_description_allows_is_answered_as_it_says(
    server: Serving, tmp_path: Path, phases: str, tries: str
) -> None:
    command = [sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"]
    options = ["--checks", CHECKS, "--phases", phases, "--seed", "1"]
    options += ["--max-examples", tries, "--request-timeout", "60", "--no-color"]
    options += ["--header", f"Authorization: Bearer {server.token}", "--include-method", "GET"]
    # How many of its tries are thrown away says nothing of the server.
    options += ["--suppress-health-check", "filter_too_much"]
    # What goes on for ever is asked for in one answer.
    options += ["--exclude-path-regex", "^/(changes|watch|violations|register|verify)$"]
    options += [
        each for method in ("POST", "PUT", "DELETE") for each in ("--include-method", method)
    ]
    ended = subprocess.run([*command, *options], capture_output=True, text=True, cwd=tmp_path)
    assert ended.returncode == 0, ended.stdout[-6000:] + ended.stderr[-2000:]

"""`livefacts demo --live`: a city of sensors, served while it lives.

A folder that is forgotten at the end, the server that everybody has, and a thread that sends to it
over HTTP what any program could: rules are in the folder, readings go to `/streams`.
"""

from __future__ import annotations

import json
import os
import socket
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from livefacts.commands.console.fact_files import prepare
from livefacts.commands.serve import check_installed, opened
from livefacts.errors import LivefactsError
from livefacts.generate.sensors import ALERTS, CITY, MEANS, READINGS, RULES, SensorCity

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner


def live_demo(port: int | None) -> None:
    """Serve the city until Ctrl-C."""
    check_installed()
    from livefacts.server.admission.audit import AuditLog
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.admission.settings import ServerSettings
    from livefacts.server.admission.tokens import AccessScope
    from livefacts.server.followed_sources import FollowedSources, SourceSettings
    from livefacts.server.listener import address_of, run

    prepare()
    with tempfile.TemporaryDirectory() as place:
        folder, city = Path(place) / "city", SensorCity()
        rules = Path(place) / "city.rules"
        rules.write_text(RULES, encoding="utf-8")
        settings = ServerSettings()
        listening = _listening(port)
        reasoner = opened(str(folder), [str(rules)], None, settings)
        reasoner.add(b"".join(city.background()).decode())
        served = ServedReasoner(reasoner, settings, AuditLog(os.devnull))
        token = served.tokens.make(AccessScope.admin)
        life = _CityLife(city, address_of(listening, None), token, served)
        _announce(life.address, token)
        threading.Thread(target=life.go_on, daemon=True).start()
        run(served, FollowedSources(reasoner, SourceSettings()), listening, None)
    typer.echo("The city is gone.")


def _listening(port: int | None) -> socket.socket:
    """At the port that is asked for; else at the usual one, or any that is free."""
    from livefacts.server.admission.settings import LOOPBACK, PORT
    from livefacts.server.listener import bound_socket

    try:
        return bound_socket(LOOPBACK, PORT if port is None else port)
    except LivefactsError:
        if port is not None:
            raise
        return bound_socket(LOOPBACK, 0)


def _announce(address: str, token: str) -> None:
    def view(title: str, **given: str) -> str:
        return f"{address}/#/{title}?{urllib.parse.urlencode(given, quote_via=urllib.parse.quote)}"

    shown = {
        "the page": f"{address}/",
        "hot sensors": view("ask", query=ALERTS),
        "windows and reports": view("streams", name="MeansOfDistricts"),
        "what happens": view("history"),
        "for programs": f"curl -N {address}/violations",
        "token": token,
    }
    typer.echo("A city of sensors lives until Ctrl-C:")
    for name, where in shown.items():
        typer.echo(f"  {name + ':':<21}{where}")
    sys.stdout.flush()


class _CityLife:
    """Sends what sensors show each second, and says which ones become hot."""

    def __init__(self, city: SensorCity, address: str, token: str, served: ServedReasoner) -> None:
        self.address = address
        self._city = city
        self._token = token
        self._served = served
        self._hot: set[str] = set()

    def go_on(self) -> None:
        """Send and look, each second, until the server ends."""
        begun = time.monotonic()
        second = int(time.time())
        try:
            self._ask("/register", {"query": MEANS, "format": "json"})
            while not self._served.is_stopping:
                self._send(second)
                self._look()
                second += 1
                begun += 1
                time.sleep(max(0.0, begun - time.monotonic()))
        except (OSError, urllib.error.URLError) as error:
            if not self._served.is_stopping:
                typer.echo(f"the city stands still: {error}", err=True)

    def _send(self, second: int) -> None:
        event = {"at": second, "facts": "\n".join(self._city.readings(second))}
        path = "/streams/" + urllib.parse.quote(READINGS, safe="")
        self._request(path, json.dumps(event).encode(), "application/x-ndjson")

    def _look(self) -> None:
        rows = json.loads(self._ask("/sparql", {"query": ALERTS, "format": "json"}))
        found = {
            f"{_name(row['sensor'])} in {_name(row['district'])}"
            for row in rows["results"]["bindings"]
        }
        for sign, changed in (("+", found - self._hot), ("-", self._hot - found)):
            for each in sorted(changed):
                words = "is hot" if sign == "+" else "is hot no more"
                typer.echo(f"{time.strftime('%H:%M:%S')} {sign} {each} {words}")
        sys.stdout.flush()
        self._hot = found

    def _ask(self, path: str, values: dict[str, str]) -> bytes:
        given = urllib.parse.urlencode(values).encode()
        return self._request(path, given, "application/x-www-form-urlencoded")

    def _request(self, path: str, body: bytes, kind: str) -> bytes:
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        request = urllib.request.Request(self.address + path, body, headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            return bytes(answer.read())


def _name(term: dict[str, Any]) -> str:
    return str(term["value"]).removeprefix(CITY)

"""Servers in processes of their own: ours, and Apache Jena Fuseki with its RDFS reasoner."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PARTS = Path(os.environ.get("LIVEFACTS_TEST_PARTS", ROOT / "out" / "parts"))
PATIENCE = 120
FUSEKI = """\
PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
<#service> a fuseki:Service ; fuseki:name "ds" ; fuseki:dataset <#dataset> ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "sparql" ] ;
  fuseki:endpoint [ fuseki:operation fuseki:update ; fuseki:name "update" ] .
<#dataset> a ja:RDFDataset ; ja:defaultGraph <#inferred> .
<#inferred> a ja:InfModel ; ja:baseModel <#base> ;
  ja:reasoner [ ja:reasonerURL <http://jena.hpl.hp.com/2003/RDFSExptRuleReasoner> ] .
<#base> a ja:MemoryModel ; ja:content [ ja:externalContent <{data}> ] .
"""


@dataclass
class ServerProcess:
    """A running server: its address, where queries and updates go, and its process."""

    url: str
    process: subprocess.Popen[str]
    query: str = "/sparql"
    update: str = "/sparql"
    token: str = ""

    @property
    def bearer(self) -> dict[str, str]:
        """The header that allows writing."""
        return {"Authorization": f"Bearer {self.token}"} if self.token else {}

    def memory(self) -> int:
        """The bytes that the process has in memory; 0 where the system does not say."""
        try:
            pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        except OSError:
            return 0
        return int(pages) * os.sysconf("SC_PAGE_SIZE")

    def processor(self) -> float:
        """The seconds of a processor that it has taken; 0 where the system does not say."""
        try:
            fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[ServerProcess]:
    """`livefacts serve`, at a port that is free."""
    command = [sys.executable, "-m", "livefacts", "serve", str(folder), "--port", "0"]
    command += ["--audit", str(folder.with_suffix(".audit")), *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = ServerProcess("", process)
        try:
            for line in process.stdout:
                name, _, value = line.strip().partition(": ")
                if name == "endpoint":
                    found.url = value.removesuffix("/sparql")
                elif name == "token":
                    found.token = value
                elif name == "ready":
                    break
            yield found
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(PATIENCE)


def missing_fuseki() -> str:
    """Why Fuseki cannot be measured; empty if it can."""
    if shutil.which("java") is None:
        return "there is no Java"
    return "" if _jar() else f"there is no Fuseki in {PARTS.name}: `make parts` fetches it"


def _jar() -> Path | None:
    return next(iter(PARTS.glob("fuseki/jena-fuseki-server-*.jar")), None)


@contextmanager
def fuseki(folder: Path, data: Path) -> Iterator[ServerProcess]:
    """Fuseki with the data in memory, under its RDFS reasoner; it takes a while to answer first."""
    settings = folder / "fuseki.ttl"
    settings.write_text(FUSEKI.format(data=data.as_uri()))
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = ["java", "-Xmx4g", "-jar", str(_jar()), "--localhost", "--port", str(port)]
    with (folder / "fuseki.txt").open("w") as output:
        process = subprocess.Popen(
            [*command, "--config", str(settings)],
            stdout=output,
            stderr=output,
            text=True,
            cwd=folder,
            env={**os.environ, "FUSEKI_BASE": str(folder / "base")},
        )
        try:
            found = ServerProcess(f"http://127.0.0.1:{port}", process, "/ds/sparql", "/ds/update")
            _wait(found, folder / "fuseki.txt")
            yield found
        finally:
            process.kill()
            process.wait()


def _wait(server: ServerProcess, output: Path) -> None:
    asked = f"{server.url}{server.query}?query=ASK%7B%7D"
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and server.process.poll() is None:
        try:
            urllib.request.urlopen(asked, timeout=PATIENCE).close()
            return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError(f"Fuseki does not answer: {output.read_text()[-500:]}")

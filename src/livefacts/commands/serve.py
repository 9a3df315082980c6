"""`livefacts serve` and `livefacts token`: a folder over HTTP, and who may change it."""

from __future__ import annotations

import gc
import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.fact_files import prepare
from livefacts.commands.options import Rules
from livefacts.commands.terminal import counted
from livefacts.errors import InputError, LivefactsError

if TYPE_CHECKING:
    from livefacts.server.served_reasoner import ServedReasoner

KnowledgeBase = Annotated[
    str, typer.Argument(metavar="FOLDER", help="A folder of Reasoner.open; a new one is made.")
]


def serve_command(
    folder: KnowledgeBase,
    rules: Rules = None,
    port: Annotated[int, typer.Option(help="0 takes any that is free.", min=0, max=65535)] = 7878,
    host: Annotated[
        str, typer.Option(help="The address to listen to; only this machine by default.")
    ] = "127.0.0.1",
    private: Annotated[bool, typer.Option("--private", help="Reading needs a token, too.")] = False,
    cors: Annotated[
        list[str] | None,
        typer.Option(metavar="ORIGIN", help="Pages that may ask from a browser; all by default."),
    ] = None,
    no_page: Annotated[bool, typer.Option("--no-page", help="Serve no page for people.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds that a query may take.")] = 30.0,
    rows: Annotated[int, typer.Option(help="Rows that a query may answer.", min=1)] = 1_000_000,
    memory: Annotated[int, typer.Option(help="Bytes that a query may take.", min=1)] = 1 << 30,
    body: Annotated[int, typer.Option(help="Bytes that a request may have.", min=1)] = 64 << 20,
    audit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Append a line for each write here.")
    ] = None,
) -> None:
    """Serve a folder over HTTP: SPARQL, changes as they happen, and who is allowed what.

    The first start makes a token for writing and prints it, once, as `token: …`.

    \b
    livefacts serve kb/ --rules rdfs
    curl --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10' http://127.0.0.1:7878/sparql
    """
    _check_installed()
    from livefacts.server.audit import AuditLog
    from livefacts.server.listener import bound_socket, run
    from livefacts.server.served_reasoner import ServedReasoner
    from livefacts.server.settings import ServerSettings
    from livefacts.service.reasoner.reasoner import Reasoner

    settings = ServerSettings(
        query_seconds=timeout,
        query_rows=rows,
        query_bytes=memory,
        body_bytes=body,
        is_private=private,
        origins=tuple(cors or ("*",)),
        has_page=not no_page,
    )
    prepare()
    listening = bound_socket(host, port)
    reasoner = Reasoner.open(
        folder, rules or None, timeout=settings.change_seconds, memory=settings.change_bytes
    )
    gc.freeze()  # what is loaded stays: the collector need not go over it
    served = ServedReasoner(reasoner, settings, AuditLog(audit))
    _announce(served, listening)
    run(served, listening)


def _announce(served: ServedReasoner, listening: socket.socket) -> None:
    """Say where the server is, and its first token; each line can be read at once by a program."""
    from livefacts.server.listener import address_of
    from livefacts.server.tokens import AccessScope

    address = address_of(listening)
    print(f"endpoint: {address}/sparql", flush=True)
    tokens = served.tokens
    if not len(tokens):
        print(f"token: {tokens.make(AccessScope.admin)}", flush=True)
    facts, seq = len(served.reasoner), served.reasoner.seq
    print(f"ready: {counted(facts, 'fact')}, up to change {seq}", flush=True)


def _check_installed() -> None:
    try:
        import prometheus_client
        import sse_starlette
        import starlette
        import uvicorn
    except ImportError as error:
        raise LivefactsError(
            f"the server needs the package {error.name}", hint="pip install 'livefacts[serve]'"
        ) from error
    del prometheus_client, sse_starlette, starlette, uvicorn


def token_command(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="A folder that is served.")],
    scope: Annotated[
        str, typer.Option(help="read, update, rules or admin; each includes those before it.")
    ] = "update",
) -> None:
    """Make another token for a folder, and print it, once; a server that runs knows it at once.

    \b
    livefacts token kb/ --scope read
    """
    from livefacts.server.tokens import AccessScope, Tokens

    if not Path(folder).is_dir():
        raise InputError(f"{folder} is no folder", hint="name a folder of Reasoner.open")
    if scope not in list(AccessScope):
        raise InputError(f"{scope} is no scope", hint=f"one of {', '.join(AccessScope)}")
    print(f"token: {Tokens(Path(folder)).make(AccessScope(scope))}", flush=True)

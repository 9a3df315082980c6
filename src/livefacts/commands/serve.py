"""`livefacts serve` and `livefacts token`: a folder over HTTP, and who may change it."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from livefacts.commands.console.events import ahead, no_map, timed_map
from livefacts.commands.console.fact_files import prepare
from livefacts.commands.console.options import (
    ArrivalTime,
    Lateness,
    Maps,
    MaxAhead,
    Rules,
    SourceAddresses,
    Tick,
)
from livefacts.commands.console.options import Rejects as RejectsFile
from livefacts.commands.console.terminal import counted, say
from livefacts.commands.folders import check_is_folder
from livefacts.errors import LivefactsError

if TYPE_CHECKING:
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.admission.settings import ServerSettings
    from livefacts.server.listener import KeyPair
    from livefacts.service.reasoner.durable import DurableReasoner
    from livefacts.syntax.json_map.fact_lines import JsonMap

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
    client_timeout: Annotated[
        float, typer.Option(help="Seconds for a client to send a request, or to take an answer.")
    ] = 30.0,
    connections: Annotated[
        int, typer.Option(help="So many connections, and no more.", min=1)
    ] = 2_000,
    certificate: Annotated[
        str | None, typer.Option(metavar="FILE", help="Serve over TLS; with --key.")
    ] = None,
    key: Annotated[
        str | None, typer.Option(metavar="FILE", help="The key of the certificate.")
    ] = None,
    audit: Annotated[
        str | None, typer.Option(metavar="FILE", help="Append a line for each write here.")
    ] = None,
    sources: SourceAddresses = None,
    maps: Maps = None,
    tick: Tick = None,
    lateness: Lateness = "0",
    max_ahead: MaxAhead = "1 h",
    arrival_time: ArrivalTime = False,
    rejects: RejectsFile = None,
) -> None:
    """Serve a folder over HTTP: SPARQL, changes as they happen, and who is allowed what.

    The first start makes a token for writing and prints it, once, as `token: …`.

    \b
    livefacts serve kb/ --rules rdfs
    livefacts serve kb/ -r hot.rules --source mqtt://localhost/t --map 'reading($.id, $.v) at $.ts'
    curl --data-urlencode 'query=SELECT * { ?s ?p ?o } LIMIT 10' http://127.0.0.1:7878/sparql
    """
    check_installed()
    from livefacts.server.admission.audit import AuditLog
    from livefacts.server.admission.served_reasoner import ServedReasoner
    from livefacts.server.admission.settings import ServerSettings
    from livefacts.server.followed_sources import FollowedSources, SourceSettings
    from livefacts.server.listener import address_of, bound_socket, run

    settings = ServerSettings(
        query_seconds=timeout,
        query_rows=rows,
        query_bytes=memory,
        body_bytes=body,
        client_seconds=client_timeout,
        connections=connections,
        is_private=private,
        origins=tuple(cors or ("*",)),
        has_page=not no_page,
        max_ahead=ahead(max_ahead),
    )
    mapped = _with_maps(sources or [], maps or [], arrival_time)
    given = SourceSettings(mapped, lateness, settings.max_ahead, arrival_time, rejects)
    keys = _keys(certificate, key)
    _warn_of(host, is_open=keys is None)
    prepare()
    listening = bound_socket(host, port)
    served = ServedReasoner(opened(folder, rules, tick, settings), settings, AuditLog(audit))
    followed = FollowedSources(served.reasoner, given)
    _announce(served, address_of(listening, keys))
    run(served, followed, listening, keys)


def opened(
    folder: str, rules: list[str] | None, tick: str | None, settings: ServerSettings
) -> DurableReasoner:
    """The reasoner in a folder, as a server has it."""
    from livefacts.service.reasoner.facade import Reasoner

    limits = {"timeout": settings.change_seconds, "memory": settings.change_bytes}
    found = Reasoner.open(folder, rules or None, tick=tick, **limits)
    gc.freeze()  # what is loaded stays: the collector need not go over it
    return found


def _with_maps(
    sources: list[str], maps: list[str], arrival_time: bool
) -> list[tuple[str, JsonMap]]:
    """Each source with its map, in the order of the options."""
    if sources and not maps:
        raise no_map()
    if maps and (not sources or len(maps) not in (1, len(sources))):
        raise typer.BadParameter(
            f"there are {counted(len(sources), 'source')} and {counted(len(maps), 'map')}: "
            "give one --map for all, or one after each --source"
        )
    read = [timed_map(each, arrival_time) for each in maps]
    return list(zip(sources, read * len(sources) if len(read) == 1 else read, strict=True))


def _keys(certificate: str | None, key: str | None) -> KeyPair | None:
    from livefacts.server.listener import KeyPair

    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise typer.BadParameter("TLS needs two files: give --certificate and --key")
    keys = KeyPair(certificate, key)
    keys.check()
    return keys


def _warn_of(host: str, *, is_open: bool) -> None:
    """Say what it means that others than this machine reach the server."""
    if host in ("localhost", "::1") or host.startswith("127."):
        return
    without = ", without TLS: tokens can be read on the way" if is_open else ""
    say(f"warning: --host {host} can be reached from other machines{without}")


def _announce(served: ServedReasoner, address: str) -> None:
    """Say where the server is, and its first token; each line can be read at once by a program."""
    from livefacts.server.admission.tokens import AccessScope
    from livefacts.server.page import is_built

    print(f"endpoint: {address}/sparql", flush=True)
    if served.settings.has_page and is_built():
        print(f"page: {address}/", flush=True)
    tokens = served.tokens
    if not len(tokens):
        print(f"token: {tokens.make(AccessScope.admin)}", flush=True)
    facts, seq = len(served.reasoner), served.reasoner.seq
    print(f"ready: {counted(facts, 'fact')}, up to change {seq}", flush=True)


def check_installed() -> None:
    """Refuse where the packages of the server are not there."""
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
    from livefacts.server.admission.tokens import AccessScope, Tokens

    check_is_folder(folder)
    if scope not in list(AccessScope):
        raise typer.BadParameter(f"{scope} is no scope: it is one of {', '.join(AccessScope)}")
    print(f"token: {Tokens(Path(folder)).make(AccessScope(scope))}", flush=True)

"""Connections to a server: those that dawdle are closed, there are so many and no more, and TLS."""

from __future__ import annotations

import select
import shutil
import socket
import ssl
import subprocess
import warnings
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.system.running import livefacts
from tests.system.serving import PATIENCE, Serving, serving
from websockets.exceptions import ConnectionClosedError, InvalidStatus
from websockets.sync.client import connect

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]
MOST = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    folder = tmp_path_factory.mktemp("connections") / "kb"
    with serving(folder, "--client-timeout", "0.5", "--connections", str(MOST)) as found:
        yield found


def connected(server: Serving) -> socket.socket:
    address = urlsplit(server.url)
    assert address.hostname is not None
    found = socket.create_connection((address.hostname, address.port or 80), PATIENCE)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    return found


def rest_of(connection: socket.socket) -> bytes:
    """What comes until the server closes; it does, or the test fails by the socket's patience."""
    found = b""
    try:
        while piece := connection.recv(1 << 16):
            found += piece
    except ConnectionResetError:
        pass
    return found


BEGUN = {
    "nothing": b"",
    "half a line": b"GET /hea",
    "half of the headers": b"GET /health HTTP/1.1\r\nHost: x\r\nX-",
}


@pytest.mark.parametrize("what", BEGUN)
def test_a_request_that_is_not_ended_is_given_up(server: Serving, what: str) -> None:
    with connected(server) as connection:
        connection.sendall(BEGUN[what])
        assert rest_of(connection) == b""


def test_headers_that_drip_are_given_up(server: Serving) -> None:
    """Slowloris: a byte now and then keeps the connection busy, and does not keep it open."""
    with connected(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\nX-Drip: ")
        while not select.select([connection], [], [], 0.05)[0]:
            connection.sendall(b"a")
        assert rest_of(connection) == b""


def test_a_second_request_has_the_same_time(server: Serving) -> None:
    with connected(server) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
        answer = b""
        while b"alive" not in answer:  # headers and body may come in pieces
            piece = connection.recv(1 << 16)
            assert piece, answer
            answer += piece
        connection.sendall(b"GET /health HTTP/1.1\r\n")
        assert rest_of(connection) == b""


def test_a_body_that_does_not_come_is_an_answer_and_an_end(server: Serving) -> None:
    head = (
        "POST /sparql HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n"
        f"Content-Type: application/sparql-update\r\nAuthorization: Bearer {server.token}\r\n\r\n"
    )
    with connected(server) as connection:
        connection.sendall(head.encode() + b"INSERT")
        answer = rest_of(connection)
    assert answer.startswith(b"HTTP/1.1 408 ")
    assert b'"request"' in answer


def test_an_answer_that_nobody_takes_is_given_up(server: Serving) -> None:
    numbers = "%20".join(map(str, range(400)))
    text = f"SELECT%20*%7BVALUES%20?a%7B{numbers}%7DVALUES%20?b%7B{numbers}%7D%7D"
    with connected(server) as connection:
        connection.sendall(f"GET /sparql?query={text} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        start = connection.recv(1000)
        assert start.startswith(b"HTTP/1.1 200 ")
        with server.client() as client:
            while client.get("/stats").json()["connections"] > 1:
                pass
        assert b"\r\n0\r\n\r\n" not in rest_of(connection)  # the end of an answer in pieces


def test_there_are_so_many_connections_and_no_more(server: Serving) -> None:
    with ExitStack() as stack:
        for _ in range(MOST):
            stack.enter_context(connected(server))
        refused = server.get("/health").status_code
    while server.get("/health").status_code != 200:
        pass
    assert refused == 503


def test_a_connection_that_becomes_a_websocket_is_not_counted_any_more(server: Serving) -> None:
    with server.client() as client:
        while client.get("/stats").json()["connections"] > 1:
            pass
        for _ in range(3):
            address = f"{server.url.replace('http', 'ws', 1)}/changes"
            with connect(address, open_timeout=PATIENCE):
                assert client.get("/stats").json()["connections"] == 1


def test_there_are_so_many_websockets_and_they_are_not_listened_to(server: Serving) -> None:
    address = f"{server.url.replace('http', 'ws', 1)}/changes"
    with ExitStack() as stack:
        for _ in range(MOST):
            opened = stack.enter_context(connect(address, open_timeout=PATIENCE))
        with pytest.raises(InvalidStatus):
            connect(address, open_timeout=PATIENCE)
        opened.send("x" * 100_000)
        with pytest.raises(ConnectionClosedError, match="1009"):
            opened.recv(timeout=PATIENCE)
        with connect(address, open_timeout=PATIENCE):  # the place of that one is free again
            pass


def test_connections_that_ask_nothing_do_not_take_all_files(server: Serving) -> None:
    with ExitStack() as stack:
        opened = [stack.enter_context(connected(server)) for _ in range(3 * MOST)]
        ended = select.select(opened, [], [], PATIENCE)[0]
        assert rest_of(ended[0]) == b""
        files = Path(f"/proc/{server.process.pid}/fd")
        if files.exists():
            assert len(list(files.iterdir())) < 2 * MOST + 60
    while server.get("/health").status_code != 200:
        pass


# TLS


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A certificate for this machine, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("openssl makes the certificate of this test, and is not here")
    folder = tmp_path_factory.mktemp("keys")
    certificate, key = str(folder / "server.pem"), str(folder / "server.key")
    made = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=livefacts"
    )
    files = ["-keyout", key, "-out", certificate, "-addext", "subjectAltName=IP:127.0.0.1"]
    subprocess.run(["openssl", *made.split(), *files], check=True, capture_output=True)
    return certificate, key


def test_a_certificate_is_served_and_old_protocols_are_not(
    tmp_path: Path, keys: tuple[str, str]
) -> None:
    with serving(tmp_path / "kb", "--certificate", keys[0], "--key", keys[1]) as server:
        assert server.url.startswith("https://")
        context = ssl.create_default_context(cafile=keys[0])
        with httpx.Client(base_url=server.url, verify=context, timeout=PATIENCE) as client:
            client.headers.update(server.bearer)
            done = client.post("/sparql", data={"update": "INSERT DATA { <x:a> <x:b> <x:c> }"})
            assert done.json()["counts"]["added"] == 1
            described = client.get("/sparql", headers={"Accept": "application/n-triples"})
            assert f"<{server.url}/sparql>" in described.text
        with connected(server) as plain:
            plain.sendall(b"GET /health HTTP/1.1\r\nHost: x\r\n\r\n")
            assert b"alive" not in rest_of(plain)
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.load_verify_locations(keys[0])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)
            old.maximum_version = ssl.TLSVersion.TLSv1_1
        with connected(server) as plain, pytest.raises((ssl.SSLError, OSError)):
            old.wrap_socket(plain, server_hostname="127.0.0.1")


def test_files_that_make_no_certificate_are_refused(tmp_path: Path, keys: tuple[str, str]) -> None:
    certificate, key = keys
    folder = str(tmp_path / "kb")
    for options in (["--certificate", certificate], ["--key", key]):
        assert "--certificate and --key" in livefacts("serve", folder, *options).err
    swapped = livefacts("serve", folder, "--certificate", key, "--key", certificate)
    assert swapped.code == 1
    assert "PEM" in swapped.err
    missing = livefacts("serve", folder, "--certificate", "/nowhere.pem", "--key", key)
    assert "/nowhere.pem" in missing.err


def test_who_opens_the_server_to_others_is_warned(tmp_path: Path) -> None:
    """The address is one that this machine does not have: the warning comes before."""
    ended = livefacts("serve", str(tmp_path / "kb"), "--host", "192.0.2.1")
    assert ended.code == 1
    assert "warning: --host 192.0.2.1 can be reached from other machines" in ended.err
    assert "tokens can be read" in ended.err

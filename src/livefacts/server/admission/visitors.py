"""Visitors: who sends a request, what they may do, and what they send."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request

from livefacts.server.admission.settings import ServerSettings
from livefacts.server.admission.tokens import AccessScope, AccessToken, Tokens

SEND = "send it as `Authorization: Bearer …`; `livefacts token FOLDER` makes one"
BEARER = {"WWW-Authenticate": 'Bearer realm="livefacts"'}


@dataclass(frozen=True, slots=True)
class Visitor:
    """Where a request comes from, and the token that it brings."""

    address: str
    token: AccessToken | None

    @property
    def name(self) -> str:
        """By which visitors are told apart when they wait: their token, or else their address."""
        return self.address if self.token is None else self.token.id

    def must_have(self, scope: AccessScope) -> None:
        """Refuse what the token does not allow."""
        if self.token is None:
            raise HTTPException(
                401,
                f"this needs a token of the scope {scope}\nhint: {SEND}",
                BEARER,
            )
        if not self.token.scope.includes(scope):
            raise HTTPException(
                403,
                f"the token {self.token.id} allows {self.token.scope}, and this needs {scope}\n"
                f"hint: `livefacts token FOLDER --scope {scope}` makes one",
            )


def visitor_of(request: HTTPConnection, tokens: Tokens) -> Visitor:
    """Who sends a request; a token that nobody has made is refused."""
    address = request.client.host if request.client is not None else "?"
    kind, _, secret = request.headers.get("authorization", "").partition(" ")
    if not kind:
        return Visitor(address, None)
    token = tokens.holder(secret.strip()) if kind.lower() == "bearer" else None
    if token is None:
        raise HTTPException(401, f"the token is not known here\nhint: {SEND}", BEARER)
    return Visitor(address, token)


async def body_of(request: Request, settings: ServerSettings) -> bytes:
    """What a request brings, unless it is too large or takes too long."""
    if int(request.headers.get("content-length") or 0) > settings.body_bytes:
        raise _too_large(settings)
    found = bytearray()
    try:
        async with asyncio.timeout(settings.client_seconds):
            async for chunk in request.stream():
                found += chunk
                if len(found) > settings.body_bytes:
                    raise _too_large(settings)
    except TimeoutError:
        raise HTTPException(
            408, f"the request did not come within {settings.client_seconds:g} s"
        ) from None
    return bytes(found)


async def text_of_body(request: Request, settings: ServerSettings) -> str:
    """The same as text."""
    try:
        return (await body_of(request, settings)).decode()
    except UnicodeDecodeError as error:
        raise HTTPException(400, f"the request is not in UTF-8: {error}") from None


def _too_large(settings: ServerSettings) -> HTTPException:
    return HTTPException(
        413, f"a request may have {settings.body_bytes:,} bytes\nhint: send it in parts"
    )


def whole_number(request: HTTPConnection, name: str) -> int | None:
    """A number in the address of a request, such as `?since=17`."""
    given = request.query_params.get(name)
    if given is None:
        return None
    if not given.isascii() or not given.isdecimal() or len(given) > 18:
        raise HTTPException(400, f"{name}={given} is no whole number")
    return int(given)

"""Tokens: who may do what, by secrets of which the folder knows only digests.

A secret is made from 32 random bytes, so that a plain SHA-256 of it cannot be guessed; it is
shown once, when it is made.  Scopes include each other: who may update may read.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
import time
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from livefacts.errors import DamageError
from livefacts.journal.file_operations import replace_file

FILE = "tokens.json"
PREFIX = "lf_"
"""By which scanners of sources recognize a secret that was published by mistake."""


class AccessScope(StrEnum):
    """What a token allows; each includes those before it."""

    read = "read"
    update = "update"
    rules = "rules"
    admin = "admin"

    def includes(self, other: AccessScope) -> bool:
        """Whether this one allows what the other does.

        >>> AccessScope.rules.includes(AccessScope.update), AccessScope.read.includes(AccessScope.update)
        (True, False)
        """
        order = list(AccessScope)
        return order.index(self) >= order.index(other)


@dataclass(frozen=True, slots=True)
class AccessToken:
    """What is known of a secret: a name for people and logs, its digest, and its scope."""

    id: str
    digest: str
    scope: AccessScope
    made: str


class Tokens:
    """The tokens of a folder; those that another process adds are found when they are used."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / FILE
        self._read_at = -1
        self._known: list[AccessToken] = []

    def __len__(self) -> int:
        return len(self._current())

    def make(self, scope: AccessScope) -> str:
        """A new secret, which is not kept anywhere."""
        secret = PREFIX + secrets.token_urlsafe(32)
        made = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        token = AccessToken(secrets.token_hex(4), _digest(secret), scope, made)
        listed = [asdict(each) for each in [*self._current(), token]]
        replace_file(self._path, json.dumps({"tokens": listed}, indent=1).encode())
        os.chmod(self._path, 0o600)
        return secret

    def holder(self, secret: str) -> AccessToken | None:
        """The token of a secret; every digest is compared, and each takes the same time."""
        digest = _digest(secret)
        found = None
        for token in self._current():
            if hmac.compare_digest(token.digest, digest):
                found = token
        return found

    def _current(self) -> list[AccessToken]:
        try:
            changed_at = self._path.stat().st_mtime_ns
        except FileNotFoundError:
            return []
        if changed_at != self._read_at:
            self._known = _read(self._path)
            self._read_at = changed_at
        return self._known


def _digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


def _read(path: Path) -> list[AccessToken]:
    try:
        listed = json.loads(path.read_bytes())["tokens"]
        return [AccessToken(**{**each, "scope": AccessScope(each["scope"])}) for each in listed]
    except (ValueError, KeyError, TypeError) as error:
        raise DamageError(
            f"{path} cannot be read: {error}", hint="remove it; the next start makes a new token"
        ) from error

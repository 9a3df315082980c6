"""The audit log: a line of JSON for each write, made or refused, and no secrets in it."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.requests import Request

    from livefacts.server.admission.visitors import Visitor

NAME = "livefacts.audit"


class AuditLog:
    """Writes who changed what; Python's logging decides where to."""

    def __init__(self, path: str | None = None) -> None:
        """`path` is a file to append to; without one, standard error."""
        self._log = logging.getLogger(NAME)
        self._log.setLevel(logging.INFO)
        self._log.propagate = False
        handler = logging.FileHandler(path) if path else logging.StreamHandler(sys.stderr)
        handler.setFormatter(logging.Formatter("audit %(message)s"))
        self._log.handlers = [handler]

    def note(
        self, request: Request, visitor: Visitor, action: str, said: Mapping[str, Any]
    ) -> None:
        """One write: when, by which request, from where, with which token, and what it did."""
        line = {
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "request": request.scope.get("request_id"),
            "from": visitor.address,
            "token": visitor.token.id if visitor.token is not None else None,
            "action": action,
            **said,
        }
        self._log.info(json.dumps(line, ensure_ascii=False))

"""Undeclared prefixes: a text of facts may use those that are known, as a query may.

A text is read as it stands.  Only if that fails for a prefix it does not declare, and that is
known from files or rules, the declaration is put above it; mistakes keep their lines.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import replace

from livefacts.errors import InputError, LivefactsError, UnknownPrefixError
from livefacts.model.namespaces import DECLARED

_UNDECLARED = re.compile(r"[Tt]he prefix (?P<name>[^\s:]*): (?:has not been|is not) declared")


def read_with(known: Mapping[str, str], text: str, read: Callable[[str], None]) -> None:
    """Read a text, with declarations of the known prefixes that it lacks."""
    known = {**DECLARED, **known}
    added: list[str] = []
    while True:
        try:
            read("".join(f"@prefix {name}: <{known[name]}> .\n" for name in added) + text)
        except (InputError, UnknownPrefixError) as error:
            found = _UNDECLARED.search(error.message)
            if found is None or found["name"] in added or found["name"] not in known:
                raise _placed(error, found, len(added)) from None
            added.append(found["name"])
        else:
            return


def _placed(error: LivefactsError, found: re.Match[str] | None, lines: int) -> LivefactsError:
    if error.place is not None and error.place.line > lines:
        error.place = replace(error.place, line=error.place.line - lines)
    if found is not None and not error.hint:
        error.hint = f"declare it: @prefix {found['name']}: <http://…> ."
    return error

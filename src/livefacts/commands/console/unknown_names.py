"""Unknown names in a query: those that no fact has, which are most often misspelt."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode, Triple

from livefacts.model.facts import Fact
from livefacts.model.namespaces import DECLARED, XSD
from livefacts.service.queries.results import shown
from livefacts.syntax.sparql.query_text import Token, TokenKind, tokens_of

if TYPE_CHECKING:
    from livefacts.service.reasoner.facade import Reasoner

ANYTHING = "ASK { { $ ?p ?o } UNION { ?s $ ?o } UNION { ?s ?p $ } }"

MOST_COMPARED = 20_000
"""Of so many facts the names are compared, to find the one that was meant."""


def unknown_names(text: str, reasoner: Reasoner) -> Iterator[str]:
    """A sentence for each name of a query that nothing speaks of."""
    for written, iri in _names(text, {**DECLARED, **reasoner.prefixes}):
        if not iri.value.startswith(XSD) and not reasoner.query(ANYTHING.replace("$", str(iri))):
            near = _nearest(iri, reasoner.facts())
            meant = f"; did you mean {shown(near, reasoner.prefixes)}?" if near else ""
            yield f"nothing speaks of {written}{meant}"


def _names(text: str, prefixes: Mapping[str, str]) -> Iterator[tuple[str, NamedNode]]:
    """The names in the body of a query as they are written, with their IRIs, each once."""
    known, seen = dict(prefixes), set()
    before = [None, None, *tokens_of(text)]
    for first, second, token in zip(before, before[1:], before[2:], strict=False):
        assert token is not None, "only the first two are made up"
        if _declares(first, second) and second is not None:
            known[second.text[:-1]] = token.text[1:-1]
        elif not (_is_word(second, "PREFIX", "BASE", "FROM", "NAMED") or token.text in seen):
            seen.add(token.text)
            iri = _iri(token, known)
            if iri is not None and not _is_word(second, "^^"):
                yield token.text, iri


def _declares(first: Token | None, second: Token | None) -> bool:
    return _is_word(first, "PREFIX") and second is not None and second.kind is TokenKind.NAME


def _is_word(token: Token | None, *words: str) -> bool:
    return token is not None and (token.is_word(*words) or token.text in words)


def _iri(token: Token, prefixes: Mapping[str, str]) -> NamedNode | None:
    if token.kind is TokenKind.IRI:
        try:
            return NamedNode(token.text[1:-1])
        except ValueError:
            return None
    prefix, _, local = token.text.partition(":")
    if token.kind is not TokenKind.NAME or prefix not in prefixes or "\\" in local:
        return None
    return NamedNode(prefixes[prefix] + local)


def _nearest(iri: NamedNode, facts: Iterable[Triple | Fact]) -> NamedNode | None:
    """The IRI of the facts that is written nearly like this one, as far as they are looked at."""
    names = set()
    for number, fact in enumerate(facts):
        if number == MOST_COMPARED:
            return None
        if isinstance(fact, Triple):
            names |= {t.value for t in fact if isinstance(t, NamedNode)}
    near = difflib.get_close_matches(iri.value, names, n=1, cutoff=0.8)
    return NamedNode(near[0]) if near else None

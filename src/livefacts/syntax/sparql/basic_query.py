"""Basic queries: SPARQL of triple patterns and comparisons alone, which can be followed as rules.

A text that the grammar does not accept is not wrong: the answer is None, and the query is
evaluated in another way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

from pyoxigraph import RdfFormat, parse

from livefacts.language.formula import Comparison, Slot, TripleAtom, Variable, variables_of
from livefacts.language.graph_pattern import BasicQuery

if TYPE_CHECKING:
    from lark import Lark

BLANK = "_:"
"""What the names of variables begin with that stand for blank nodes of a pattern."""


def parse_basic_query(text: str, prefixes: Mapping[str, str], base: str = "") -> BasicQuery | None:
    """The query, if it is nothing but triple patterns and comparisons; None for all others."""
    from lark.exceptions import UnexpectedInput

    if "\\u" in text or "\\U" in text:
        return None
    try:
        tree = _parser().parse(text)
    except UnexpectedInput:
        return None
    try:
        query = _Reader(dict(prefixes), base).read(tree)
    except _NotPlainError:
        return None
    bound = set(query.variables)
    asked = [v for part in query.comparisons for v in variables_of(part)]
    asked += [*query.selected, *(v for atom in query.template for v in variables_of(atom))]
    return query if query.patterns and bound.issuperset(asked) else None


class _NotPlainError(Exception):
    """Something in the text is beyond this reader."""


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(
        Path(__file__).with_suffix(".lark").read_text(encoding="utf-8"),
        parser="lalr",
        maybe_placeholders=False,
    )


class _Reader:
    """Reads one tree, with the prefixes that are declared in it."""

    def __init__(self, prefixes: dict[str, str], base: str) -> None:
        self._prefixes = prefixes
        self._base = base

    def read(self, tree: Any) -> BasicQuery:
        *declarations, query = tree.children
        for node in declarations:
            iri = urljoin(self._base, node.children[-1][1:-1])
            if node.data == "base":
                self._base = iri
            else:
                self._prefixes[node.children[0][:-1]] = iri
        return self._query(query)

    def _query(self, node: Any) -> BasicQuery:
        group = node.children[-1]
        patterns = tuple(self._triples(group))
        comparisons = tuple(self._comparisons(group))
        form = str(node.data).upper()
        if form == "CONSTRUCT":
            template = tuple(self._triples(node.children[0]))
            if any(v.name.startswith(BLANK) for atom in template for v in variables_of(atom)):
                raise _NotPlainError
            return BasicQuery(form, patterns, comparisons, template=template)
        if form == "ASK":
            return BasicQuery(form, patterns, comparisons)
        names = [token for token in node.children[:-1] if token.type == "VARIABLE"]
        selected = tuple(Variable(str(name[1:])) for name in names)
        query = BasicQuery(form, patterns, comparisons)
        if not selected:
            shown = {v for v in query.variables if not v.name.startswith(BLANK)}
            selected = tuple(sorted(shown, key=lambda variable: variable.name))
        distinct = any(token.type == "DISTINCT" for token in node.children[:-1])
        return BasicQuery(form, patterns, comparisons, selected, distinct)

    def _triples(self, node: Any) -> Iterator[TripleAtom]:
        for same in node.children:
            if same.data != "same_subject":
                continue
            subject, *rest = same.children
            for verb, *objects in (part.children for part in rest):
                for each in objects:
                    yield TripleAtom(self._slot(subject), self._slot(verb), self._slot(each))

    def _comparisons(self, group: Any) -> Iterator[Comparison]:
        for node in group.find_data("comparison"):
            left, operator, right = node.children
            yield Comparison(self._slot(left), str(operator), self._slot(right))

    def _slot(self, part: Any) -> Slot:
        if not hasattr(part, "data"):
            if part.type == "VARIABLE":
                return Variable(str(part[1:]))
            if part.type == "BLANK":
                return Variable(str(part))
            return self._term(str(part))
        value, *kind = part.children
        mark = "" if not kind or kind[0].type == "LANGUAGE" else "^^"
        return self._term(value + mark + "".join(kind))

    def _term(self, text: str) -> Slot:
        """A constant: SPARQL writes terms as Turtle does."""
        header = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in self._prefixes.items())
        verb = text if text == "a" else "<x:x>"
        given = "<x:x>" if text == "a" else text
        try:
            (quad,) = parse(
                f"{header}<x:x> {verb} {given} .", RdfFormat.TURTLE, base_iri=self._base or None
            )
        except (SyntaxError, ValueError):
            raise _NotPlainError from None
        term: Slot = quad.predicate if text == "a" else quad.object
        return term

"""RDF Patch: changes as text, one row a line.

    H id "7" .                        a header: a name and a term
    TX .                              a transaction begins
    PA ex: <http://example.org/> .    a prefix from here on; PD ex: . forgets it
    PA "ex" "http://example.org/" .   the same, as Jena writes it
    D ex:tom ex:in ex:hall .          a triple goes; with a fourth term, from that graph
    A isIn(tom, kitchen) .            a predicate fact comes, as in the rule language
    TC .                              the transaction is done; TA . would drop its rows

Labels of blank nodes, `_:f1_x` or `<_:f1_x>`, are those that a reasoner hands out, not
local to the text.  Rows outside of transactions count; what an aborted one holds is
passed over; a text that ends inside a transaction is no patch.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, RdfFormat, Triple, parse

from livefacts.errors import InputError, Place, RuleError, UnknownPrefixError
from livefacts.language.rule_text import write_fact
from livefacts.model.facts import Fact, Term
from livefacts.model.namespaces import DECLARED, RDF
from livefacts.store.terms.ntriples import reason_of
from livefacts.syntax.input.files import Source, name_of, open_source
from livefacts.syntax.rulelang import rule_parser

Statement: TypeAlias = Triple | Quad | Fact
"""A triple of the default graph, a quad of a named one, or a predicate fact."""

TOGETHER = 4096
"""Rows that are parsed at once."""
DEEPEST_TERM = 100
"""Triple terms in one row."""
KNOWN = "rows begin with A, D, H, TX, TC, TA, PA or PD, and end with a dot"
DECLARE = "declare it in a row before this one: PA ex: <http://example.org/> ."

_ROW = re.compile(r"\s*([A-Za-z]+)(?=[\s.]|$)\s*(.*)")
_NOTHING = re.compile(r"\.?\s*(?:#.*)?")
_HEADER = re.compile(r"([^\W\d][\w.-]*)\s+(\S.*)")
_PREFIX = re.compile(r'"?([\w.-]*):?"?(?:\s+[<"](?P<iri>[^<>"{}|^`\\\s]*)[>"])?\s*\.?\s*(?:#.*)?')
_FACT = re.compile(r"[^\W\d]\w*\s*[(.]")
_USUAL = re.compile(r'(?:<[^<>\s]*>|_:\S+)\s+<[^<>\s]*>\s+["<_]')
_NODE = re.compile(r'"(?:[^"\\]|\\.)*"|<_:([^<>\s]*)>')
_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|<[^<>\s]*>|(#.*)')
_NAME = re.compile(r"([\w.-]*):")
_LIST = "<x:x> <x:x> ( "
_FIRST = NamedNode(RDF + "first")


class PatchRow(NamedTuple):
    """One row: whether the statement comes or goes, and where it stands."""

    adds: bool
    statement: Statement
    place: Place


@dataclass(frozen=True, slots=True)
class Patch:
    """The rows that count, in their order; those of aborted transactions are only counted."""

    rows: tuple[PatchRow, ...]
    headers: Mapping[str, Term] = field(default_factory=dict)
    prefixes: Mapping[str, str] = field(default_factory=dict)
    aborted: int = 0


@dataclass(frozen=True, slots=True)
class _Line:
    """A row as it is written: its statement is still text, from this column on."""

    adds: bool
    text: str
    place: Place
    prefixes: Mapping[str, str]

    def refuse(self, reason: str, hint: str = "", column: int = 1) -> InputError:
        """The error that points into the statement."""
        line = self.place
        start = line.text.index(self.text) if self.text else 0
        place = Place(line.file, line.line, start + column, line.text)
        return InputError(reason, place=place, hint=hint)


def read_patch(source: Source) -> Patch:
    """A patch from a file, packed or not, or from its text as bytes; "-" is standard input."""
    name = name_of(source)
    with open_source(source) as stream:
        content = stream.read()
    try:
        return parse_patch(content.decode(), name)
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            "a patch is UTF-8 text, and this line is not", place=Place(name, line, 1)
        ) from None


def parse_patch(text: str, name: str = "<text>") -> Patch:
    """The patch that a text is; all of it, or an `InputError` that points at the line.

    >>> [str(row.statement) for row in parse_patch("A p(a) . \\nTX .\\nD q .\\nTC .").rows]
    ['p(a)', 'q']
    """
    reader = _Reader(name)
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.strip() and not line.lstrip().startswith("#"):
            reader.take(Place(name, number, 1, line.rstrip("\r")))
    return reader.patch()


class _Reader:
    """Takes the lines of a patch, one after the other, and follows its transactions."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._done: list[_Line] = []
        self._open: list[_Line] = []
        self._began: Place | None = None
        self._headers: dict[str, Term] = {}
        self._prefixes: dict[str, str] = {}
        self._declared: dict[str, str] = {}
        self._aborted = 0

    def take(self, place: Place) -> None:
        """A line that is neither empty nor a comment."""
        match = _ROW.fullmatch(place.text)
        operation, rest = (match[1], match[2]) if match else ("", "")
        line = _Line(operation == "A", rest, place, self._used(rest))
        if operation in ("A", "D"):
            (self._open if self._began else self._done).append(line)
        elif operation == "H":
            self._take_header(line)
        elif operation in ("PA", "PD"):
            self._take_prefix(operation, line)
        elif operation in ("TX", "TC", "TA") and _NOTHING.fullmatch(rest):
            self._take_bound(operation, place)
        else:
            raise InputError("this is no row of a patch", place=place, hint=KNOWN)

    def _used(self, text: str) -> Mapping[str, str]:
        """The prefixes that a row may use, as they are here: it is read later."""
        if not self._prefixes:
            return {}
        return {
            name: self._prefixes[name] for name in _NAME.findall(text) if name in self._prefixes
        }

    def _take_header(self, line: _Line) -> None:
        match = _HEADER.fullmatch(line.text)
        terms = _terms(_Line(True, match[2], line.place, line.prefixes)) if match else []
        if match is None or len(terms) != 1:
            raise line.refuse("this is no header", 'a header is a word and a term: H id "7" .')
        self._headers[match[1]] = terms[0]

    def _take_prefix(self, operation: str, line: _Line) -> None:
        match = _PREFIX.fullmatch(line.text)
        if match is None or (match["iri"] is None) is (operation == "PA"):
            wanted = "PA ex: <http://example.org/> ." if operation == "PA" else "PD ex: ."
            raise line.refuse("this declares no prefix", f"write {wanted}")
        if operation == "PA":
            self._prefixes[match[1]] = self._declared[match[1]] = match["iri"]
        else:
            self._prefixes.pop(match[1], None)

    def _take_bound(self, operation: str, place: Place) -> None:
        if (operation == "TX") is (self._began is not None):
            raise InputError(
                f"{operation} {'inside' if self._began else 'outside of'} a transaction",
                place=place,
                hint="a transaction is TX . then rows, then TC . or TA .",
            )
        if operation == "TC":
            self._done += self._open
        elif operation == "TA":
            self._aborted += len(self._open)
        self._open = []
        self._began = place if operation == "TX" else None

    def patch(self) -> Patch:
        """All of it, now that the text has ended."""
        if self._began is not None:
            raise InputError(
                "the patch ends inside a transaction that begins here",
                place=self._began,
                hint="nothing was changed; if the file is cut off, fetch it again, "
                "else end it with TC .",
            )
        statements = _statements(self._done)
        rows = [
            PatchRow(line.adds, s, line.place)
            for line, s in zip(self._done, statements, strict=True)
        ]
        return Patch(tuple(rows), self._headers, self._declared, self._aborted)


def _statements(lines: Sequence[_Line]) -> Iterator[Statement]:
    """What the rows say; rows of N-Quads are parsed many at a time."""
    usual: list[_Line] = []
    for line in lines:
        if _USUAL.match(line.text):
            usual.append(line)
            if len(usual) < TOGETHER:
                continue
        yield from _usual(usual)
        usual = []
        if not _USUAL.match(line.text):
            yield _fact(line) if _FACT.match(line.text) else _statement(line)
    yield from _usual(usual)


def _usual(lines: list[_Line]) -> Iterator[Statement]:
    """Rows that look like N-Quads; one by one if something is wrong with one of them."""
    text = "\n".join(_NODE.sub(_label, line.text) for line in lines)
    try:
        if any(line.text.count("<<") > DEEPEST_TERM for line in lines):
            raise SyntaxError
        quads = list(parse(text, format=RdfFormat.N_QUADS))
    except SyntaxError:
        quads = []
    if len(quads) == len(lines):
        yield from map(_plain, quads)
    else:
        yield from map(_statement, lines)


def _label(match: re.Match[str]) -> str:
    return match[0] if match[1] is None else f"_:{match[1]}"


def _plain(quad: Quad) -> Triple | Quad:
    return quad.triple if isinstance(quad.graph_name, DefaultGraph) else quad


def _statement(line: _Line) -> Statement:
    terms = _terms(line)
    if len(terms) not in (3, 4):
        raise line.refuse(
            f"a row has three terms, or four with a graph, and this has {len(terms)}",
            "predicate facts are written isIn(a, b)",
        )
    try:
        return Triple(*terms) if len(terms) == 3 else Quad(*terms)  # type: ignore[arg-type]
    except TypeError:
        raise line.refuse(
            "this is not a statement of RDF", "subject and graph are no literals, predicates IRIs"
        ) from None


def _terms(line: _Line) -> list[Term]:
    """The terms of a row, as Turtle writes them, with the prefixes that hold there."""
    # As a list of Turtle they are parsed by pyoxigraph and come out in their order.
    body = _without_dot(line)
    declared = " ".join(f"PREFIX {name}: <{iri}>" for name, iri in line.prefixes.items())
    if body.count("<<") > DEEPEST_TERM:
        raise line.refuse(f"more than {DEEPEST_TERM} triple terms in a row")
    try:
        quads = list(parse(f"{declared}\n{_LIST}{body} ) .", format=RdfFormat.TURTLE))
    except SyntaxError as error:
        column = max(1, (error.offset or 1) - len(_LIST))
        raise line.refuse(_reason(error), _hint(error), min(column, len(body))) from None
    terms: list[Term] = [quad.object for quad in quads if quad.predicate == _FIRST]
    unnamed = any(isinstance(term, BlankNode) and str(term) not in body for term in terms)
    if unnamed or len(quads) != 2 * len(terms) + 1:
        raise line.refuse("neither lists nor [ ] can stand in a row", "give the node a label")
    return terms


def _without_dot(line: _Line) -> str:
    text = line.text
    for match in _COMMENT.finditer(text):
        if match[1] is not None:
            text = text[: match.start()]
            break
    text = text.rstrip()
    if not text.endswith("."):
        raise line.refuse("the dot at the end is missing", KNOWN, len(text) + 1)
    return _NODE.sub(_label, text[:-1])


def _reason(error: SyntaxError) -> str:
    return re.sub(r" \(line \d+\)$", "", reason_of(error))


def _hint(error: SyntaxError) -> str:
    return DECLARE if "The prefix" in str(error) else ""


def _fact(line: _Line) -> Fact:
    """A predicate fact, in the rule language."""
    known = ((name, iri) for name, iri in line.prefixes.items() if name not in DECLARED)
    declared = "".join(f"@prefix {name}: <{iri}> . " for name, iri in known)
    try:
        program = rule_parser.parse(f"{declared}\n{line.text}", blank_nodes=BlankNode)
    except RuleError as error:
        column = error.place.column if error.place else 1
        hint = DECLARE if isinstance(error, UnknownPrefixError) else error.hint
        raise line.refuse(error.message, hint, column) from None
    if len(program.facts) != 1 or program.rules or not isinstance(program.facts[0], Fact):
        raise line.refuse("a row has one fact", "write one row a line")
    return program.facts[0]


def write_patch(number: int, removed: Iterable[str], added: Iterable[str]) -> str:
    """A patch of rows that go and rows that come; the number of the change is its id."""
    rows = "".join(_marked("D", removed)) + "".join(_marked("A", added))
    return f'H id "{number}" .\nTX .\n{rows}TC .\n'


def _marked(mark: str, texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        if text:
            yield f"{mark} " + text[:-1].replace("\n", f"\n{mark} ") + "\n"


def fact_lines(facts: Iterable[Fact]) -> str:
    """Predicate facts as rows have them, a line each."""
    return "".join(f"{write_fact(fact, {})}\n" for fact in facts)

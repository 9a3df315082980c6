"""The text of a mapping: from a text such as `reading(s=$.id, v=$.value) at $.ts` to a map.

Constants, prefixes and comments are those of the rule language.  The order of arguments is that
of the text; names before them are for people, and have to be the same wherever they are given.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Set
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from pyoxigraph import NamedNode

from livefacts.errors import MapError, RuleError
from livefacts.language.formula import RESERVED
from livefacts.model.facts import Symbol
from livefacts.model.namespaces import RDF
from livefacts.syntax.input.files import name_of, open_source
from livefacts.syntax.json_map.fact_lines import FactLine, JsonMap
from livefacts.syntax.json_map.term_templates import (
    UNITS,
    EventId,
    FactValue,
    FixedTerm,
    IriTemplate,
    PathValue,
    Slot,
    TimeValue,
)
from livefacts.syntax.json_map.value_paths import Each, JsonPath, Step
from livefacts.syntax.rulelang import rule_parser
from livefacts.syntax.rulelang.constants import SCHEME, Constants
from livefacts.syntax.rulelang.source_text import MistakeError, RuleText, rule_text

if TYPE_CHECKING:
    from lark import Lark, Token, Tree, UnexpectedInput

_STEP = re.compile(r"\.(\w+)|\[([0-9]+)\]|\[(\*)\]|\[([\"'].*?(?<!\\)(?:\\\\)*[\"'])\]")
_IN_PATH = re.compile(r"\$[^\s,()]*$")
_TEXT_STARTS = ("$", "@prefix", "PREFIX", "#", "[", "retract ")
WORDS = {
    "LPAR": "(",
    "COMMA": "a comma",
    "RPAR": "a closing )",
    "RSQB": "a closing ]",
    "EQUAL": "=",
    "AT": "at $.path",
    "TIME": "a path such as $.ts",
    "STREAM": "stream <iri>",
    "DOT": "the final dot",
    "IRI": "an IRI in < >",
    "PREFIX_NAME": "a prefix with its colon (ex:)",
}
HINT = "a line is written reading(s=$.id, v=$.value) at $.ts, or [$.id, ex:value, $.value] at $.ts"

PATH_HINT = 'a path has steps .name, ["any name"], [0] and [*], and ? at its end: $["room-1"].t?'


def parse_map(text: str, file: str = "<map>") -> JsonMap:
    """The map written in this text; `file` is the name that errors give it.

    >>> json_map = parse_map("reading(s=$.id, v=$.value) at $.ts")
    >>> [found.fact for found in json_map.facts('{"id": "s1", "value": 21.5, "ts": 7}')]
    [reading(s1, 21.5)]
    """
    try:
        source = rule_text(text, file)
        reader = _MapReader(source)
        for statement in _tree("\n".join(source.lines), source).children:
            reader.statement(statement)  # type: ignore[arg-type]
        return reader.json_map()
    except RuleError as error:
        raise MapError(error.message, place=error.place, hint=error.hint) from None


def read_map(given: str | os.PathLike[str]) -> JsonMap:
    """The map in a file, or written right here.

    >>> read_map("hot($.room)").is_timed
    False
    """
    if isinstance(given, str) and not os.path.exists(given) and _looks_like_a_map(given):
        return parse_map(given)
    with open_source(given) as stream:
        content = stream.read()
    try:
        return parse_map(content.decode(), name_of(given))
    except UnicodeDecodeError:
        raise MapError(f"{name_of(given)} is no map: it is not UTF-8") from None


def _looks_like_a_map(text: str) -> bool:
    return text.lstrip().startswith(_TEXT_STARTS) or "$" in text or "\n" in text or "(" in text


class _MapReader:
    """Makes lines of parse trees, with the prefixes declared so far."""

    def __init__(self, text: RuleText) -> None:
        self._text = text
        self._constants = Constants(text)
        self._lines: list[FactLine] = []
        self._names: dict[str, list[str | None]] = {}

    def json_map(self) -> JsonMap:
        if not self._lines:
            raise MapError("this map has no line", place=self._text.at(1, 1), hint=HINT)
        return JsonMap(tuple(self._lines))

    def statement(self, tree: Tree[Token]) -> None:
        if tree.data == "prefix":
            self._constants.declare(tree.children[1], tree.children[2])  # type: ignore[arg-type]
        else:
            self._lines.append(self._line(tree))

    def _line(self, tree: Tree[Token]) -> FactLine:
        parts = {getattr(part, "data", "retract"): part for part in tree.children}
        time = self._time(parts["at"].children[1]) if "at" in parts else None  # type: ignore[arg-type, union-attr]
        stream = self._stream(parts["stream"].children[1]) if "stream" in parts else None  # type: ignore[arg-type, union-attr]
        if "triple" in parts:
            name, values = None, self._triple(parts["triple"])  # type: ignore[arg-type]
        else:
            name, values = self._predicate(parts["predicate"])  # type: ignore[arg-type]
        line = FactLine(name, values, time, stream, "retract" in parts)
        self._check_lists(line, parts.get("triple") or parts["predicate"])  # type: ignore[arg-type]
        return line

    # facts

    def _predicate(self, tree: Tree[Token]) -> tuple[str, tuple[FactValue, ...]]:
        name: Token = tree.children[0]  # type: ignore[assignment]
        arguments: list[Tree[Token]] = tree.children[1:]  # type: ignore[assignment]
        names = [each.children[0] if len(each.children) > 1 else None for each in arguments]
        self._check_names(name, names)  # type: ignore[arg-type]
        values = [self._value(each.children[-1], Slot.ARGUMENT) for each in arguments]
        return str(name), tuple(values)

    def _check_names(self, name: Token, names: list[Token | None]) -> None:
        """Arguments have the number, the names and the order that they have elsewhere."""
        for at, each in enumerate(names):
            if each is not None and each in names[:at]:
                raise self._text.refuse(each, f"{name} has two arguments called {each}")
        known = self._names.setdefault(str(name), [None] * len(names))
        if len(known) != len(names):
            raise self._text.refuse(
                name,
                f"{name} has {len(names)} arguments here, and {len(known)} above",
                "a predicate has one number of arguments, everywhere",
            )
        for at, each in enumerate(names):
            if each is not None and known[at] not in (None, each):
                raise self._text.refuse(
                    each,
                    f"argument {at + 1} of {name} is called {each} here, and {known[at]} above",
                    "arguments are in the order of the text; names do not move them",
                )
            known[at] = known[at] if each is None else str(each)

    def _triple(self, tree: Tree[Token]) -> tuple[FactValue, ...]:
        _, subject, predicate, object_ = tree.children
        if getattr(predicate, "type", "") == "NAME" and predicate == "a":
            made: FactValue = FixedTerm(NamedNode(RDF + "type"))
        else:
            made = self._value(predicate, Slot.NODE, "predicate")
        return (
            self._value(subject, Slot.NODE, "subject"),
            made,
            self._value(object_, Slot.OBJECT),
        )

    # values

    def _value(self, node: Tree[Token] | Token, slot: Slot, what: str = "") -> FactValue:
        kind = getattr(node, "data", "")
        first: Token = node.children[0] if kind else node  # type: ignore[union-attr, assignment]
        if kind == "path":
            return self._path_value(node, slot)  # type: ignore[arg-type]
        if kind == "event":
            return EventId()
        if kind == "template":
            return self._template(first)
        term = self._constants.part(node)
        if isinstance(term, Symbol) and slot is not Slot.ARGUMENT:
            raise self._text.refuse(
                first,
                f"the symbol {term} cannot stand in a triple",
                f'write an IRI or the string "{term}"; a path begins with a dollar: $.{term}',
            )
        if what and not isinstance(term, NamedNode):
            raise self._text.refuse(first, f"the {what} of a triple is an IRI, not {term}")
        return FixedTerm(term)

    def _path_value(self, tree: Tree[Token], slot: Slot) -> PathValue:
        token: Token = tree.children[0]  # type: ignore[assignment]
        path = self._path(token, str(token))
        if len(tree.children) == 1:
            return PathValue(path, slot)
        datatype = self._constants.constant(tree.children[1])  # type: ignore[arg-type]
        assert isinstance(datatype, NamedNode), "the grammar lets only IRIs follow ^^"
        if slot is Slot.NODE:
            raise self._text.refuse(token, f"{slot.value} has no datatype: it is an IRI")
        if datatype.value.startswith(RDF + "lang") or datatype.value == RDF + "dirLangString":
            raise self._text.refuse(token, "a literal of this datatype needs a language")
        return PathValue(path, slot, datatype)

    def _template(self, token: Token) -> IriTemplate:
        """`<http://…/{$.id}>`: the texts around the paths, and the paths."""
        pieces = re.split(r"\{([^{}]*)\}", token[1:-1])
        parts: list[str | JsonPath] = []
        for at, piece in enumerate(pieces):
            if at % 2 and not _is_path(piece):
                raise self._text.refuse(token, f"{{{piece}}} is no path", "write {$.id}")
            if at % 2:
                parts.append(self._path(token, piece))
            elif piece:
                parts.append(piece)
        is_relative = len(parts) > 1 and not SCHEME.match(pieces[0])
        if is_relative:
            raise self._text.refuse(
                token,
                f"{token} is a relative IRI",
                "begin with its scheme, as http:; <{$.id}> alone takes the IRI that is there",
            )
        return IriTemplate(tuple(parts))

    def _path(self, token: Token, text: str) -> JsonPath:
        is_optional = text.endswith("?")
        steps: list[Step] = []
        for name, number, star, quoted in _STEP.findall(text.removesuffix("?")):
            if star:
                steps.append(Each.ELEMENT)
            elif number:
                steps.append(int(number))
            else:
                steps.append(name or self._unquoted(token, quoted))
        return JsonPath(tuple(steps), is_optional)

    def _unquoted(self, token: Token, quoted: str) -> str:
        inside = quoted[1:-1]
        if quoted[0] == "'":
            inside = inside.replace("\\'", "'").replace('"', '\\"')
        try:
            return str(json.loads(f'"{inside}"'))
        except ValueError:
            raise self._text.refuse(token, f"{quoted} has an escape that JSON has not") from None

    def _time(self, token: Token) -> TimeValue:
        path, unit = re.fullmatch(r"(.*?)(?:[ \t]+(\w+))?", token).groups()  # type: ignore[union-attr]
        if unit and unit not in UNITS:
            raise self._text.refuse(
                token,
                f"`{unit}` is no unit of times",
                f"times since 1970 are in {', '.join(UNITS)}; time points and date-times have none",
            )
        return TimeValue(self._path(token, path), unit)

    def _stream(self, token: Token) -> FixedTerm | IriTemplate:
        if token.type == "TEMPLATE":
            return self._template(token)
        return FixedTerm(self._constants.constant(token))

    def _check_lists(self, line: FactLine, tree: Tree[Token]) -> None:
        """All paths go through the same lists, as far as they go."""
        longest = max((path.ranges for path in line.paths), key=len, default=())
        for path in line.paths:
            if path.ranges != longest[: len(path.ranges)]:
                first: Token = tree.children[0]  # type: ignore[assignment]
                raise self._text.refuse(
                    first,
                    f"{path} ranges over another list than {JsonPath(longest[-1])}[*]",
                    "write a line for each list",
                )


def _is_path(text: str) -> bool:
    return _path_pattern().fullmatch(text) is not None


@cache
def _path_pattern() -> re.Pattern[str]:
    """How the grammar has paths."""
    [terminal] = [each for each in _parser().terminals if each.name == "PATH"]
    return re.compile(terminal.pattern.value)


def _tree(text: str, source: RuleText) -> Tree[Token]:
    from lark import UnexpectedInput

    try:
        return _parser().parse(text)
    except UnexpectedInput as error:
        raise _explained(error, source) from None
    except MistakeError as mistake:
        raise source.refuse(mistake.token, mistake.message, mistake.hint) from None


def _explained(error: UnexpectedInput, source: RuleText) -> MapError:
    """What was expected, and where."""
    accepted = error.interactive_parser.accepts()  # type: ignore[no-untyped-call]
    at_end = getattr(getattr(error, "token", None), "type", "") == "$END"
    place = source.end() if at_end else source.in_block(error.line, error.column)
    rest = place.text[place.column - 1 :]
    before = "" if at_end else f" before `{rest[:20]}`"
    is_path = _IN_PATH.search(place.text[: place.column - 1]) is not None or rest[:1] == "$"
    return MapError(
        f"{_in_words(accepted)} was expected{before}",
        place=place,
        hint=PATH_HINT if is_path and not at_end else HINT,
    )


def _in_words(accepted: Set[str]) -> str:
    if "PATH" in accepted:
        return "a path such as $.id or a constant"
    words = [word for name, word in WORDS.items() if name in accepted]
    if "OPEN_TRIPLE" in accepted:
        words.append("a fact")
    return " or ".join(words)


def _refuse_word(token: Token) -> Token:
    """Called for each bare word: words of the rule language are not names."""
    if token not in RESERVED:
        return token
    hint = "a time is a path: at $.ts" if token == "at" else f'choose another name, or "{token}"'
    raise MistakeError(token, f"`{token}` is a word of the language and cannot stand here", hint)


@cache
def _parser() -> Lark:
    from lark import Lark

    return Lark(
        Path(__file__).with_suffix(".lark").read_text(encoding="utf-8"),
        parser="lalr",
        maybe_placeholders=False,
        import_paths=[str(Path(rule_parser.__file__).parent)],
        lexer_callbacks={"NAME": _refuse_word},
    )

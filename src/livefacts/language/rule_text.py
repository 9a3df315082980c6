"""Rule text: rules and programs written in the rule language.

Reading back what is written here gives an equal rule: variables keep their names, and
terms their lexical forms.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.errors import RuleError
from livefacts.language.formula import (
    RESERVED,
    Aggregate,
    Arithmetic,
    Comparison,
    Expression,
    Formula,
    FunctionCall,
    Negation,
    PredicateAtom,
    Timed,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Program, Rule
from livefacts.language.windows import Window
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import DECLARED, RDF_TYPE, XSD
from livefacts.model.running_totals import IN_RULES

STRENGTH = {"+": 1, "-": 1, "*": 2, "/": 2}
WORD = re.compile(r"[^\W\d]\w*")
LOCAL_NAME = re.compile(r"[^\W\d]\w*(?:-\w+)*")
BARE = {
    XSD + "integer": re.compile(r"-?[0-9]+"),
    XSD + "decimal": re.compile(r"-?[0-9]*\.[0-9]+"),
    XSD + "double": re.compile(r"-?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)[eE][+-]?[0-9]+"),
    XSD + "boolean": re.compile("true|false"),
}


def write_rule(rule: Rule, prefixes: Mapping[str, str] = DECLARED) -> str:
    """The rule on one line, with its id if it was named.

    A blank node in a rule cannot be written so that it can be read back.
    """
    name = f"@id {rule.id} " if rule.id and not rule.numbered else ""
    head = "false" if rule.head is None else write_formula(rule.head, prefixes)
    at = "" if rule.at is None else f"at {_value(rule.at, prefixes)} "
    return f"{name}{at}{head} :- {_conjunction(rule.body, prefixes)} ."


def write_fact(fact: Triple | Fact, prefixes: Mapping[str, str] = DECLARED) -> str:
    """The fact on one line; its blank nodes are written with their labels."""
    if isinstance(fact, Triple):
        return f"{write_formula(TripleAtom(*fact), prefixes)} ."
    return f"{write_formula(PredicateAtom(*fact), prefixes)} ."


def write_program(program: Program) -> str:
    """The whole program, with its prefixes and limit in front."""
    prefixes = DECLARED | dict(program.prefixes)
    lines = [f"@prefix {p}: <{iri}> ." for p, iri in prefixes.items() if p not in DECLARED]
    if program.limit is not None:
        lines.append(f"@limit {program.limit} .")
    if program.tick is not None:
        lines.append(f"@tick {program.tick} .")
    for name, length in program.retained:
        lines.append(f"@retain {_name(name, prefixes)} {length} .")
    for stream, window in program.streams:
        lines.append(f"@stream {_iri(stream, prefixes)} in {_window(window, prefixes)} .")
    lines += [write_rule(rule, prefixes) for rule in program.rules]
    lines += [write_fact(fact, prefixes) for fact in program.facts]
    return "".join(f"{line}\n" for line in lines)


def write_formula(formula: Formula, prefixes: Mapping[str, str] = DECLARED) -> str:
    """One formula of a body, or a head."""
    match formula:
        case PredicateAtom(name, ()):
            return _word(name)
        case PredicateAtom(name, arguments):
            return f"{_word(name)}({', '.join(_value(a, prefixes) for a in arguments)})"
        case TripleAtom(s, p, o):
            middle = "a" if p == RDF_TYPE else _value(p, prefixes)
            return f"[{_value(s, prefixes)}, {middle}, {_value(o, prefixes)}]"
        case Comparison(left, operator, right):
            return f"{_value(left, prefixes)} {operator} {_value(right, prefixes)}"
        case Negation(atom):
            return f"not {write_formula(atom, prefixes)}"
        case Timed():
            return _timed(formula, prefixes)
        case Aggregate():
            return write_aggregate(formula, _conjunction(formula.body, prefixes))


def write_aggregate(aggregate: Aggregate, body: str) -> str:
    """An aggregate with what its braces match."""
    function, parameter = aggregate.function, aggregate.parameter
    if parameter is not None:
        is_text = IN_RULES[function].parameter == "separator"
        function += f"({Literal(parameter) if is_text else parameter})"
    return f"{aggregate.result} = {function} {{ {', '.join(map(str, aggregate.listed))} : {body} }}"


def _timed(formula: Timed, prefixes: Mapping[str, str]) -> str:
    words = ["not"] if formula.denied else []
    words.append(formula.operator)
    if formula.time is not None:
        words.append(_value(formula.time, prefixes))
    if formula.negated:
        words.append("not")
    words.append(write_formula(formula.atom, prefixes))
    if formula.window is not None:
        words.append(f"in {_window(formula.window, prefixes)}")
    return " ".join(words)


def _window(window: Window, prefixes: Mapping[str, str]) -> str:
    text, of = str(window), getattr(window, "of", None)
    if of is not None:
        text += f" of {_name(of, prefixes)}"
    on = "" if window.stream is None else f" on {_iri(window.stream, prefixes)}"
    return f"[{text}{on}]{' full' if getattr(window, 'full', False) else ''}"


def _name(name: str | NamedNode, prefixes: Mapping[str, str]) -> str:
    return _iri(name, prefixes) if isinstance(name, NamedNode) else _word(name)


def write_term(term: Term, prefixes: Mapping[str, str] = DECLARED) -> str:
    """One term; a symbol by its name, whatever that is.

    >>> write_term(RDF_TYPE), write_term(Literal("x", language="en"))
    ('rdf:type', '"x"@en')
    """
    return term.name if isinstance(term, Symbol) else _value(term, prefixes)


def _conjunction(body: Iterable[Formula], prefixes: Mapping[str, str]) -> str:
    return ", ".join(write_formula(formula, prefixes) for formula in body)


def _value(value: Expression, prefixes: Mapping[str, str]) -> str:
    match value:
        case Arithmetic(operator, left, right):
            strength = STRENGTH[operator]
            before = _operand(left, strength, prefixes)
            return f"{before} {operator} {_operand(right, strength + 1, prefixes)}"
        case FunctionCall(function, argument):
            return f"{function}({_value(argument, prefixes)})"
        case NamedNode():
            return _iri(value, prefixes)
        case Literal():
            return _literal(value, prefixes)
        case Symbol(name):
            return _word(name)
        case Triple(subject=s, predicate=p, object=o):
            return f"<<( {_value(s, prefixes)} {_value(p, prefixes)} {_value(o, prefixes)} )>>"
        case BlankNode() | Variable():
            return str(value)


def _operand(value: Expression, strength: int, prefixes: Mapping[str, str]) -> str:
    text = _value(value, prefixes)
    weaker = isinstance(value, Arithmetic) and STRENGTH[value.operator] < strength
    return f"({text})" if weaker else text


def _iri(iri: NamedNode, prefixes: Mapping[str, str]) -> str:
    for prefix, start in prefixes.items():
        if iri.value.startswith(start) and LOCAL_NAME.fullmatch(iri.value[len(start) :]):
            return f"{prefix}:{iri.value[len(start) :]}"
    return str(iri)


def _literal(literal: Literal, prefixes: Mapping[str, str]) -> str:
    datatype = literal.datatype
    bare = BARE.get(datatype.value)
    if bare is not None and bare.fullmatch(literal.value):
        return literal.value
    if literal.language is not None or datatype.value == XSD + "string":
        return str(literal)
    return f"{Literal(literal.value)}^^{_iri(datatype, prefixes)}"


def _word(name: str) -> str:
    if WORD.fullmatch(name) is None or name in RESERVED:
        raise RuleError(
            f"the name {name} cannot be written in the rule language",
            hint="a name is a letter or _, then letters, digits and _",
        )
    return name

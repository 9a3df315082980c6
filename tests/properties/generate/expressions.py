"""Random expressions of SPARQL, and rows of odd terms for their variables.

Terms are canonical and of a kind that pyoxigraph can write: it takes "01" and "1" for one term.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from pyoxigraph import BlankNode, Literal, NamedNode

from livefacts.language.expressions import Call, Constant, QueryExpression
from livefacts.language.formula import Variable
from livefacts.model.facts import Term
from livefacts.model.namespaces import XSD

NAMES = ("x", "y", "z")


def typed(text: str, datatype: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + datatype))


NUMBERS: tuple[Term, ...] = (
    *(Literal(number) for number in (-3, -1, 0, 1, 2, 3, 7, 2**29 - 1, -(2**29), 2**29)),
    *(Literal(number) for number in (2**31, 2**53, 2**53 + 1, 2**62, 2**63 - 1, -(2**63))),
    *(typed(text, "decimal") for text in ("0", "2", "2.5", "-0.5", "0.1", "1000000.25")),
    *(typed(text, "decimal") for text in ("9007199254.740993", "0.000000000000000001")),
    *(Literal(number) for number in (0.0, -0.0, 2.0, 2.5, 0.1, -1.25, 1e300, 2.0**53)),
    *(typed(text, "double") for text in ("INF", "-INF", "NaN")),
    *(typed(text, "float") for text in ("2", "0.1", "1.5")),
    typed("100000000000000000000", "integer"),
)
OTHERS: tuple[Term, ...] = (
    *(Literal(text) for text in ("", "a", "b", "abc", "é", "1")),
    *(Literal("a", language=tag) for tag in ("en", "fr")),
    Literal("b", language="en"),
    Literal(True),
    Literal(False),
    *(NamedNode(f"http://example.org/{name}") for name in ("a", "b")),
    BlankNode("one"),
    BlankNode("two"),
    *(typed(f"2026-01-0{day}T00:00:00Z", "dateTime") for day in (1, 2)),
    typed("2026-01-01T02:00:00+02:00", "dateTime"),
    typed("2026-01-01T12:00:00", "dateTime"),
    typed("2026-01-01T12:00:00.5", "dateTime"),
    *(typed(f"2026-01-0{day}", "date") for day in (1, 2)),
    typed("2026-01-02Z", "date"),
    typed("P1D", "dayTimeDuration"),
    typed("P1Y", "yearMonthDuration"),
    typed("abc", "integer"),
    typed("x", "unknown"),
    Literal("x", datatype=NamedNode("http://example.org/t")),
)
CONDITIONS = {
    **dict.fromkeys(("=", "!=", "<", "<=", ">", ">=", "&&", "||", "sameTerm"), 2),
    **dict.fromkeys(("!", "isIRI", "isBLANK", "isLITERAL", "isNUMERIC"), 1),
    **dict.fromkeys(("IN", "NOT IN"), 3),
    **dict.fromkeys(("CONTAINS", "STRSTARTS", "REGEX", "LANGMATCHES"), 2),
}
FUNCTIONS = {
    **dict.fromkeys(("+", "-", "*", "/"), 2),
    **dict.fromkeys(("u-", "u+", "ABS", "CEIL", "STR", "LANG", "DATATYPE", "STRLEN"), 1),
    **dict.fromkeys(("UCASE", "YEAR", "IRI"), 1),
    **dict.fromkeys(("IF", "COALESCE", "REPLACE"), 3),
    **dict.fromkeys(("CONCAT", "STRBEFORE", "SUBSTR", "STRLANG", "STRDT"), 2),
    f"<{XSD}integer>": 1,
    f"<{XSD}string>": 1,
}


def draw_expression(pick: random.Random, depth: int = 3) -> QueryExpression:
    """An expression; half of them are conditions."""
    if depth == 0 or pick.random() < 0.15:
        if pick.random() < 0.7:
            return Variable(pick.choice(NAMES))
        constants = [term for term in (*NUMBERS, *OTHERS) if not isinstance(term, BlankNode)]
        return Constant(pick.choice(constants))
    if pick.random() < 0.04:
        return Call("BOUND", (Variable(pick.choice(NAMES)),))
    name, arity = pick.choice(list((CONDITIONS if pick.random() < 0.5 else FUNCTIONS).items()))
    return Call(name, tuple(draw_expression(pick, depth - 1) for _ in range(arity)))


def draw_rows(pick: random.Random, count: int) -> Sequence[tuple[Term | None, ...]]:
    """Rows of terms, some of them unbound."""
    pool = pick.choice([NUMBERS, OTHERS, (*NUMBERS, *OTHERS)])
    few = pick.sample(pool, 8)
    return [tuple(pick.choice([*few, *few, None]) for _ in NAMES) for _ in range(count)]

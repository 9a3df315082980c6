"""Facts and terms: what is true or false, and what it speaks of.

A triple is a pyoxigraph `Triple`.  A predicate fact is a `Fact`: a name and a tuple of
terms.  A term is a pyoxigraph term or a `Symbol`, a bare word that equals only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from livefacts.model.namespaces import XSD


@dataclass(frozen=True, slots=True, order=True)
class Symbol:
    """A bare word of the rule language.

    >>> Symbol("kitchen")
    kitchen
    """

    name: str

    def __repr__(self) -> str:
        return self.name


Term: TypeAlias = NamedNode | BlankNode | Literal | Triple | Symbol


class Fact(NamedTuple):
    """A predicate fact: a name and its arguments.

    >>> Fact("isIn", (Symbol("a"), Symbol("b")))
    isIn(a, b)
    >>> Fact("alarm", ())
    alarm
    """

    name: str
    arguments: tuple[Term, ...]

    def __repr__(self) -> str:
        if not self.arguments:
            return self.name
        return f"{self.name}({', '.join(map(shown, self.arguments))})"


def shown(term: Term) -> str:
    """A term as people write it: a number or boolean plainly, where it reads back as the same.

    >>> shown(Literal(2)), shown(Literal("2"))
    ('2', '"2"')
    """
    if isinstance(term, Literal) and _reads_back(term.value, term.datatype.value):
        return term.value
    return str(term)


def _reads_back(text: str, datatype: str) -> bool:
    has_exponent = "e" in text.lower() and any(c.isdigit() for c in text)
    return (
        (datatype == XSD + "integer" and text.lstrip("-").isdecimal())
        or (datatype == XSD + "decimal" and "." in text)
        or (datatype == XSD + "double" and has_exponent)
        or (datatype == XSD + "boolean" and text in ("true", "false"))
    )

"""Facts and terms: what is true or false, and what it speaks of.

A triple is a pyoxigraph `Triple`.  A predicate fact is a `Fact`: a name and a tuple of
terms.  A term is a pyoxigraph term or a `Symbol`, a bare word that equals only itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

from pyoxigraph import BlankNode, Literal, NamedNode, Triple


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

XSD = "http://www.w3.org/2001/XMLSchema#"
PLAIN_DATATYPES = tuple(XSD + name for name in ("integer", "decimal", "double", "boolean"))


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
    """A term as people write it: numbers and booleans without their datatype.

    >>> shown(Literal(2)), shown(Literal("2"))
    ('2', '"2"')
    """
    if isinstance(term, Literal) and term.datatype.value in PLAIN_DATATYPES:
        return term.value
    return str(term)

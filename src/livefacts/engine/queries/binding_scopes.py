"""Binding scopes: which variables a pattern surely gives values, and what may know them early.

SPARQL evaluates the parts of a group by themselves and joins them.  A part that is told the rows
to join with finds its own far sooner; that gives the same answers unless something inside of it
asks about a variable that the part itself need not bind.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from livefacts.language.algebra import (
    Basic,
    Both,
    Chosen,
    DistinctRows,
    Either,
    Grouped,
    InGraph,
    Listed,
    Optionally,
    Ordered,
    Pattern,
    ReducedRows,
    Slice,
    TripleTerm,
    Where,
    With,
    Without,
    variables_in,
    variables_in_condition,
    variables_in_scope,
    variables_in_slots,
)
from livefacts.language.expressions import QueryExpression
from livefacts.language.formula import TripleAtom, Variable
from livefacts.model.facts import Term


def parts_of(pattern: Pattern) -> list[Pattern]:
    """The parts of a group: rows that are written there first, then triple patterns as one."""
    parts, waiting = [], [pattern]
    while waiting:
        part = waiting.pop()
        if isinstance(part, Both):
            waiting += [part.right, part.left]
        else:
            parts.append(part)
    listed = [part for part in parts if isinstance(part, Listed)]
    basic = [part for part in parts if isinstance(part, Basic)]
    others = [part for part in parts if not isinstance(part, Listed | Basic)]
    merged = [Basic(tuple(atom for part in basic for atom in part.atoms))] if basic else []
    return [*listed, *merged, *others]


def names_in(pattern: Pattern) -> set[str]:
    """The variables that occur anywhere in a pattern."""
    return {variable.name for variable in variables_in(pattern)}


def names_in_scope(pattern: Pattern) -> set[str]:
    """The variables that rows of a pattern can have."""
    return {variable.name for variable in variables_in_scope(pattern)}


def names_in_condition(expression: QueryExpression) -> set[str]:
    """The variables of an expression, those of its EXISTS included."""
    return {variable.name for variable in variables_in_condition(expression)}


def certain_in(pattern: Pattern) -> set[str]:
    """The variables that every row of a pattern has a value for."""
    match pattern:
        case Basic():
            return names_in(pattern)
        case Both():
            return certain_in(pattern.left) | certain_in(pattern.right)
        case Either():
            return certain_in(pattern.left) & certain_in(pattern.right)
        case Optionally() | Without():
            return certain_in(pattern.left)
        case Listed():
            return {
                variable.name
                for number, variable in enumerate(pattern.variables)
                if all(row[number] is not None for row in pattern.rows)
            }
        case InGraph():
            named = {variable.name for variable in variables_in_slots((pattern.graph,))}
            return certain_in(pattern.of) | named
        case Chosen():
            return certain_in(pattern.of) & {variable.name for variable in pattern.variables}
        case Grouped():
            return certain_in(pattern.of) & {variable.name for variable in pattern.keys}
        case Where() | With() | Ordered() | DistinctRows() | ReducedRows() | Slice():
            return certain_in(pattern.of)


def may_know(pattern: Pattern, given: Collection[str]) -> bool:
    """Whether a pattern may be told the values of these variables before it is evaluated."""
    match pattern:
        case Basic() | Listed():
            return True
        case Both() | Either():
            return may_know(pattern.left, given) and may_know(pattern.right, given)
        case Where():
            asked = names_in_condition(pattern.condition)
            return may_know(pattern.of, given) and _binds(pattern.of, asked, given)
        case With():
            asked = names_in_condition(pattern.value)
            is_new = pattern.variable.name not in given
            return is_new and may_know(pattern.of, given) and _binds(pattern.of, asked, given)
        case Optionally():
            asked = names_in(pattern.right) | names_in_condition(pattern.condition)
            return may_know(pattern.left, given) and _binds(pattern.left, asked, given)
        case Without():
            asked = names_in(pattern.right)
            return may_know(pattern.left, given) and _binds(pattern.left, asked, given)
        case InGraph():
            return may_know(pattern.of, given)
        case _:
            return False


def _binds(pattern: Pattern, asked: Collection[str], given: Collection[str]) -> bool:
    """Whether what is asked about, of what is given, is bound by the pattern itself."""
    return set(asked) & set(given) <= certain_in(pattern)


def ends_in(pattern: Pattern) -> Iterator[Term]:
    """The constants that are subjects and objects of triples in all that a pattern matches."""
    match pattern:
        case Basic():
            atoms = [atom for atom in pattern.atoms if isinstance(atom, TripleAtom)]
            ends = (slot for atom in atoms for slot in (atom.subject, atom.object))
            yield from (slot for slot in ends if not isinstance(slot, Variable | TripleTerm))
        case Both():
            yield from ends_in(pattern.left)
            yield from ends_in(pattern.right)
        case Optionally() | Without():
            yield from ends_in(pattern.left)
        case Where() | With():
            yield from ends_in(pattern.of)

"""AGGREGATE clauses of early C-SPARQL: rows keep what they have, and get the total of their group.

    WHERE { ?author :wrote ?book }  AGGREGATE { (?n, COUNT, {?author}) FILTER(?n > 5) }

Where GROUP BY makes one row of a group, AGGREGATE leaves all of its rows and gives each the
total: the pattern is joined with its own groups.  A group of rows without a value for a variable
is a group like any other; a join would take it for all of them, so that such a variable is
compared by a copy that always has a value.  Clauses count one after the other, each on the rows
that the one before has left.

The clause is of C-SPARQL (Barbieri et al.); docs/streams.md
says what each case means.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from pyoxigraph import NamedNode

from livefacts.language.algebra import (
    UNNAMED,
    Both,
    Grouped,
    Pattern,
    QueryAggregate,
    With,
    bound_variables,
    variables_in_scope,
)
from livefacts.language.expressions import Call, Constant, QueryExpression
from livefacts.language.formula import Variable
from livefacts.syntax.sparql.group_patterns import GroupPattern
from livefacts.syntax.sparql.lexemes import Lexeme, QueryMistakeError

NO_VALUE = Constant(NamedNode("urn:livefacts:unbound"))
"""What a copy has where its variable has no value."""
MOST = 6
"""Each clause asks for the pattern twice."""


class AggregateClause(NamedTuple):
    """A name, what is computed for it, the variables of a group, and what must hold then."""

    word: Lexeme
    name: Lexeme
    aggregate: QueryAggregate
    keys: tuple[Lexeme, ...]
    conditions: tuple[QueryExpression, ...]


def totals(children: list[Any]) -> list[AggregateClause]:
    if len(children) > MOST:
        raise QueryMistakeError(
            f"more than {MOST} clauses of AGGREGATE",
            children[MOST].word.start_pos,
            "use GROUP BY inside of { SELECT … }",
        )
    return children


def total(children: list[Any]) -> AggregateClause:
    word, name, call, keys, *conditions = children
    return AggregateClause(word, name, call.aggregate, keys, tuple(c.value for c in conditions))


def total_keys(children: list[Any]) -> tuple[Any, ...]:
    return tuple(children)


class BareAggregate(NamedTuple):
    """COUNT without an argument."""

    aggregate: QueryAggregate


def bare_aggregate(children: list[Any]) -> BareAggregate:
    word = children[0]
    if word.value != "COUNT":
        raise QueryMistakeError(
            f"{word.text} of nothing", word.start_pos, f"write {word.text}(?x); COUNT counts rows"
        )
    return BareAggregate(QueryAggregate("COUNT"))


def with_totals(group: GroupPattern, clauses: list[AggregateClause]) -> GroupPattern:
    """The rows of a group pattern, each with the totals of its groups."""
    pattern = group.whole
    for clause in clauses:
        pattern = GroupPattern(_with_total(pattern, clause), clause.conditions).whole
    return GroupPattern(pattern)


def _with_total(pattern: Pattern, clause: AggregateClause) -> Pattern:
    known = set(variables_in_scope(pattern))
    if clause.name.value in known:
        raise QueryMistakeError(
            f"AGGREGATE computes {clause.name.text}, which the pattern has",
            clause.name.start_pos,
            "choose another name",
        )
    certain = bound_variables(pattern)
    keys: list[Variable] = []
    for key in clause.keys:
        if key.value not in known:
            hint = "groups are made by variables of the WHERE clause"
            raise QueryMistakeError(f"no pattern has {key.text}", key.start_pos, hint)
        variable = key.value
        if variable not in certain:
            variable = Variable(f"{UNNAMED}{key.start_pos}")
            pattern = With(pattern, variable, Call("COALESCE", (key.value, NO_VALUE)))
        keys.append(variable)
    groups = Grouped(pattern, tuple(keys), ((clause.name.value, clause.aggregate),))
    return Both(pattern, groups)

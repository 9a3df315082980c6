"""The rdflib tree: parse trees of SPARQL made ready for rdflib's translation to the algebra.

rdflib translates the group of an EXISTS in FILTER and BIND alone, and mistakes its variables
for those of the query where rows are grouped.  So every group is taken out first, the innermost
before those around it, and translated on its own; a number stays in its place.  VALUES
without variables, of which rdflib keeps nothing, gets one that is never bound.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

TAKEN_OUT = "TakenOut"
"""The name of what stands in the place of an EXISTS: its `number`, and whether it is `negated`."""
NOTHING = ".nothing"
"""The variable of VALUES that has none."""
EXISTS = ("Builtin_EXISTS", "Builtin_NOTEXISTS")
LISTS = ("InlineData", "ValuesClause")


def translated(text: str, base: str, prefixes: Mapping[str, str]) -> tuple[Any, Sequence[Any]]:
    """The query that rdflib makes of a text, and the groups of its EXISTS, by their numbers."""
    from rdflib.plugins.sparql.algebra import (
        translatePName,
        translatePrologue,
        translateQuery,
        traverse,
    )
    from rdflib.plugins.sparql.parser import parseQuery

    tree = parseQuery(text)
    spaces = dict(prefixes)
    prologue = translatePrologue(tree[0], base or None, spaces)
    groups: list[Any] = []
    tree[1] = traverse(tree[1], visitPost=partial(translatePName, prologue=prologue))
    tree[1] = traverse(tree[1], visitPost=partial(_made_ready, groups=groups))
    return translateQuery(tree, base or None, spaces), groups


def _made_ready(node: Any, groups: list[Any]) -> Any:
    """What takes the place of a node; None leaves it."""
    from rdflib.plugins.sparql.parserutils import CompValue
    from rdflib.term import Variable

    if not isinstance(node, CompValue):
        return None
    if node.name in EXISTS:
        groups.append(_group(node.graph))
        return CompValue(TAKEN_OUT, number=len(groups) - 1, negated=node.name == EXISTS[1])
    if node.name in LISTS and not node.var and node.value:
        rows = ["UNDEF" for _ in node.value]
        return CompValue(node.name, var=[Variable(NOTHING)], value=rows)
    return None


def _group(tree: Any) -> Any:
    """The algebra of a group, translated exactly once: that takes the filters out of the tree."""
    from rdflib.plugins.sparql.algebra import (
        _simplifyFilters,
        simplify,
        translateGroupGraphPattern,
        translatePath,
        traverse,
    )

    tree = traverse(tree, visitPre=_simplifyFilters)
    tree = traverse(tree, visitPost=translatePath)
    return traverse(translateGroupGraphPattern(tree), visitPost=simplify)

"""livefacts keeps conclusions true while facts, rules and time change.

>>> import livefacts as lf
>>> r = lf.Reasoner(rules="isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) .")
>>> d = r.add([("isIn", "cup", "kitchen"), ("isIn", "kitchen", "house")])
>>> list(d.derived)
[isIn(cup, house)]

How the package is built: docs/architecture.md.
Design: docs/design/0014-rooms.md
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livefacts.errors import (
    ArityError,
    ConflictError,
    DamageError,
    InputError,
    InterruptAfterChange,
    LimitError,
    LivefactsError,
    LivefactsWarning,
    OptionError,
    QueryError,
    RuleError,
    RuleSyntaxError,
    StoreError,
    UnboundedArithmeticError,
    UnknownPrefixError,
    UnsafeVariableError,
    UnstratifiedError,
    ViolationError,
)

if TYPE_CHECKING:
    from livefacts.model.facts import Fact, Symbol
    from livefacts.service.change.delta import Delta, Violation
    from livefacts.service.continuous.answers import Change
    from livefacts.service.continuous.message_query import ContinuousQueries, ContinuousQuery
    from livefacts.service.explanations.proof_trees import Explanation
    from livefacts.service.knowledge.ontology import OntologyReport, rules_from_owl
    from livefacts.service.reasoner.facade import Reasoner
    from livefacts.service.reasoner.fact_snapshot import FactSnapshot
    from livefacts.service.reasoner.maintenance import maintenance_program

__all__ = [
    "ArityError",
    "Change",
    "ConflictError",
    "ContinuousQueries",
    "ContinuousQuery",
    "DamageError",
    "Delta",
    "Explanation",
    "Fact",
    "FactSnapshot",
    "InputError",
    "InterruptAfterChange",
    "LimitError",
    "LivefactsError",
    "LivefactsWarning",
    "OntologyReport",
    "OptionError",
    "QueryError",
    "Reasoner",
    "RuleError",
    "RuleSyntaxError",
    "StoreError",
    "Symbol",
    "UnboundedArithmeticError",
    "UnknownPrefixError",
    "UnsafeVariableError",
    "UnstratifiedError",
    "Violation",
    "ViolationError",
    "maintenance_program",
    "rules_from_owl",
]

# Loaded when first used, so that importing livefacts takes no time.
_HOMES = {
    "Change": "livefacts.service.continuous.answers",
    "ContinuousQueries": "livefacts.service.continuous.message_query",
    "ContinuousQuery": "livefacts.service.continuous.message_query",
    "Delta": "livefacts.service.change.delta",
    "Explanation": "livefacts.service.explanations.proof_trees",
    "Fact": "livefacts.model.facts",
    "FactSnapshot": "livefacts.service.reasoner.fact_snapshot",
    "OntologyReport": "livefacts.service.knowledge.ontology",
    "Reasoner": "livefacts.service.reasoner.facade",
    "Symbol": "livefacts.model.facts",
    "Violation": "livefacts.service.change.delta",
    "maintenance_program": "livefacts.service.reasoner.maintenance",
    "rules_from_owl": "livefacts.service.knowledge.ontology",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'livefacts' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__

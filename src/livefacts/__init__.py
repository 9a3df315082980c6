"""livefacts keeps conclusions true while facts, rules and time change.

>>> import livefacts as lf
>>> r = lf.Reasoner(rules="isIn(?x, ?z) :- isIn(?x, ?y), isIn(?y, ?z) .")
>>> d = r.add([("isIn", "cup", "kitchen"), ("isIn", "kitchen", "house")])
>>> list(d.derived)
[isIn(cup, house)]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from livefacts.errors import (
    ArityError,
    ConflictError,
    InputError,
    LimitError,
    LivefactsError,
    LivefactsWarning,
    QueryError,
    RuleError,
    RuleSyntaxError,
    UnboundedArithmeticError,
    UnknownPrefixError,
    UnsafeVariableError,
    UnstratifiedError,
    ViolationError,
)

if TYPE_CHECKING:
    from livefacts.model.facts import Fact, Symbol
    from livefacts.service.continuous.continuous import ContinuousQueries, ContinuousQuery
    from livefacts.service.continuous.continuouschange import Change
    from livefacts.service.delta import Delta, Violation
    from livefacts.service.explanations.explaining import Explanation
    from livefacts.service.maintenance import maintenance_program
    from livefacts.service.ontology import OntologyReport, rules_from_owl
    from livefacts.service.reasoner import Reasoner

__all__ = [
    "ArityError",
    "Change",
    "ConflictError",
    "ContinuousQueries",
    "ContinuousQuery",
    "Delta",
    "Explanation",
    "Fact",
    "InputError",
    "LimitError",
    "LivefactsError",
    "LivefactsWarning",
    "OntologyReport",
    "QueryError",
    "Reasoner",
    "RuleError",
    "RuleSyntaxError",
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
    "Change": "livefacts.service.continuous.continuouschange",
    "ContinuousQueries": "livefacts.service.continuous.continuous",
    "ContinuousQuery": "livefacts.service.continuous.continuous",
    "Delta": "livefacts.service.delta",
    "Explanation": "livefacts.service.explanations.explaining",
    "Fact": "livefacts.model.facts",
    "OntologyReport": "livefacts.service.ontology",
    "Reasoner": "livefacts.service.reasoner",
    "Symbol": "livefacts.model.facts",
    "Violation": "livefacts.service.delta",
    "maintenance_program": "livefacts.service.maintenance",
    "rules_from_owl": "livefacts.service.ontology",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module

    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'livefacts' has no attribute {name!r}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return __all__

"""Equality: how a reasoner treats owl:sameAs.

"rules" leaves it to the rules, as the standard has it: what is said of one is said of all
that are the same.  "merge" means the same, and keeps two of each group of equals
(`livefacts.service.merging`).  "off" leaves those rules out: owl:sameAs is derived where
it follows, and nothing follows from it but contradictions.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from functools import cache

from livefacts.errors import LivefactsWarning, OptionError
from livefacts.language.checks.exchangeability import Interchange, Obstacle, interchange_of
from livefacts.language.checks.warnings import RuleWarning
from livefacts.language.program import Program, Rule
from livefacts.plan.rules.normal_form import normalize
from livefacts.syntax.rule_sets import open_rules

RULES, MERGE, OFF = "rules", "merge", "off"
SAME_AS = (RULES, MERGE, OFF)
OF_EQUALITY = frozenset({"eq-ref", "eq-sym", "eq-trans", "eq-rep-s", "eq-rep-p", "eq-rep-o"})
"""The rules of the standard by which owl:sameAs spreads."""
SPREADING = "owl-same-as"
TRUSTED = (SPREADING, "owl-rl", "owl-eq-ref", "owl-datatypes", "rdfs", "rdfs-axioms", "rho-df")
"""Sets of rules for which two of a group are enough; tests hold it."""
HINT = f'same_as="{RULES}" means the same, and can'


def check_same_as(same_as: str) -> None:
    """Refuse a way to treat equality that there is not."""
    if same_as not in SAME_AS:
        raise OptionError(f"same_as is one of {', '.join(SAME_AS)}, not {same_as!r}")


def with_equality(program: Program, same_as: str) -> Program:
    """The program with those of the rules of equality that are wanted."""
    if same_as != OFF:
        return program
    return program.minus([r for r in program if r.id.partition(".")[0] in OF_EQUALITY])


def merging(rules: Sequence[Rule]) -> Interchange:
    """What must stay itself under rules, in normal form, where equal things are merged."""
    return interchange_of(rules if has_equality(rules) else (), trusted_rules())


def warn_of_obstacle(rules: Sequence[Rule], before: Obstacle | None) -> None:
    """Warn of rules under which nothing is merged, if it was not so before."""
    obstacle = merging(rules).obstacle
    if obstacle is not None and before is None:
        warning = RuleWarning(
            f'{obstacle}: same_as="{MERGE}" merges nothing while it is there',
            obstacle.rule.place,
            f'this is right, and as slow as same_as="{RULES}"; without the rule, groups come back',
        )
        warnings.warn(str(warning), LivefactsWarning, stacklevel=2)


def has_equality(rules: Sequence[Rule]) -> bool:
    """Whether rules, in normal form, replace equals by equals."""
    return _keys(SPREADING) <= {rule.key() for rule in rules}


def trusted_rules() -> frozenset[Rule]:
    """The keys of the rules of ready sets, in normal form."""
    return frozenset().union(*map(_keys, TRUSTED))


@cache
def _keys(name: str) -> frozenset[Rule]:
    return frozenset(rule.key() for rule in normalize(open_rules(name).rules))

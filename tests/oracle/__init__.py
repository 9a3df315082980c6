"""The oracle: naive reasoners that recompute everything, to compare the engines with.

They read programs as data and share nothing else with the engines: they have their own
strata, their own loops and their own road to the values of literals.

| module | computes | from |
|---|---|---|
| `naive` | the model of a program, its violations, all instances of its rules | all rules over all facts, level by level, until nothing is new |
| `values` | comparisons, arithmetic, aggregates | Python fractions; else pyoxigraph, one query each |
| `solutions` | the answers of queries | section 18 of SPARQL 1.1, a row at a time; single function calls by pyoxigraph |
| `streams` | what holds at one time point under rules with windows | the definition of LARS, nothing kept from one time point to the next |
| `timeline` | what is known of streams and background at a time | arrivals and retractions in order |
| `reports` | when facts expire, and the reports of a query | the clock, run on while nothing arrives |
| `mirrors` | the violations that remain when equal ones are listed once | every exchange of variables |
| `ontologies` | what OWL axioms say of individuals | the axioms themselves, without rules |
| `owl` | the closure under OWL 2 RL/RDF | tables 4 to 9 of the standard, as loops |
| `examples` | (worked examples of rules with time, as tables, for oracle and reasoner) | |

`test_oracle` and `test_values` check them against cases worked out by hand, `test_streams` against
the tables of `examples`; clingo and owlrl are asked in `tests/conformance/test_second_opinions.py`.
"""

from tests.oracle.naive import (
    Row,
    asked_for,
    closure,
    conclusion,
    instances,
    matches_in,
    model,
    premises,
    row_of,
    shown,
    supports,
    violations,
    violations_in,
)

__all__ = [
    "Row",
    "asked_for",
    "closure",
    "conclusion",
    "instances",
    "matches_in",
    "model",
    "premises",
    "row_of",
    "shown",
    "supports",
    "violations",
    "violations_in",
]

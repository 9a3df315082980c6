"""The wording of explanations: facts, premises and rules as people read them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from pyoxigraph import Triple

from livefacts.language.formula import (
    Aggregate,
    Formula,
    Negation,
    PredicateAtom,
    TripleAtom,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.language.rule_text import write_aggregate, write_formula, write_rule, write_term
from livefacts.model.facts import Fact, Term
from livefacts.model.namespaces import RDF_TYPE
from livefacts.service.change.delta import Violation
from livefacts.service.explanations.proof_trees import Shown
from livefacts.service.explanations.time_words import in_words

HIDDEN = "_"
NO_RULES: Mapping[str, Rule] = MappingProxyType({})


class Words:
    """Writes with prefixes; without any, every IRI is written in full.

    `written` are the rules as they were written, by their ids.
    """

    def __init__(self, prefixes: Mapping[str, str], written: Mapping[str, Rule] = NO_RULES) -> None:
        self._prefixes = prefixes
        self._written = written

    def fact(self, fact: Shown) -> str:
        """A triple as in Turtle, a predicate fact as in the rule language."""
        if isinstance(fact, Violation):
            return self._violation(fact)
        if isinstance(fact, Triple):
            return self.formula(TripleAtom(fact.subject, fact.predicate, fact.object))
        return self.formula(PredicateAtom(*fact) if isinstance(fact, Fact) else fact)

    def _violation(self, violation: Violation) -> str:
        values = self.bindings(violation.bindings)
        return f"violation of {violation.constraint}" + (f": {values}" if values else "")

    def formula(self, formula: Formula) -> str:
        """A premise, filled in or not."""
        match formula:
            case TripleAtom(s, p, o):
                middle = "a" if p == RDF_TYPE and self._prefixes else self._slot(p)
                return f"{self._slot(s)} {middle} {self._slot(o)}"
            case PredicateAtom(name, arguments):
                values = list(map(self._slot, arguments))
                return in_words(name, values) or (
                    f"{name}({', '.join(values)})" if values else name
                )
            case Negation(atom):
                return f"not {self.formula(atom)}"
            case Aggregate(body=body) if _is_about_time(body):
                return write_aggregate(formula, ", ".join(map(self.formula, body)))
            case _:
                return write_formula(formula, self._prefixes)

    def term(self, term: Term) -> str:
        return write_term(term, self._prefixes)

    def _slot(self, slot: Variable | Term) -> str:
        return str(slot) if isinstance(slot, Variable) else self.term(slot)

    def bindings(self, bindings: Mapping[str, Term]) -> str:
        """`?x = ann, ?y = ben`."""
        return ", ".join(f"?{name} = {self.term(term)}" for name, term in bindings.items())

    def rule(self, rule: Rule) -> str:
        """The text of a rule, without its name; one that a window needs is said in words."""
        if self.is_of_window(rule):
            conditions = ", ".join(map(self.formula, rule.body))
            return f"{self.formula(rule.head) if rule.head else 'false'} if {conditions}"
        return write_rule(replace(self._written.get(rule.id, rule), id=""), self._prefixes)

    def rule_name(self, rule: Rule) -> str:
        """The id of a rule as it was written; a rule may be followed in several ways."""
        return self._written.get(rule.id, rule).id

    def is_of_window(self, rule: Rule) -> bool:
        """Whether nobody wrote this rule: it says what is in a window."""
        return rule.id.startswith(HIDDEN)


def _is_about_time(body: Sequence[Formula]) -> bool:
    """Whether a body speaks of windows by their hidden names."""
    return any(isinstance(f, PredicateAtom) and f.name.startswith(HIDDEN) for f in body)

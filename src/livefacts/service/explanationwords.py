"""Words of explanations: facts, premises and rules as people read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyoxigraph import Triple

from livefacts.model.facts import Fact, Term
from livefacts.rules.formula import Formula, Negation, PredicateAtom, TripleAtom, Variable
from livefacts.rules.program import Rule
from livefacts.service.delta import Violation
from livefacts.service.explaining import Shown
from livefacts.syntax.ruleterms import RDF_TYPE
from livefacts.syntax.rulewriter import write_formula, write_rule, write_term


class Words:
    """Writes with prefixes; without any, every IRI is written in full."""

    def __init__(self, prefixes: Mapping[str, str]) -> None:
        self._prefixes = prefixes

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
            case PredicateAtom(name, ()):
                return name
            case PredicateAtom(name, arguments):
                return f"{name}({', '.join(map(self._slot, arguments))})"
            case Negation(atom):
                return f"not {self.formula(atom)}"
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
        """The text of a rule, without its name."""
        return write_rule(replace(rule, id=""), self._prefixes)

"""Questions why: from what a user writes as a fact to its explanation.

A fact is a triple, a `Fact`, a tuple, a violation, or text: `<x:tom> a <x:Person>` or
`isIn(cup, kitchen)`, with or without the final dot, with the prefixes that are known.  The
id of a constraint asks for the first of its violations.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

from pyoxigraph import NamedNode, Quad, RdfFormat, Triple, parse

from livefacts.engine.contract import TRIPLES
from livefacts.engine.embedded.proofs.backward_search import BoundRules, prove
from livefacts.engine.embedded.proofs.lookups import NO_ROWS
from livefacts.engine.embedded.proofs.near_misses import near_misses
from livefacts.errors import InputError, RuleError
from livefacts.language.checks.safety import arguments, first_atoms
from livefacts.language.program import Rule
from livefacts.model.facts import Fact, Symbol, Term
from livefacts.model.namespaces import DECLARED
from livefacts.plan.rules.normal_form import VIOLATION, violation_variables
from livefacts.service.change.arguments import as_statement
from livefacts.service.change.delta import Violation
from livefacts.service.explanations.proof_reader import ProofTerms
from livefacts.service.explanations.proof_trees import Explanation, Shown
from livefacts.syntax.input.files import utf8
from livefacts.syntax.rulelang import rule_parser

NEARBY_SHOWN = 3
MOST_COMPARED = 20_000
"""Where there are more triples, no IRI is looked for that may have been meant."""
FINAL_DOT = re.compile(r"\s*\.?\s*$")
Ids = tuple[int, ...]
Asked: TypeAlias = Triple | Fact | Violation


def explain(
    fact: Any, rules: Sequence[Rule], bound: BoundRules, prefixes: Mapping[str, str]
) -> Explanation:
    """Why a fact holds, or what is missing for it."""
    known = dict(DECLARED) | dict(prefixes)
    asked = asked_one(fact, rules, bound, known)
    return explain_terms(asked, terms_of(asked, rules), rules, bound, known)


def explain_terms(
    asked: Asked,
    terms: Sequence[Term],
    rules: Sequence[Rule],
    bound: BoundRules,
    known: Mapping[str, str],
) -> Explanation:
    """Why the fact of these terms holds, or what is missing for it; `asked` is what it is for users."""
    shape = TRIPLES if isinstance(asked, Triple) else len(terms)
    ids = tuple(bound.terms.id_of(term) for term in terms)
    reading = ProofTerms(rules, bound)
    proof = prove(bound, shape, ids)
    if proof is not None:
        step = reading.step(proof)
        return Explanation(step.fact, step, proof.is_smallest, prefixes=known)
    attempts = tuple(map(reading.attempt, near_misses(bound, shape, ids)))
    nearby = tuple(_nearby(reading, bound, shape, ids))
    unknown = _unknown(terms, ids)
    similar = () if attempts or nearby else _similar(terms, shape, rules, bound)
    return Explanation(
        asked,
        attempts=attempts,
        unknown=unknown,
        nearby=nearby,
        similar=similar or tuple(_meant(unknown, bound)),
        prefixes=known,
    )


# what is asked


def asked_one(
    fact: Any, rules: Sequence[Rule], bound: BoundRules, prefixes: Mapping[str, str]
) -> Asked:
    """The fact that an argument stands for; of a constraint, its first violation."""
    asked = asked_fact(fact, rules, prefixes)
    if isinstance(asked, Fact):
        _check_arity(asked, rules)
    return _first_violation(asked, rules, bound) if isinstance(asked, str) else asked


def asked_fact(
    fact: Any, rules: Sequence[Rule], prefixes: Mapping[str, str]
) -> Triple | Fact | Violation | str:
    """The fact that an argument stands for, or the id of a constraint."""
    if isinstance(fact, Violation):
        return fact
    if isinstance(fact, str):
        text = FINAL_DOT.sub("", fact)
        if any(rule.is_constraint and rule.id == text for rule in rules):
            return text
        try:
            return read_fact(fact, prefixes)
        except InputError as error:
            raise _misspelt(text, rules, error) from None
    statement = as_statement(fact)
    return statement.triple if isinstance(statement, Quad) else statement


def _check_arity(fact: Fact, rules: Sequence[Rule]) -> None:
    """Refuse a fact with another number of arguments than the rules give its predicate."""
    atom = first_atoms(rules).get(fact.name)
    if atom is not None and len(atom.arguments) != len(fact.arguments):
        raise InputError(
            f"{fact.name} has {arguments(len(atom.arguments))} in the rules "
            f"and {arguments(len(fact.arguments))} in {fact}",
            hint="explain a fact with all of its arguments",
        )


def _misspelt(text: str, rules: Sequence[Rule], error: InputError) -> InputError:
    """The error, or that there is no such constraint, if one has nearly this name."""
    constraints = [rule.id for rule in rules if rule.is_constraint]
    near = difflib.get_close_matches(text, constraints, n=1)
    if not near:
        return error
    return InputError(
        f"{text!r} is neither a fact nor a constraint", hint=f"did you mean {near[0]}?"
    )


def read_fact(text: str, prefixes: Mapping[str, str]) -> Triple | Fact:
    """The one fact of a text, with or without its final dot."""
    utf8(text)
    text = FINAL_DOT.sub("", text)
    turtle = "".join(f"PREFIX {name}: <{iri}>\n" for name, iri in prefixes.items())
    try:
        found: list[Triple | Fact] = [
            quad.triple for quad in parse(f"{turtle}{text} .", format=RdfFormat.TURTLE)
        ]
    except (SyntaxError, ValueError) as error:
        found = _read_rule_language(text, prefixes, error)
    if len(found) != 1:
        raise InputError(
            f"{text!r} is {len(found)} facts, where one is wanted",
            hint="explain one fact after the other",
        )
    return found[0]


def _read_rule_language(
    text: str, prefixes: Mapping[str, str], turtle_error: Exception
) -> list[Triple | Fact]:
    declared = "".join(
        f"@prefix {name}: <{iri}> .\n" for name, iri in prefixes.items() if name not in DECLARED
    )
    try:
        program = rule_parser.parse(f"{declared}{text} .", "<fact>")
    except RuleError as error:
        reason = error.message if "(" in text or "[" in text else _without_place(turtle_error)
        raise _not_a_fact(text, reason) from None
    if program.rules:
        raise _not_a_fact(text, "it is a rule")
    return list(program.facts)


def _without_place(error: Exception) -> str:
    """What the parser says, without the line of a text that the user has not seen."""
    return re.sub(r"^.*? columns? \d+(?: and \d+)?: | \(line \d+\)$", "", str(error))


def _not_a_fact(text: str, reason: str) -> InputError:
    return InputError(
        f"{text!r} is not a fact: {reason}",
        hint="write '<x:tom> a <x:Person>', 'ex:tom ex:likes ex:fish' or 'isIn(cup, kitchen)'; "
        "Reasoner.prefixes are known",
    )


def _first_violation(id: str, rules: Sequence[Rule], bound: BoundRules) -> Violation:
    """A violation of a constraint."""
    (rule,) = (rule for rule in rules if rule.id == id)
    variables = violation_variables(rule)
    relation = bound.lookup.relation(1 + len(variables))
    name = bound.terms.id_of(Symbol(VIOLATION + id))
    rows = bound.lookup.matching(relation, ((0, name),))
    if not len(rows):
        raise InputError(
            f"the constraint {id} is not violated", hint="Reasoner.violations lists violations"
        )
    _, *ids = bound.lookup.fact(relation, int(rows[0]))
    terms = map(bound.terms.term, ids)
    return Violation(id, dict(zip((v.name for v in variables), terms, strict=True)))


def terms_of(asked: Asked, rules: Sequence[Rule]) -> list[Term]:
    """The terms of a fact, its predicate among them."""
    if isinstance(asked, Triple):
        return [asked.subject, asked.predicate, asked.object]
    if isinstance(asked, Fact):
        return [Symbol(asked.name), *asked.arguments]
    rule = next((rule for rule in rules if rule.id == asked.constraint), None)
    if rule is None or not rule.is_constraint:
        raise InputError(
            f"there is no constraint {asked.constraint}", hint="Reasoner.rules lists the rules"
        )
    values = [asked.bindings[v.name] for v in violation_variables(rule)]
    return [Symbol(VIOLATION + rule.id), *values]


# what is near


def _unknown(terms: Sequence[Term], ids: Ids) -> tuple[Term, ...]:
    return tuple(dict.fromkeys(t for t, number in zip(terms, ids, strict=True) if number < 0))


def _nearby(reading: ProofTerms, bound: BoundRules, shape: int, ids: Ids) -> Iterator[Shown]:
    """Facts with the same predicate about the same subject or first argument."""
    if len(ids) < 3:
        return
    relation = bound.lookup.relation(shape)
    rows = bound.lookup.matching(relation, ((0, ids[0]), (1, ids[1])))
    for row in rows[:NEARBY_SHOWN].tolist():
        yield reading.shown(relation, bound.lookup.fact(relation, row))


def _similar(
    terms: Sequence[Term], shape: int, rules: Sequence[Rule], bound: BoundRules
) -> tuple[Term, ...]:
    """Predicates whose names are near to one that nothing is said with; of a word, constraints."""
    asked = terms[1] if shape == TRIPLES else terms[0]
    used = {_name(term): term for term in _predicates(shape, rules, bound) if _name(term)}
    if len(terms) == 1:
        used |= {rule.id: Symbol(rule.id) for rule in rules if rule.is_constraint}
    if asked in used.values():
        return ()
    return tuple(used[name] for name in difflib.get_close_matches(_name(asked), used, n=3))


def _meant(unknown: Sequence[Term], bound: BoundRules) -> Iterator[Term]:
    """For each IRI that nothing speaks of, one that is written nearly like it."""
    strange = [term for term in unknown if isinstance(term, NamedNode)]
    relation = bound.lookup.relation(TRIPLES)
    rows = bound.lookup.matching(relation, ()) if strange else NO_ROWS
    if not 0 < len(rows) <= MOST_COMPARED:
        return
    ids = {number for fact in bound.lookup.facts(relation, rows) for number in fact}
    terms = map(bound.terms.term, ids)
    known = [term.value for term in terms if isinstance(term, NamedNode)]
    for term in strange:
        yield from map(NamedNode, difflib.get_close_matches(term.value, known, n=1, cutoff=0.8))


def _predicates(shape: int, rules: Sequence[Rule], bound: BoundRules) -> Iterator[Term]:
    relation = bound.lookup.relation(shape)
    if relation >= 0:
        yield from map(bound.terms.term, bound.lookup.names(relation))
    for rule in rules:
        if rule.head is not None:
            predicate = rule.head.slots[1 if shape == TRIPLES else 0]
            if isinstance(predicate, NamedNode if shape == TRIPLES else Symbol):
                yield predicate


def _name(term: Term) -> str:
    text = term.name if isinstance(term, Symbol) else str(term)
    return re.split(r"[/#:]", text.strip("<>"))[-1]

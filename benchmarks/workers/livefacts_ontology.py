"""Our ontologies: the measures (a) to (g) of Volz et al., through the public API.

(a) a query where nothing is kept: a new reasoner with the rules that the query needs;
(b) setting up; (c) a rule comes, (d) goes, both as medians; (e) facts come, (f) go; (g) the
same query where conclusions are kept.  Texts are parsed before anything is timed.
"""

from __future__ import annotations

import gc
from collections.abc import Iterable
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

from changing import state, timed
from pyoxigraph import NamedNode, RdfFormat, Triple, parse
from reporting import Stages, run

from livefacts import Reasoner
from livefacts.generate.ontologies import NAMESPACE
from livefacts.language.formula import TripleAtom
from livefacts.language.program import Program, Rule
from livefacts.syntax.rule_sets import open_rules

TYPE = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
TOP = NamedNode(NAMESPACE + "c1")


def main(job: dict[str, Any], stages: Stages) -> dict[str, Any]:
    _measured({**job, **job["warm_up"], "turns": 1})
    return _measured(job)


def _measured(job: dict[str, Any]) -> dict[str, Any]:
    program = open_rules(Path(job["rules"]))
    with open(job["input"], "rb") as stream:
        facts = [quad.triple for quad in parse(stream, format=RdfFormat.N_TRIPLES)]
    query, classes = _query(job["kind"], facts)
    needed = Program().plus(_needed(program.rules, classes))
    kept = Reasoner(rules=program)
    kept.load(job["input"])
    before = state(kept)
    gc.freeze()
    return {
        "asserted": len(facts),
        "true": before[0],
        "rules": len(program),
        "needed": len(needed),
        "a": _mean(timed(lambda: _asked(_set_up(needed, job), query)) for _ in range(job["turns"])),
        "b": _mean(timed(lambda: _set_up(program, job)) for _ in range(job["turns"])),
        **_rule_changes(kept, program, job),
        "changes": [_fact_changes(kept, facts, percent, job) for percent in job["percents"]],
        **_with_conclusions(kept, query, job),
        "same": state(kept) == before and _agrees(kept, program, facts, job),
    }


def _mean(seconds: Iterable[float]) -> float:
    found = list(seconds)
    return sum(found) / len(found)


def _set_up(program: Program, job: dict[str, Any]) -> Reasoner:
    reasoner = Reasoner(rules=program)
    reasoner.load(job["input"])
    return reasoner


def _asked(reasoner: Reasoner, query: str) -> int:
    return sum(1 for _ in reasoner.query(query))


def _query(kind: str, facts: list[Triple]) -> tuple[str, list[NamedNode]]:
    """The extension of a class of the first level; in `db`, of c ⊓ ∃p.d for some p and d."""
    if kind != "db":
        return f"SELECT ?x {{ ?x a {TOP} }}", [TOP]
    class_of = {fact.subject: fact.object for fact in facts if fact.predicate == TYPE}
    link = next(fact for fact in facts if fact.predicate != TYPE)
    target = class_of[link.object]
    text = f"SELECT ?x {{ ?x a {TOP} . ?x {link.predicate} ?y . ?y a {target} }}"
    return text, [TOP, target]


def _needed(rules: tuple[Rule, ...], classes: list[NamedNode]) -> list[Rule]:
    """The rules that the extension of some classes rests on."""
    by_head: dict[object, list[Rule]] = {}
    for rule in rules:
        assert isinstance(rule.head, TripleAtom)
        by_head.setdefault(rule.head.object, []).append(rule)
    found: dict[str, Rule] = {}
    waiting: list[object] = list(classes)
    while waiting:
        for rule in by_head.pop(waiting.pop(), ()):
            found[rule.id] = rule
            waiting.extend(atom.object for atom in rule.body if isinstance(atom, TripleAtom))
    return list(found.values())


def _rule_changes(reasoner: Reasoner, program: Program, job: dict[str, Any]) -> dict[str, Any]:
    draw = Random(job["depth"])
    come, gone, affected = [], [], []
    for _ in range(job["rule_turns"]):
        rule = program.rules[int(draw.random() * len(program))]
        alone = Program().plus([rule])
        true = len(reasoner)
        gone.append(timed(lambda rule=rule: reasoner.remove_rules([rule.id])))  # type: ignore[misc]
        affected.append((true - len(reasoner)) / true)
        come.append(timed(lambda alone=alone: reasoner.add_rules(alone)))  # type: ignore[misc]
    # The first one gathers what depends on what; the others find it there.
    return {"c": median(come), "d": median(gone), "first": gone[0], "affected": max(affected)}


def _fact_changes(
    reasoner: Reasoner, facts: list[Triple], percent: int, job: dict[str, Any]
) -> dict[str, Any]:
    draw = Random(percent)
    come, gone = [], []
    for _ in range(job["turns"]):
        chosen = draw.sample(facts, len(facts) * percent // 100)
        gone.append(timed(lambda chosen=chosen: reasoner.remove(chosen)))  # type: ignore[misc]
        come.append(timed(lambda chosen=chosen: reasoner.add(chosen)))  # type: ignore[misc]
    return {"percent": percent, "e": _mean(come), "f": _mean(gone)}


def _with_conclusions(reasoner: Reasoner, query: str, job: dict[str, Any]) -> dict[str, Any]:
    """The query again and again; the first one opens the query store and does not count."""
    answers = _asked(reasoner, query)
    times = [timed(lambda: _asked(reasoner, query)) for _ in range(job["turns"])]
    return {"g": _mean(times), "answers": answers}


def _agrees(reasoner: Reasoner, program: Program, facts: list[Triple], job: dict[str, Any]) -> bool:
    """Whether rules and facts that went leave what a new reasoner without them has."""
    gone, rules = facts[:: len(facts) // 50 or 1], program.rules[:: len(program) // 5 or 1]
    reasoner.apply(remove=gone, remove_rules=[rule.id for rule in rules])
    anew = Reasoner(rules=program.minus(rules))
    missing = set(gone)
    anew.add([fact for fact in facts if fact not in missing])
    return state(reasoner) == state(anew)


if __name__ == "__main__":
    run(main, "livefacts")

"""Plain data of explanations: steps in a list, which refer to each other by number.

IRIs are written in full.  A list keeps shared steps once, however deep the proof is.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    Attempt,
    Compared,
    Explanation,
    Premise,
    Step,
    Wanted,
)
from livefacts.service.explanations.time_words import is_of_clock
from livefacts.service.explanations.wording import Words

Data = dict[str, Any]


def as_data(explanation: Explanation) -> Data:
    """The explanation, ready for JSON."""
    words = Words({}, explanation.written)
    data: Data = {"fact": words.fact(explanation.fact), "holds": explanation.holds}
    if explanation.proof is not None:
        steps = _Steps(explanation.steps(), words)
        data |= {
            **_standing(explanation.proof.is_asserted),
            "height": explanation.proof.height,
            "smallest": explanation.is_smallest,
            "steps": steps.all(),
        }
        if explanation.lasting is not None:
            data |= {"since": explanation.lasting.since, "until": explanation.lasting.until}
    else:
        data |= {
            "attempts": [_attempt(attempt, words) for attempt in explanation.attempts],
            "unknown": [words.term(term) for term in explanation.unknown],
            "nearby": [words.fact(fact) for fact in explanation.nearby],
            "similar": [words.term(term) for term in explanation.similar],
        }
    return data


def _standing(is_asserted: bool) -> Data:
    """How a fact stands; `told` is the old name of `asserted`, for one more release."""
    return {"asserted": is_asserted, "told": is_asserted}


class _Steps:
    """The steps of one proof, with their numbers."""

    def __init__(self, steps: Sequence[Step], words: Words) -> None:
        self._numbers = {id(step): number for number, step in enumerate(steps, 1)}
        self._listed = steps
        self._words = words

    def all(self) -> list[Data]:
        return [self._step(step) for step in self._listed]

    def _step(self, step: Step) -> Data:
        assert step.rule is not None, "what was asserted is no step"
        bindings = {name: self._words.term(term) for name, term in step.bindings.items()}
        return {
            "step": self._numbers[id(step)],
            "fact": self._words.fact(step.fact),
            "height": step.height,
            "rule": self._words.rule_name(step.rule),
            "text": self._words.rule(step.rule),
            "bindings": bindings,
            "premises": self._premises(step.premises),
        }

    def _premises(self, premises: Sequence[Premise]) -> list[Data]:
        return [self._premise(premise) for premise in premises]

    def _premise(self, premise: Premise) -> Data:
        match premise:
            case Step():
                data: Data = {"fact": self._words.fact(premise.fact)}
                if premise.is_asserted:
                    return data | _standing(not is_of_clock(premise.fact))
                return data | {"step": self._numbers[id(premise)]}
            case Absent(atom):
                return {"absent": self._words.formula(atom)}
            case Compared(comparison):
                return {"comparison": self._words.formula(comparison)}
            case Aggregated():
                return self._aggregated(premise)

    def _aggregated(self, premise: Aggregated) -> Data:
        rows = [
            {
                "values": [self._words.term(value) for value in row.values],
                "premises": self._premises(row.premises),
            }
            for row in premise.rows
        ]
        return {
            "aggregate": self._words.formula(premise.aggregate),
            "value": self._words.term(premise.value),
            "count": premise.count,
            "rows": rows,
        }


def _attempt(attempt: Attempt, words: Words) -> Data:
    return {
        "rule": words.rule_name(attempt.rule),
        "text": words.rule(attempt.rule),
        "bindings": {name: words.term(term) for name, term in attempt.bindings.items()},
        "premises": [_wanted(premise, words) for premise in attempt.premises],
    }


def _wanted(premise: Wanted, words: Words) -> Data:
    data: Data = {"premise": words.formula(premise.formula), "state": str(premise.state)}
    return data if premise.value is None else data | {"value": words.term(premise.value)}

"""Flow text: a flow in words, for people and for tests, and as a picture."""

from __future__ import annotations

from livefacts.language.expressions import written
from livefacts.model.facts import Term, shown
from livefacts.plan.continuous.flow import (
    Choose,
    Combine,
    Compute,
    Condition,
    Constantly,
    Cut,
    FlowPlan,
    Gather,
    Group,
    Joined,
    Keep,
    Mark,
    Match,
    MatchNamed,
    Once,
    Operator,
    Reach,
    Stamp,
    Statements,
)

FORMS = {"SELECT": "rows", "ASK": "yes or no", "CONSTRUCT": "triples"}


class PlanWords(str):
    """How a query is followed; `to_dot` draws it."""

    _dot: str

    def __new__(cls, text: str, dot: str) -> PlanWords:
        made = super().__new__(cls, text)
        made._dot = dot
        return made

    def to_dot(self) -> str:
        """The steps as a graph for Graphviz."""
        return self._dot


def words_of(plan: FlowPlan) -> PlanWords:
    """What the steps of a plan do, one line each."""
    lines = [_line(plan, number) for number in range(len(plan.steps))]
    anew = [number for number, step in enumerate(plan.steps) if isinstance(step.operator, Cut)]
    lines.append(
        f"step {anew[0]} is computed anew when its input changes; all others change by change"
        if anew
        else "every step is followed change by change"
    )
    return PlanWords("\n".join(lines) + "\n", _dot(plan))


def _line(plan: FlowPlan, number: int) -> str:
    step = plan.steps[number]
    taken = " and ".join(str(each) for each in step.inputs)
    what = described(step.operator)
    last = number == len(plan.steps) - 1
    result = (
        f"  -> {FORMS[plan.form]} ({', '.join(plan.variables) or 'no columns'})" if last else ""
    )
    if last and plan.is_ordered_by_more:
        result += ", and what they are ordered by"
    return f"{number:>3}  {what}{' of ' + taken if taken else ''}{result}"


def described(operator: Operator) -> str:
    """What an operator does, in a few words."""
    match operator:
        case Match():
            return f"triples {' '.join(map(_slot, operator.slots))}"
        case MatchNamed():
            *triple, graph = operator.slots
            place = "named graphs" if graph is None else f"graph {_slot(graph)}"
            return f"triples {' '.join(map(_slot, triple))} in {place}"
        case Joined():
            texts = (" ".join(map(_slot, slots)) for slots in operator.patterns)
            return f"triples {' and '.join(texts)}"
        case Constantly():
            return f"{len(operator.rows)} constant rows"
        case Combine():
            pairs = ", ".join(f"{a}={b}" for a, b in (*operator.agreeing, *operator.equal))
            return f"pairs that agree in [{pairs}]" if pairs else "all pairs"
        case Keep():
            keys = ", ".join(map(str, operator.keys))
            return f"rows whose [{keys}] {'is' if operator.present else 'is not'} in the second"
        case Mark():
            keys = ", ".join(map(str, operator.keys))
            return f"rows with whether [{keys}] is in the second"
        case Group():
            totals = ", ".join(total.function for total in operator.totals)
            return f"groups by {list(operator.keys)}: {totals}"
        case Cut():
            each = f" for each {list(operator.keys)}" if operator.keys else ""
            return f"rows {operator.start} to {_end(operator)} in order{each}, computed anew,"
        case _:
            return _described_briefly(operator)


def _described_briefly(operator: Operator) -> str:
    match operator:
        case Condition():
            return f"rows where {written(operator.expression)}"
        case Compute():
            return f"rows with {written(operator.expression)}"
        case Stamp():
            return "rows with a blank node of their own"
        case Choose():
            return f"columns [{', '.join(map(_slot, operator.sources))}]"
        case Gather():
            return "rows"
        case Once():
            return "each row once"
        case Statements():
            return "rows that are triples"
        case Reach():
            return "pairs (seed, reached) along edges and from seeds"
        case _:
            raise AssertionError(f"{operator} is described elsewhere")


def _end(operator: Cut) -> str:
    return "the end" if operator.length is None else str(operator.start + operator.length)


def _slot(slot: Term | int | None) -> str:
    if slot is None:
        return "unbound"
    return f"?{slot}" if isinstance(slot, int) else shown(slot)


def _dot(plan: FlowPlan) -> str:
    lines = ["digraph flow {", "  rankdir=BT; node [shape=box, fontname=monospace];"]
    for number, step in enumerate(plan.steps):
        label = described(step.operator).replace("\\", "\\\\").replace('"', '\\"')
        lines.append(f'  s{number} [label="{label}"];')
        lines += [f"  s{each} -> s{number};" for each in step.inputs]
    return "\n".join([*lines, "}"]) + "\n"

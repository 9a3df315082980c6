"""Tree text: explanations as trees of lines, as text and as HTML that folds.

A proof that is used twice is shown once; the second time the tree says "see above".
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from livefacts.language.formula import Aggregate, Formula, Negation
from livefacts.model.facts import Fact
from livefacts.plan.time_lowering import SIZE
from livefacts.service.explanations.list_folds import fold_lists
from livefacts.service.explanations.proof_trees import (
    Absent,
    Aggregated,
    AggregateRow,
    Attempt,
    Compared,
    Explanation,
    Premise,
    PremiseState,
    Step,
    Wanted,
)
from livefacts.service.explanations.time_words import is_of_clock
from livefacts.service.explanations.wording import Words

DEEPEST = 60
"""Levels of a proof that are shown; `to_dict` has all of them."""
ROWS_SHOWN = 10
ATTEMPTS_SHOWN = 5
STYLE = (
    ".livefacts-why{font-family:ui-monospace,monospace;font-size:90%}"
    ".livefacts-why details,.livefacts-why div{margin-left:1.2em}"
    ".livefacts-why small{color:#777;display:block;margin-left:1.2em}"
    ".livefacts-why i{color:#777;margin-left:.8em}"
)


@dataclass(frozen=True, slots=True)
class Branch:
    """A line of a tree, a word on its state, lines that say why, and what is below it."""

    title: str
    note: str = ""
    why: tuple[str, ...] = ()
    below: tuple[Branch, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """A whole explanation: its trees, and remarks below them."""

    trees: tuple[Branch, ...]
    remarks: tuple[str, ...] = ()


def page(explanation: Explanation) -> Page:
    """The lines that explain a fact."""
    words = Words(explanation.prefixes, explanation.written)
    if explanation.proof is None:
        return _page_of_attempts(explanation, words)
    remark = "Too many ways lead here to be sure that there is no smaller proof."
    remarks = () if explanation.is_smallest else (remark,)
    if explanation.lasting is not None:
        remarks = (f"It holds {explanation.lasting}.", *remarks)
    return Page((_Trees(words).step(explanation.proof, 0),), remarks)


class _Trees:
    """Makes the tree of one proof, and remembers what it has shown."""

    def __init__(self, words: Words) -> None:
        self._words = words
        self._seen: set[int] = set()

    def step(self, step: Step, depth: int) -> Branch:
        title = self._words.fact(step.fact)
        if step.rule is None:
            return Branch(title, "" if is_of_clock(step.fact) else "asserted")
        if id(step) in self._seen:
            return Branch(title, "see above")
        if depth == DEEPEST:
            return Branch(title, f"… {step.height:,} more levels")
        self._seen.add(id(step))
        below = (
            self._of_window(step.premises, depth + 1)
            if self._words.is_of_window(step.rule)
            else self._folded(step.premises, depth + 1)
        )
        return Branch(title, "", self._why(step), below)

    def _folded(self, premises: Sequence[Premise], depth: int) -> tuple[Branch, ...]:
        """Premises, in which lists stand for the steps that walk along them."""
        kept, lists = fold_lists(premises)
        shown = [" ".join(map(self._words.term, items)) for items in lists.whole()]
        written = tuple(Branch(f"the list ({items})") for items in shown)
        return (*self._premises(kept, depth), *written)

    def _of_window(self, premises: Sequence[Premise], depth: int) -> tuple[Branch, ...]:
        """What is in a window; that there are as many time points as were counted goes unsaid."""
        branches = []
        for premise in premises:
            if isinstance(premise, Aggregated):
                several = f"at each of its {premise.count:,} time points"
                title = "at its one time point" if premise.count == 1 else several
                branches.append(Branch(title, "", (), self._aggregated(premise, depth).below))
            elif not (isinstance(premise, Step) and _is_of_size(premise)):
                branches.append(self._premise(premise, depth))
        return tuple(branches)

    def _why(self, step: Step) -> tuple[str, ...]:
        """The rule and its bindings; a window explains itself by what is in it."""
        if step.rule is None or self._words.is_of_window(step.rule):
            return ()
        why = f"by {self._words.rule_name(step.rule)}: {self._words.rule(step.rule)}"
        return (why, f"with {self._words.bindings(step.bindings)}") if step.bindings else (why,)

    def _premises(self, premises: Sequence[Premise], depth: int) -> tuple[Branch, ...]:
        return tuple(self._premise(premise, depth) for premise in premises)

    def _premise(self, premise: Premise, depth: int) -> Branch:
        match premise:
            case Step():
                return self.step(premise, depth)
            case Absent(atom):
                return Branch(f"no fact matches {self._words.formula(atom)}")
            case Compared(comparison):
                return Branch(self._words.formula(comparison))
            case Aggregated():
                return self._aggregated(premise, depth)

    def _aggregated(self, premise: Aggregated, depth: int) -> Branch:
        value = self._words.term(premise.value)
        over = "1 row" if premise.count == 1 else f"{premise.count:,} rows"
        rows = [self._row(row, depth + 1) for row in premise.rows[:ROWS_SHOWN]]
        if premise.count > len(rows):
            rows.append(Branch(f"… and {premise.count - len(rows):,} more"))
        title = self._words.formula(premise.aggregate)
        return Branch(title, f"is {value}, over {over}", (), tuple(rows))

    def _row(self, row: AggregateRow, depth: int) -> Branch:
        title = ", ".join(map(self._words.term, row.values))
        return Branch(title, "", (), self._premises(row.premises, depth))


def _is_of_size(step: Step) -> bool:
    """Whether a step only says how many time points a window has."""
    return isinstance(step.fact, Fact) and step.fact.name.startswith(SIZE)


def _page_of_attempts(explanation: Explanation, words: Words) -> Page:
    shown = explanation.attempts[:ATTEMPTS_SHOWN]
    trees = [Branch(f"{words.fact(explanation.fact)} does not hold")]
    if explanation.unknown:
        trees.append(Branch(_unheard(explanation, words)))
    trees += [_attempt(attempt, words) for attempt in shown]
    return Page(tuple(trees), tuple(_remarks(explanation, words)))


def _unheard(explanation: Explanation, words: Words) -> str:
    """What nothing speaks of is most often misspelt."""
    said = f"Nothing speaks of {', '.join(map(words.term, explanation.unknown))}."
    similar = ", ".join(map(words.term, explanation.similar))
    return f"{said} Did you mean {similar}?" if similar else said


def _attempt(attempt: Attempt, words: Words) -> Branch:
    bindings = words.bindings(attempt.bindings)
    why = (f"with {bindings}",) if bindings else ()
    premises = tuple(_wanted(premise, words) for premise in attempt.premises)
    return Branch(f"{words.rule_name(attempt.rule)}: {words.rule(attempt.rule)}", "", why, premises)


def _wanted(premise: Wanted, words: Words) -> Branch:
    note = _note(premise.formula, premise.state)
    if premise.value is not None and premise.state != PremiseState.TRUE:
        note = f"it is {words.term(premise.value)}"
    return Branch(f"{premise.state + ':':<9}{words.formula(premise.formula)}", note)


def _note(formula: Formula, state: PremiseState) -> str:
    if state == PremiseState.FALSE and isinstance(formula, Negation):
        return "there is such a fact"
    if state == PremiseState.MISSING and isinstance(formula, Aggregate):
        return "no row is in this group"
    return "depends on what is missing" if state == PremiseState.OPEN else ""


def _remarks(explanation: Explanation, words: Words) -> Iterator[str]:
    if not explanation.attempts:
        yield "No rule concludes this."
    elif len(explanation.attempts) > ATTEMPTS_SHOWN:
        more = len(explanation.attempts) - ATTEMPTS_SHOWN
        yield f"{more:,} more rules could conclude this; to_dict() has them, and --format json."
    if explanation.nearby:
        yield f"What holds nearby: {'; '.join(map(words.fact, explanation.nearby))}."
    if explanation.similar and not explanation.unknown:
        names = ", ".join(map(words.term, explanation.similar))
        yield f"Similar names: {names}."


# text


def as_text(explanation: Explanation) -> str:
    """The explanation as a tree for the terminal."""
    shown = page(explanation)
    lines = [line for tree in shown.trees for line in tree_lines(tree)]
    return "\n".join([*lines, *shown.remarks])


def tree_lines(branch: Branch) -> Iterator[str]:
    """A line for each branch, and behind it those that say why; the lines of a tree."""
    yield f"{branch.title}   {branch.note}".rstrip()
    side = "│  " if branch.below else "   "
    yield from (side + line for line in branch.why)
    for number, child in enumerate(branch.below, 1):
        is_last = number == len(branch.below)
        for at, line in enumerate(tree_lines(child)):
            yield (
                ("├─ " if not is_last else "└─ ") + line
                if not at
                else ("│  " if not is_last else "   ") + line
            )


# HTML


def as_html(explanation: Explanation) -> str:
    """The explanation as a fragment of HTML that needs nothing else."""
    shown = page(explanation)
    parts = [_markup(tree) for tree in shown.trees]
    parts += [f"<p>{escape(remark)}</p>" for remark in shown.remarks]
    return f'<div class="livefacts-why"><style>{STYLE}</style>{"".join(parts)}</div>'


def _markup(branch: Branch) -> str:
    note = f"<i>{escape(branch.note)}</i>" if branch.note else ""
    title = f"{escape(branch.title)}{note}"
    if not branch.below and not branch.why:
        return f"<div>{title}</div>"
    why = "".join(f"<small>{escape(line)}</small>" for line in branch.why)
    below = "".join(map(_markup, branch.below))
    return f"<details open><summary>{title}</summary>{why}{below}</details>"

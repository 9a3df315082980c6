"""Rule queries: plans of rules lowered to SQL over tables of facts.

The instances of a rule that use a pivot are one SELECT: a join for each atom, an anti-join
for each negated one, and for values a function over whole columns of decoded terms.  The
selects of all rules of a round are one query.

What an atom sees is a view: `before` and `after` are the facts without and with those of
the pivot's round, so that each instance is found exactly once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from livefacts.engine.spark.joins.fact_frame import Form
from livefacts.language.formula import Atom, Slot, TripleAtom, Variable
from livefacts.model.facts import Term
from livefacts.plan.rules.join_order import COPY, SAME
from livefacts.plan.rules.operators import AntiJoin, Bind, Level, Plan, RulePlan, Scan, Step, Test
from livefacts.store.facts.row_store import TRIPLES

TERMS = "{terms}"
INNER = "JOIN"
OTHER = "is not"
NOTHING_MADE = "CAST(NULL AS MAP<BIGINT, STRING>)"


@dataclass(frozen=True, slots=True)
class Views:
    """Which facts the pivot, the atoms before and after it, and negated atoms see."""

    pivot: str
    before: str
    after: str
    absent: str
    absent_before: str = ""
    few: bool = False
    """Whether the pivot has so few facts that tasks are sent them, and look for all others."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What queries need to know: the table, the ids of terms, and the functions on values."""

    form: Form
    id_of: Callable[[Term], int]
    text_of: Callable[[Term], str]
    compare: str = ""
    compute: str = ""


def shape_of(atom: Atom) -> int:
    """The shape of the facts that fit an atom."""
    return TRIPLES if isinstance(atom, TripleAtom) else len(atom.slots)


def as_joins(plan: Plan) -> Plan:
    """The plan with every rule as joins of all facts: no single triples, no edges."""
    return Plan(tuple(_unrestricted(level) for level in plan.general().levels))


def _unrestricted(level: Level) -> Level:
    return replace(level, plans=tuple(map(_plain, level.plans)))


def _plain(plan: RulePlan) -> RulePlan:
    if not plan.transitive:
        return plan
    steps = tuple(
        replace(step, edges_only=False) if isinstance(step, Scan) else step for step in plan.steps
    )
    return replace(plan, steps=steps, transitive=False, pivot_is_edge=False, recursive=True)


def instances_sql(plan: RulePlan, views: Views, dialect: Dialect) -> str:
    """The heads of all instances of a rule that use its pivot, one row for each instance."""
    query = _Query(views, dialect)
    query.start(plan.pivot)
    for step in plan.steps:
        query.take(step)
    return query.heads(plan.head, plan.recursive)


def literal(number: int) -> str:
    """An id as SQL writes it."""
    return f"{number}L" if number >= 0 else f"({number}L)"


def quoted(text: str) -> str:
    """A text as SQL, whatever characters it has."""
    return f"CAST(X'{text.encode().hex()}' AS STRING)"


@dataclass(slots=True)
class _Query:
    """A SELECT that grows step by step."""

    views: Views
    dialect: Dialect
    source: str = ""
    conditions: list[str] = field(default_factory=list)
    bound: dict[Variable, str] = field(default_factory=dict)
    texts: dict[Variable, str] = field(default_factory=dict)
    computed: set[Variable] = field(default_factory=set)
    world: str = ""
    sent: str = ""
    names: int = 0

    def start(self, atom: Atom) -> None:
        name = self._name()
        self.world = f"{name}.k"
        self.conditions = self._matched(atom, name)
        self.source = f"{self.views.pivot} {name}"

    def take(self, step: Step) -> None:
        match step:
            case Scan(atom, before):
                view = self.views.before if before else self.views.after
                self._join(INNER, atom, view)
            case AntiJoin(atom, before):
                view = self.views.absent_before if before else self.views.absent
                self._join("LEFT ANTI JOIN", atom, view)
            case Test(operator, left, right) if operator == SAME:
                self.conditions.append(f"{self._id(left)} = {self._id(right)}")
            case Test(operator, left, right) if operator == OTHER:
                self.conditions.append(f"{self._id(left)} <> {self._id(right)}")
            case Test(operator, left, right):
                self._test(operator, left, right)
            case Bind(target, operator, left) if operator == COPY:
                self._copy(target, left)
            case Bind():
                self._compute(step)

    def heads(self, head: Atom, recursive: bool) -> str:
        form = self.dialect.form
        cells = [self._id(slot) for slot in head.slots]
        cells += ["0L"] * (form.width - len(cells))
        columns = [f"{self.world} AS k"] if form.worlds else []
        columns.append(f"{shape_of(head)} AS f")
        columns += [f"{cell} AS {name}" for cell, name in zip(cells, form.cells, strict=True)]
        columns.append(
            "0L AS plain, 1L AS recursive" if recursive else "1L AS plain, 0L AS recursive"
        )
        columns.append(f"{self._made(head)} AS made")
        return f"SELECT {self._hint()}{', '.join(columns)} FROM {self._from()}"

    def _made(self, head: Atom) -> str:
        """The texts of the terms that the rule has computed for its head, by id."""
        made = dict.fromkeys(
            slot for slot in head.slots if isinstance(slot, Variable) and slot in self.computed
        )
        if not made:
            return NOTHING_MADE
        parts = [f"map({self.bound[slot]}, {self.texts[slot]})" for slot in made]
        return parts[0] if len(parts) == 1 else f"map_concat({', '.join(parts)})"

    # atoms

    def _join(self, kind: str, atom: Atom, view: str) -> None:
        if self.views.few and kind == INNER:
            self._send()
        name = self._name()
        conditions = [f"{name}.k = {self.world}"] if self.dialect.form.worlds else []
        conditions += self._matched(atom, name)
        self.source += f" {kind} {view} {name} ON {' AND '.join(conditions)}"

    def _send(self) -> None:
        """Send what there is so far to all tasks, so that the next view stays where it is."""
        self._wrap()
        self.sent = f"q{self.names - 1}"

    def _hint(self) -> str:
        return f"/*+ BROADCAST({self.sent}) */ " if self.sent else ""

    def _matched(self, atom: Atom, name: str) -> list[str]:
        """The conditions under which a row fits; binds the variables that are new."""
        conditions = [f"{name}.f = {shape_of(atom)}"]
        for number, slot in enumerate(atom.slots):
            cell = f"{name}.c{number}"
            if isinstance(slot, Variable) and slot not in self.bound:
                self.bound[slot] = cell
            else:
                conditions.append(f"{cell} = {self._id(slot)}")
        return conditions

    def _id(self, slot: Slot) -> str:
        if isinstance(slot, Variable):
            return self.bound[slot]
        return literal(self.dialect.id_of(slot))

    # values

    def _test(self, operator: str, left: Slot, right: Slot) -> None:
        called = self._called(self.dialect.compare, operator, left, right)
        self._wrap(f"{called} AS holds")
        self.conditions.append(f"q{self.names - 1}.holds")

    def _compute(self, step: Bind) -> None:
        called = self._called(self.dialect.compute, step.operator, step.left, step.right)
        self._wrap(f"{called} AS made")
        made = f"q{self.names - 1}.made"
        self.conditions.append(f"{made}.id IS NOT NULL")
        self.bound[step.target] = f"{made}.id"
        self.texts[step.target] = f"{made}.text"
        self.computed.add(step.target)

    def _copy(self, target: Variable, source: Slot) -> None:
        self.bound[target] = self._id(source)
        if isinstance(source, Variable) and source in self.texts:
            self.texts[target] = self.texts[source]
            self.computed |= {target} if source in self.computed else set()

    def _called(self, function: str, operator: str, left: Slot, right: Slot) -> str:
        sides = self._text(left), self._text(right)
        return f"{function}('{operator}', {sides[0]}, {sides[1]})"

    def _text(self, slot: Slot) -> str:
        """The text of a term; what was not computed here is looked up."""
        if not isinstance(slot, Variable):
            return quoted(self.dialect.text_of(slot))
        if slot not in self.texts:
            name = self._name()
            self.source += f" JOIN {TERMS} {name} ON {name}.id = {self.bound[slot]}"
            self.texts[slot] = f"{name}.text"
        return self.texts[slot]

    # nesting

    def _wrap(self, extra: str = "") -> None:
        """Make what there is a subquery, with one column for each variable."""
        columns = [f"{self.world} AS k"] if self.dialect.form.worlds else []
        name = f"q{self.names}"
        bound, texts = {}, {}
        for number, (variable, cell) in enumerate(self.bound.items()):
            columns.append(f"{cell} AS v{number}")
            bound[variable] = f"{name}.v{number}"
            if variable in self.texts:
                columns.append(f"{self.texts[variable]} AS t{number}")
                texts[variable] = f"{name}.t{number}"
        columns += [extra] if extra else []
        columns = columns or ["1 AS one"]
        self.source = f"(SELECT {self._hint()}{', '.join(columns)} FROM {self._from()}) {name}"
        self.sent = ""
        self.bound, self.texts, self.conditions = bound, texts, []
        self.world = f"{name}.k"
        self.names += 1

    def _from(self) -> str:
        return self.source + (f" WHERE {' AND '.join(self.conditions)}" if self.conditions else "")

    def _name(self) -> str:
        self.names += 1
        return f"x{self.names - 1}"


def widest(plan: Plan) -> int:
    """How many columns the facts that a plan speaks of can have."""
    widths = [3]
    for level in plan.levels:
        for each in (*level.plans, *level.negative):
            atoms: Sequence[Atom] = [each.head, each.pivot]
            atoms += [step.atom for step in each.steps if isinstance(step, Scan | AntiJoin)]  # type: ignore[operator]
            widths += [len(atom.slots) for atom in atoms]
        for aggregate in level.aggregates:
            widths += [len(aggregate.source.slots), len(aggregate.target.slots)]
    return max(widths)


def constants_of(plan: Plan) -> set[Term]:
    """The terms that a plan speaks of."""
    found: set[Term] = set()
    for level in plan.levels:
        for each in (*level.plans, *level.negative):
            for atom in (each.head, each.pivot):
                found |= _constants(atom.slots)
            for step in each.steps:
                found |= _constants(_slots(step))
        for aggregate in level.aggregates:
            found |= _constants((*aggregate.source.slots, *aggregate.target.slots))
    return found


def _slots(step: Step) -> Sequence[Slot]:
    match step:
        case Scan(atom) | AntiJoin(atom):
            return atom.slots
        case Test(_, left, right) | Bind(_, _, left, right):
            return (left, right)


def _constants(slots: Sequence[Slot]) -> set[Term]:
    return {slot for slot in slots if not isinstance(slot, Variable)}


def looks_at_values(plan: Plan) -> bool:
    """Whether a rule compares, computes or aggregates, and not only joins."""
    for level in plan.levels:
        steps = [step for each in (*level.plans, *level.negative) for step in each.steps]
        if level.aggregates or any(map(_takes_a_value, steps)):
            return True
    return False


def _takes_a_value(step: Step) -> bool:
    match step:
        case Test(operator):
            return operator not in (SAME, OTHER)
        case Bind(_, operator):
            return operator != COPY
        case _:
            return False


def named_objects(plan: Plan) -> set[Term]:
    """The objects that atoms of triples name."""
    atoms: list[Atom] = []
    for level in plan.levels:
        for each in (*level.plans, *level.negative):
            atoms += [each.pivot, *(step.atom for step in each.steps if isinstance(step, Scan))]
    return {
        atom.object
        for atom in atoms
        if isinstance(atom, TripleAtom) and not isinstance(atom.object, Variable)
    }

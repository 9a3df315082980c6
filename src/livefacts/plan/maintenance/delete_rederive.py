"""Delete-and-rederive as rules: the program that maintains another when facts or rules change.

For every predicate p it has p_del (what may go), p_red (what of that is derived otherwise),
p_ins (what comes), p_new (what is true afterwards), p_plus and p_minus (the net change).
What is asserted of a predicate that rules conclude lies in p_ext, and `p :- p_ext` is a rule
like others.  Rules that come or go make p_temp, which p is compared with.

Beyond the paper: a negation is one more premise, which what its predicate gains takes away and
what it loses grants; an aggregate is compared with its new state, as changed predicates are; and
the predicates that are recursive together with a changed one are computed anew with it.

Paper: Volz et al., sections 3.2, 4.2 and 4.4.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from livefacts.language.checks.components import strong_components
from livefacts.language.checks.strata import body_atoms
from livefacts.language.formula import Aggregate, Formula, Negation, PredicateAtom
from livefacts.language.program import Rule
from livefacts.plan.maintenance.rewrite import (
    DEL,
    EXT,
    INS,
    MINUS,
    NEW,
    PLUS,
    RED,
    ROWS,
    TEMP,
    FlatRule,
    Input,
    PredicateNames,
    ProgramSection,
    arities,
    flat_rules,
    general_atom,
    names_for,
)


@dataclass(frozen=True, slots=True)
class RederiveTask:
    """The rules to maintain, sorted by how: `kept` by differences, `renewed` from scratch."""

    names: PredicateNames
    asserted: tuple[PredicateAtom, ...]
    """Predicates that no rule concludes."""
    derived: tuple[PredicateAtom, ...]
    renewed_names: frozenset[str]
    kept: tuple[FlatRule, ...]
    renewed: tuple[FlatRule, ...]


def rederive_task(
    before: Sequence[Rule], after: Sequence[Rule], split: bool = False
) -> RederiveTask:
    """What is to be maintained on the way from one set of rules to another."""
    everything = tuple(dict.fromkeys((*before, *after)))
    names = names_for(everything, split)
    flat = flat_rules(everything, names)
    heads = dict.fromkeys(rule.head.name for rule in flat.values())
    general = {n: general_atom(n, arity, names) for n, arity in arities(flat.values()).items()}
    rules = [_link(general[name], names) for name in heads]
    rules += [flat[rule] for rule in after if rule in flat]
    changed = {flat[rule].head.name for rule in flat if (rule in before) != (rule in after)}
    renewed = _recursive_with(changed, rules)
    return RederiveTask(
        names,
        tuple(atom for name, atom in general.items() if name not in heads),
        tuple(general[name] for name in heads),
        renewed,
        tuple(rule for rule in rules if rule.head.name not in renewed),
        tuple(rule for rule in rules if rule.head.name in renewed),
    )


def _link(head: PredicateAtom, names: PredicateNames) -> FlatRule:
    """`p :- p_ext`: what is asserted is true."""
    asserted = names.atom(head, EXT)
    return FlatRule(f"{head.name}.{EXT}", 0, head, (asserted,))


def _recursive_with(changed: set[str], rules: Iterable[FlatRule]) -> frozenset[str]:
    """The predicates that depend on a changed one and it on them, itself included."""
    rules = tuple(rules)
    reads = {rule.head.name: set[str]() for rule in rules}
    for rule in rules:
        inner = [f for _, aggregate in rule.aggregates.values() for f in aggregate.body]
        atoms = (atom for atom, _ in body_atoms((*rule.body, *inner)))
        reads[rule.head.name] |= {a.name for a in atoms if isinstance(a, PredicateAtom)}
    order = list(reads)
    numbers = {name: number for number, name in enumerate(order)}
    successors = [[numbers[name] for name in reads[each] if name in numbers] for each in order]
    parts = [{order[n] for n in part} for part in strong_components(successors)]
    return frozenset(name for part in parts if part & changed for name in part)


def inputs_of(task: RederiveTask) -> Iterator[Input]:
    """What has to be filled in before the maintenance program is evaluated."""
    names = task.names
    for atom in task.derived:
        yield Input(atom, "what is true before the change")
        yield Input(names.atom(atom, EXT), "what of it is asserted before the change")
        yield Input(names.atom(atom, EXT, DEL), "what is retracted")
        yield Input(names.atom(atom, EXT, INS), "what is asserted from now on")
    for atom in task.asserted:
        yield Input(atom, "what is asserted before the change")
        yield Input(names.atom(atom, DEL), "what is retracted")
        yield Input(names.atom(atom, INS), "what is asserted from now on")


def sections_of(task: RederiveTask) -> Iterator[ProgramSection]:
    """The maintenance program."""
    names = task.names
    kept, renewed = task.kept, task.renewed
    titled = {
        "Bodies with computed values, and aggregates: the rows they match, before and after.": [
            *(part for rule in kept for part in _rows(rule, names)),
            *(part for rule in kept for part in _groups(rule, names)),
            *(part for rule in renewed for part in _new_groups(rule, names)),
        ],
        "Temp: predicates whose rules change, computed anew.": [
            *(_anew(rule, task) for rule in renewed),
            *(part for atom in task.derived for part in _compared(atom, task)),
        ],
        "Del: deletion candidates, one rule for each premise that may go.": [
            part for rule in kept for part in _deletions(rule, names)
        ],
        "Red: candidates that are still derived from what is true afterwards.": [
            _rederivation(rule, names) for rule in kept
        ],
        "Ins: insertions, one rule for each premise that may come.": [
            part for rule in kept for part in _insertions(rule, names)
        ],
        "New: what is true afterwards.": list(_new_states(task)),
        "Plus and Minus: the net change.": list(_differentials(task)),
    }
    for title, rules in titled.items():
        if rules:
            yield ProgramSection(title, tuple(rules))


def _deletions(rule: FlatRule, names: PredicateNames) -> Iterator[Rule]:
    """D_i: premise i may go, the others are those of before."""
    for number, (i, atom, is_negated) in enumerate(_premises(rule), 1):
        change = names.atom(atom, PLUS if is_negated else DEL)
        body = _with_change(rule, i, change, is_negated, names)
        yield Rule(names.atom(rule.head, DEL), body, f"{rule.id}.D{number}")


def _insertions(rule: FlatRule, names: PredicateNames) -> Iterator[Rule]:
    """I_i: premise i comes, the others are those of afterwards."""
    for number, (i, atom, is_negated) in enumerate(_premises(rule), 1):
        change = names.atom(atom, MINUS if is_negated else INS)
        body = _with_change(rule, i, change, is_negated, names, NEW)
        yield Rule(names.atom(rule.head, INS), body, f"{rule.id}.I{number}")


def _rederivation(rule: FlatRule, names: PredicateNames) -> Rule:
    """R: a candidate whose body is true afterwards."""
    body = _core(rule, names, NEW)
    return Rule(names.atom(rule.head, RED), (names.atom(rule.head, DEL), *body), f"{rule.id}.R")


def _premises(rule: FlatRule) -> Iterator[tuple[int, PredicateAtom, bool]]:
    """The places of atoms in the body, the atoms, and whether they are negated."""
    for i, formula in enumerate(rule.body):
        match formula:
            case PredicateAtom():
                yield i, formula, False
            case Negation(PredicateAtom() as atom):
                yield i, atom, True


def _with_change(
    rule: FlatRule,
    at: int,
    change: PredicateAtom,
    is_negated: bool,
    names: PredicateNames,
    *role: str,
) -> tuple[Formula, ...]:
    """The body with one premise replaced by its change, the others in one state."""
    if not (is_negated and rule.computes):
        others = [_in_state(formula, names, *role) for formula in rule.body]
        return (*others[:at], change, *others[at + 1 :])
    remaining = replace(rule, body=(*rule.body[:at], *rule.body[at + 1 :]))
    return (_rows_atom(rule, names, *role), change, *_negations(remaining, names, *role))


def _core(rule: FlatRule, names: PredicateNames, *role: str) -> tuple[Formula, ...]:
    """The body in one state, such that other atoms may share the variables of the head.

    Beside such an atom an `=` that computes a value would compare it instead, and take
    `01` for `1`: what it computes is looked up.
    """
    if rule.computes:
        return (_rows_atom(rule, names, *role), *_negations(rule, names, *role))
    return tuple(_in_state(formula, names, *role) for formula in rule.body)


def _in_state(formula: Formula, names: PredicateNames, *role: str) -> Formula:
    match formula:
        case PredicateAtom():
            return names.atom(formula, *role)
        case Negation(PredicateAtom() as atom):
            return replace(formula, atom=names.atom(atom, *role))
        case _:
            return formula


def _negations(rule: FlatRule, names: PredicateNames, *role: str) -> Iterator[Formula]:
    return (_in_state(f, names, *role) for f in rule.body if isinstance(f, Negation))


def _rows_atom(rule: FlatRule, names: PredicateNames, *role: str) -> PredicateAtom:
    return PredicateAtom(names.of(ROWS, str(rule.number), *role), rule.needed())


def _rows(rule: FlatRule, names: PredicateNames) -> Iterator[Rule]:
    """The rows of a body that computes: before, where a negation asks for them, and after."""
    if not rule.computes:
        return
    positive = [formula for formula in rule.body if not isinstance(formula, Negation)]
    if len(positive) < len(rule.body):
        yield Rule(_rows_atom(rule, names), tuple(positive), f"{rule.id}.rows")
    body = tuple(_in_state(formula, names, NEW) for formula in positive)
    yield Rule(_rows_atom(rule, names, NEW), body, f"{rule.id}.rows.N")


def _groups(rule: FlatRule, names: PredicateNames) -> Iterator[Rule]:
    """The groups of aggregates before and after, and how they differ."""
    yield from _new_groups(rule, names)
    for number, (atom, aggregate) in enumerate(rule.aggregates.values(), 1):
        id = f"{rule.id}.group{number}"
        new = names.atom(atom, NEW)
        yield Rule(atom, (aggregate,), id)
        yield Rule(names.atom(atom, DEL), (atom, Negation(new)), f"{id}.D")
        yield Rule(names.atom(atom, INS), (new, Negation(atom)), f"{id}.I")


def _new_groups(rule: FlatRule, names: PredicateNames) -> Iterator[Rule]:
    for number, (atom, aggregate) in enumerate(rule.aggregates.values(), 1):
        inner = tuple(_in_state(formula, names, NEW) for formula in aggregate.body)
        over: Aggregate = replace(aggregate, body=inner)
        yield Rule(names.atom(atom, NEW), (over,), f"{rule.id}.group{number}.N")


def _anew(rule: FlatRule, task: RederiveTask) -> Rule:
    """A rule of a changed predicate over what is true afterwards."""
    head = task.names.atom(rule.head, TEMP)
    body = tuple(_for_temp(formula, task) for formula in rule.body)
    return Rule(head, body, f"{rule.id}.Temp")


def _for_temp(formula: Formula, task: RederiveTask) -> Formula:
    atom = formula.atom if isinstance(formula, Negation) else formula
    is_renewed = isinstance(atom, PredicateAtom) and atom.name in task.renewed_names
    return _in_state(formula, task.names, TEMP if is_renewed else NEW)


def _compared(atom: PredicateAtom, task: RederiveTask) -> Iterator[Rule]:
    """What a changed predicate loses and gains."""
    if atom.name in task.renewed_names:
        names = task.names
        temp = names.atom(atom, TEMP)
        yield Rule(names.atom(atom, DEL), (atom, Negation(temp)), f"{atom.name}.Temp.D")
        yield Rule(names.atom(atom, INS), (temp, Negation(atom)), f"{atom.name}.Temp.I")


def _new_states(task: RederiveTask) -> Iterator[Rule]:
    for atom in task.derived:
        yield from _new_state(task.names.atom(atom, EXT), task.names)
    for atom in task.asserted:
        yield from _new_state(atom, task.names)
    for atom in task.derived:
        yield from _new_state(atom, task.names, atom.name not in task.renewed_names)


def _new_state(
    atom: PredicateAtom, names: PredicateNames, may_rederive: bool = False
) -> Iterator[Rule]:
    """N_1, N_2 and N_3: what stays, what is rederived and what comes."""
    new = names.atom(atom, NEW)
    yield Rule(new, (atom, Negation(names.atom(atom, DEL))), f"{atom.name}.N1")
    if may_rederive:
        yield Rule(new, (names.atom(atom, RED),), f"{atom.name}.N2")
    yield Rule(new, (names.atom(atom, INS),), f"{atom.name}.N3")


def _differentials(task: RederiveTask) -> Iterator[Rule]:
    """P and M: what was not there comes, and what is not back goes."""
    names = task.names
    for atom in (*task.asserted, *task.derived):
        may_rederive = atom in task.derived and atom.name not in task.renewed_names
        back = [names.atom(atom, role) for role in ((INS, RED) if may_rederive else (INS,))]
        yield Rule(
            names.atom(atom, PLUS), (names.atom(atom, INS), Negation(atom)), f"{atom.name}.P"
        )
        yield Rule(
            names.atom(atom, MINUS),
            (names.atom(atom, DEL), *map(Negation, back)),
            f"{atom.name}.M",
        )

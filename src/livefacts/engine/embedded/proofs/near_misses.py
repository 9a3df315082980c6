"""Near misses: how close a rule comes to concluding a fact that does not hold.

For each rule whose head could be the fact, the search looks for bindings under which most
of the body is true.  A premise is matched by a fact, or missing (no fact fits it), or open
(facts fit it, but which of them depends on what is missing); a comparison or negation
holds, fails, or is open as well.

A fact is matched only with a premise that the head, a constant or a matched premise ties
down: any other match would be one out of many, and say nothing.  Only where nothing is
missing in that way do free premises count, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations, islice

from livefacts.engine.embedded.proofs.backward_search import BoundRules
from livefacts.engine.embedded.proofs.body_matches import AtomPattern, BoundBody, Check, Env
from livefacts.engine.embedded.proofs.lookups import Fact, name_column
from livefacts.language.formula import Variable, variables_of
from livefacts.plan.rules.normal_form import TRUE

MOST_WAYS = 200
"""Facts that are tried for a premise, and bindings for a set of premises."""
MOST_SETS = 200
"""Sets of premises that are tried for a rule."""


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A rule that would conclude a fact if its missing and failed premises were true."""

    body: BoundBody
    env: Env
    matched: tuple[AtomPattern, ...]
    missing: tuple[AtomPattern, ...]
    open: tuple[AtomPattern, ...]
    held: tuple[Check, ...]
    failed: tuple[Check, ...]

    @property
    def lacks(self) -> int:
        """How many premises are known to be false."""
        return len(self.missing) + len(self.failed)

    def wants(self, fact: Fact) -> bool:
        """Whether the fact itself is missing: then the rule says nothing new."""
        known = tuple(enumerate(fact))
        return any(
            atom.relation == self.body.head.relation and atom.known(self.env) == known
            for atom in self.missing
        )

    @property
    def rank(self) -> tuple[int, int, int]:
        """Nearest first: the fewest false, then the fewest open, then the most true."""
        true = len(self.matched) + len(self.held)
        return self.lacks, len(self.open), -true


def near_misses(rules: BoundRules, shape: int, fact: Fact) -> list[NearMiss]:
    """The nearest miss of each rule that could conclude a fact, nearest first."""
    bodies = rules.concluding(rules.lookup.relation(shape), fact)
    found = [_nearest(body, fact) for body in bodies if isinstance(body, BoundBody)]
    return sorted((miss for miss in found if miss is not None), key=lambda miss: miss.rank)


def _nearest(body: BoundBody, fact: Fact) -> NearMiss | None:
    bound = body.from_head(fact)
    if bound is None:
        return None
    for is_free in (False, True):
        best = _best(body, fact, *bound, is_free=is_free)
        if best is not None:
            return best
    return None


def _best(body: BoundBody, fact: Fact, env: Env, wanted: Env, *, is_free: bool) -> NearMiss | None:
    """The best over all sets of premises, the large ones first."""
    best: NearMiss | None = None
    for matched in islice(_sets(body, env, is_free), MOST_SETS):
        if best is not None and best.lacks <= len(body.atoms) - len(matched):
            break
        for found in islice(body.matches(matched, env, most=MOST_WAYS), MOST_WAYS):
            miss = _judged(body, matched, found, wanted)
            is_useful = miss.lacks and not miss.wants(fact)
            if is_useful and (best is None or miss.rank < best.rank):
                best = miss
    return best


def _sets(body: BoundBody, env: Env, is_free: bool) -> Iterator[tuple[AtomPattern, ...]]:
    for size in range(len(body.atoms), -1, -1):
        for chosen in combinations(body.atoms, size):
            if is_free or size == len(body.atoms) or _is_tied(chosen, set(env)):
                yield chosen


def _is_tied(atoms: Iterable[AtomPattern], known: set[Variable]) -> bool:
    """Whether each of the atoms is tied down by what is known or by another one."""
    waiting = list(atoms)
    while waiting:
        tied = [atom for atom in waiting if _has_hold(atom, known)]
        if not tied:
            return False
        waiting = [atom for atom in waiting if atom not in tied]
        known = known | {v for atom in tied for v in variables_of(atom.atom)}
    return True


def _has_hold(atom: AtomPattern, known: set[Variable]) -> bool:
    name = name_column(atom.relation)
    places = [slot for column, slot in enumerate(atom.slots) if column != name]
    predicate = atom.slots[name]
    return (
        not places
        or any(not isinstance(slot, Variable) or slot in known for slot in places)
        or predicate in known
    )


def _judged(body: BoundBody, matched: tuple[AtomPattern, ...], found: Env, wanted: Env) -> NearMiss:
    env, held, failed = _checked(body, found, wanted)
    others = [atom for atom in body.atoms if atom not in matched]
    is_open = {atom: body.has_match(atom, env) for atom in others}
    return NearMiss(
        body,
        env,
        tuple(atom for atom in matched if atom.atom != TRUE),
        tuple(atom for atom in others if not is_open[atom]),
        tuple(atom for atom in others if is_open[atom]),
        tuple(held),
        tuple(failed),
    )


def _checked(body: BoundBody, found: Env, wanted: Env) -> tuple[Env, list[Check], list[Check]]:
    """The checks that hold and that fail.

    What is computed must be what the head wants; where it is not, that equation fails, and
    the others are judged by what is wanted.
    """
    env = dict(found)
    held: list[Check] = []
    failed: list[Check] = []
    waiting, progress = list(body.checks), True
    while progress:
        progress = False
        for check in tuple(waiting):
            before = set(env)
            holds = body.holds(check, env)
            if holds is None:
                continue
            fits = all(env[v] == wanted.get(v, env[v]) for v in env.keys() - before)
            env |= {v: value for v, value in wanted.items() if v in env}
            (held if holds and fits else failed).append(check)
            waiting = [other for other in waiting if other is not check]
            progress = True
    return env | wanted, held, failed

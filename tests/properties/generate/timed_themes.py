"""Themes of time: a few rules that belong together and that random drawing would hardly hit."""

from __future__ import annotations

import random

from tests.properties.generate.vocabulary import integer

from livefacts.language.formula import (
    ALWAYS,
    AT,
    SOMETIME,
    Aggregate,
    Arithmetic,
    Comparison,
    Negation,
    PredicateAtom,
    Slot,
    Timed,
    Variable,
)
from livefacts.language.program import Rule
from livefacts.language.windows import FactWindow, SessionWindow, TimeWindow, Window
from livefacts.model.durations import Duration

T, U, V, N, X, Y, Z = map(Variable, "tuvnxyz")


def atom(name: str, *arguments: Slot) -> PredicateAtom:
    return PredicateAtom(name, arguments)


def last(points: int) -> Window:
    return TimeWindow(Duration(points))


def cooling(pick: random.Random) -> list[Rule]:
    """Readings are judged at their time points; alarms need all of a window."""
    n, m = pick.choice((0, 1, 2)), pick.choice((1, 2))
    judged = Comparison(V, ">=", integer(1))
    steam, warm = atom("total", X, V), atom("warm", X)
    return [
        Rule(steam, (Timed(AT, atom("reading", X, V), last(m), T), judged), at=T),
        Rule(warm, (Timed(AT, steam, last(m), T),), at=T),
        Rule(atom("alarm"), (Timed(ALWAYS, warm, last(n)),)),
        Rule(atom("_mark", X), (Timed(SOMETIME, warm, last(m)), Negation(atom("alarm")))),
    ]


def reaching(pick: random.Random) -> list[Rule]:
    """Recursion over steps that are seen in windows of two sizes."""
    n, m = pick.choice((1, 2, 4)), pick.choice((0, 1, 2))
    near, far = atom("near", X, Y), atom("far", X, Y)
    step = Timed(SOMETIME, atom("near", Y, Z), last(m))
    return [
        Rule(far, (Timed(SOMETIME, near, last(n)),)),
        Rule(atom("far", X, Z), (far, step)),
    ]


def reaching_in_time(pick: random.Random) -> list[Rule]:
    """Recursion through `at`: what is reached at the time points at which steps are seen."""
    n = pick.choice((1, 2, 3))
    far = atom("far", X, Y)
    return [
        Rule(far, (Timed(AT, atom("near", X, Y), last(n), T),), at=T),
        Rule(
            atom("far", X, Z),
            (Timed(AT, far, last(n), T), Timed(AT, atom("near", Y, Z), last(n), T)),
            at=T,
        ),
        Rule(atom("alarm"), (Timed(ALWAYS, atom("far", X, X), last(1)),)),
    ]


def waiting(pick: random.Random) -> list[Rule]:
    """What was not answered in the time points after it was asked."""
    n, by = pick.choice((2, 3, 4)), pick.choice((1, 2))
    shifted = Comparison(U, "=", Arithmetic("+", T, integer(by)))
    answered = Timed(AT, atom("seen", X), last(n), U, denied=True)
    return [
        Rule(atom("when", T), (Timed(AT, atom("hot", X), last(n), T), shifted, answered)),
        Rule(atom("warm", X), (Timed(AT, atom("hot", X), last(n), T), shifted, answered), at=U),
    ]


def echoes(pick: random.Random) -> list[Rule]:
    """A conclusion that moves on by itself, as far as its window lets it."""
    n, by = pick.choice((1, 2, 3)), pick.choice((1, 2))
    operator = pick.choice("+-")
    shifted = Comparison(U, "=", Arithmetic(operator, T, integer(by)))
    warm = atom("warm", X)
    return [
        Rule(warm, (Timed(AT, atom("hot", X), last(n), T),), at=T),
        Rule(warm, (Timed(AT, warm, last(n), T), shifted), at=U),
        Rule(atom("when", T), (Timed(AT, warm, last(4), T),)),
    ]


def tallies(pick: random.Random) -> list[Rule]:
    """Sums and counts over windows, and a look at what they were."""
    n = pick.choice((1, 2, 3))
    window = pick.choice((last(n), FactWindow(n)))
    readings = Timed(AT, atom("reading", X, V), window, T)
    listed = pick.choice(((V,), (V, T)))
    return [
        Rule(atom("total", X, N), (Aggregate(N, "sum", listed, (readings,)),)),
        Rule(atom("when", N), (Aggregate(N, "count", (T,), (readings,)),)),
        Rule(atom("alarm"), (Timed(SOMETIME, atom("when", integer(2)), last(2)),)),
    ]


def silences(pick: random.Random) -> list[Rule]:
    """What ends and begins while nothing arrives."""
    n, m = pick.choice((1, 2, 3)), pick.choice((0, 1, 2))
    hot = Timed(SOMETIME, atom("hot", X), last(n))
    quiet = pick.choice(
        (
            Timed(SOMETIME, atom("seen", X), last(m), denied=True),
            Timed(ALWAYS, atom("seen", X), last(m), negated=True),
            Timed(SOMETIME, atom("seen", X), last(m), negated=True),
            Timed(ALWAYS, atom("seen", X), last(m), denied=True),
        )
    )
    return [
        Rule(atom("warm", X), (hot, quiet)),
        Rule(atom("alarm"), (Timed(ALWAYS, atom("open"), last(m)), Negation(atom("warm", X)), hot)),
    ]


def steadiness(pick: random.Random) -> list[Rule]:
    """Runs of time points, of what arrives and of what is concluded for them."""
    n, m = pick.choice((1, 2, 3)), pick.choice((1, 2, 3))
    warm = atom("warm", X)
    return [
        Rule(warm, (Timed(AT, atom("hot", X), last(n), T),), at=T),
        Rule(warm, (Timed(AT, atom("seen", X), last(m), T),), at=T),
        Rule(atom("_mark", X), (Timed(ALWAYS, warm, last(min(n, m))),)),
        Rule(atom("alarm"), (Timed(ALWAYS, atom("hot", X), last(m)),)),
    ]


def doubly(pick: random.Random) -> list[Rule]:
    """What arrives is concluded as well, and windows look at it."""
    n, m = pick.choice((0, 1, 2)), pick.choice((1, 2, 3))
    hot, session = atom("hot", X), SessionWindow(Duration(m), "seen")
    return [
        Rule(hot, (Timed(pick.choice((SOMETIME, ALWAYS)), atom("seen", X), last(n)),)),
        Rule(atom("warm", X), (Timed(SOMETIME, hot, pick.choice((last(m), session))),)),
        Rule(atom("when", T), (Timed(AT, hot, last(m), T),)),
    ]


def quotients(pick: random.Random) -> list[Rule]:
    """Times that are computed, equal to time points but other terms, and what is not denied of them."""
    n, m, by = pick.choice((1, 2, 3)), pick.choice((0, 1, 2)), pick.choice((1, 1, 2))
    divided = Comparison(U, "=", Arithmetic("/", T, integer(by)))
    seen = Timed(AT, atom("hot", X), last(n), T)
    open_then = Timed(AT, atom("open"), last(m), U, negated=True, denied=True)
    read = Timed(SOMETIME, atom("reading", X, U), last(m), negated=True, denied=True)
    return [
        Rule(atom("total", X, T), (seen, divided, open_then), at=U),
        Rule(atom("total", X, U), (seen, divided, pick.choice((open_then, read)))),
    ]


def spreading(pick: random.Random) -> list[Rule]:
    """Recursion through `always`: what lasts in one place comes over the neighbours."""
    n, m = pick.choice((2, 3, 4)), pick.choice((1, 2, 2, 3))
    warm = atom("warm", X)
    over = Timed(AT, atom("near", X, Y), last(n), T)
    return [
        Rule(warm, (Timed(AT, atom("hot", X), last(n), T),), at=T),
        Rule(atom("warm", Y), (Timed(ALWAYS, warm, last(m)), over), at=T),
        Rule(atom("_mark", X), (Timed(ALWAYS, warm, last(m)),)),
    ]


def persisting(pick: random.Random) -> list[Rule]:
    """What has lasted is concluded for earlier time points as well; gaps end it."""
    n, m = pick.choice((3, 4)), pick.choice((2, 2, 3))
    warm = atom("warm", X)
    earlier = Timed(AT, atom(pick.choice(("hot", "seen")), Y), last(n), T)
    return [
        Rule(warm, (Timed(AT, atom("hot", X), last(n), T),), at=T),
        Rule(warm, (Timed(ALWAYS, warm, last(m)), earlier), at=T),
        Rule(atom("total", X, T), (Timed(AT, warm, last(n), T),)),
    ]


THEMES = (
    persisting,
    doubly,
    spreading,
    cooling,
    reaching,
    reaching_in_time,
    waiting,
    echoes,
    tallies,
    silences,
    steadiness,
    quotients,
)

"""Changes for a while: a reasoner as it would be, and then as it was.

The parts of a SPARQL Update see what the parts before them did, and yet all of it is one
change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from livefacts.service.change.intake import Intake
from livefacts.service.change.retraction import Withdrawal

if TYPE_CHECKING:
    from livefacts.service.change.delta import Delta
    from livefacts.service.reasoner.reasoner import Reasoner

NO_LIMIT = 1 << 62


def change_to(reasoner: Reasoner, net: Mapping[Any, bool]) -> Delta:
    """Tell what is to be told, and untell what is not."""
    return reasoner.apply(
        add=[statement for statement, asserted in net.items() if asserted],
        remove=[statement for statement, asserted in net.items() if not asserted],
    )


@contextmanager
def changed(reasoner: Reasoner, net: Mapping[Any, bool]) -> Iterator[None]:
    """The state after a change, for a while; then everything is as before."""
    kept = reasoner._seq, reasoner._limit, reasoner._refuses
    reasoner._refuses = False
    watching = reasoner._watching
    try:
        with nullcontext() if watching is None else watching.quietly():
            delta = change_to(reasoner, net)
            try:
                yield
            finally:
                reasoner._limit = NO_LIMIT
                _rewind(reasoner, delta)
    finally:
        reasoner._seq, reasoner._limit, reasoner._refuses = kept


def _rewind(reasoner: Reasoner, delta: Delta) -> None:
    """Take a change back, to the end even if interrupted: doing it twice does no harm."""
    intake, outtake = Intake(reasoner._dictionary), Withdrawal(reasoner._dictionary)
    intake.take_rows(delta.assertions.retracted, delta.assertions.went)
    outtake.take_rows(delta.assertions.asserted, delta.assertions.came)
    try:
        reasoner._take(intake, outtake=outtake)
    except KeyboardInterrupt:
        reasoner._take(intake, outtake=outtake)
        raise

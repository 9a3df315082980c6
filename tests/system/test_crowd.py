"""A small crowd for a moment: what `python -m tests.system.crowd` does for as long as one says."""

from __future__ import annotations

import pytest
from tests.system.crowd import Crowd, soak

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("serve")]


def test_nothing_fails_and_everybody_is_told() -> None:
    found = soak(Crowd(2.0, readers=2, followers=30, changes=100))
    assert found.wrong == []
    assert found.taken
    assert found.written
    assert found.events > len(found.written)

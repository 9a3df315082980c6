"""Terms are given back early here, so that ids mean other terms all the time."""

from __future__ import annotations

import pytest

from livefacts.service.streams import reclamation


@pytest.fixture(autouse=True)
def early_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few terms that may be in use nowhere are worth a sweep, whatever it looks at."""
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 2)
    monkeypatch.setattr(reclamation, "SHARE", 1 << 20)

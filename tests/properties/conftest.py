"""Terms are given back early here, so that ids mean other terms all the time; and tables are
written as changes of those before."""

from __future__ import annotations

import pytest

from livefacts.kb import unsaved_changes
from livefacts.service.streams import reclamation


@pytest.fixture(autouse=True)
def early_sweeps(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few terms that may be in use nowhere are worth a sweep, whatever it looks at."""
    monkeypatch.setattr(reclamation, "FEWEST_LOOSE", 2)
    monkeypatch.setattr(reclamation, "SHARE", 1 << 20)


@pytest.fixture(autouse=True)
def rarely_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Versions of tables have only what has changed, until that is more than there are facts."""
    monkeypatch.setattr(unsaved_changes, "FOLD_PART", 1)

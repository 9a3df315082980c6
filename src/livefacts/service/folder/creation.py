"""The creation of a folder: the rules and settings it was given then, compared with what is given now.

Rules that came later are changes, and are in the journal; here are only those that a program
gives every time it opens its folder.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from livefacts.errors import LivefactsError
from livefacts.language.program import NO_PROGRAM, Program
from livefacts.language.rule_text import write_program, write_rule
from livefacts.service.folder.saved_state import SavedFolder
from livefacts.service.knowledge.draft import Draft
from livefacts.service.knowledge.state import State
from livefacts.service.merging.equality import RULES
from livefacts.syntax.rule_sets import RuleSource, open_rules
from livefacts.syntax.rulelang.rule_parser import parse, ready_names

CREATED = "created"
MOST_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Creation:
    """What a folder was made with; None where nothing was said."""

    program: Program | None = None
    names: tuple[str, ...] = ()
    """The ready rule sets among the rules."""
    same_as: str | None = None
    start: Any = None
    tick: str | None = None

    @classmethod
    def of(
        cls, rules: RuleSource | None, same_as: str | None, start: Any, tick: str | None
    ) -> Creation:
        """What is given now."""
        program = None if rules is None else open_rules(rules)
        return cls(program, _names(rules), same_as, None if start is None else str(start), tick)

    @classmethod
    def read(cls, found: Mapping[str, Any]) -> Creation:
        """What the marker of a folder says."""
        text = found.get("rules")
        program = None if text is None else parse(text)
        others = (found.get(name) for name in ("same_as", "start", "tick"))
        return cls(program, tuple(found.get("names", ())), *others)

    def settings(self) -> dict[str, Any]:
        """The same, for the marker."""
        text = None if self.program is None else write_program(self.program)
        return {
            CREATED: {
                "rules": text,
                "names": list(self.names),
                "same_as": self.same_as,
                "start": self.start,
                "tick": self.tick,
            }
        }

    def options(self, same_as: str | None) -> dict[str, Any]:
        """The options of the reasoner."""
        start = int(self.start) if str(self.start or "").lstrip("-").isdigit() else self.start
        return {"same_as": same_as or self.same_as or RULES, "start": start, "tick": self.tick}

    def begin(self, state: State) -> None:
        """Give a new state the rules that the folder was made with."""
        if self.program is not None and (self.program != NO_PROGRAM or self.program.axioms):
            draft = Draft(state)
            draft.add_rules(self.program)
            draft.apply()
            state.seq = 0


def _names(rules: RuleSource | None) -> tuple[str, ...]:
    each = [rules] if isinstance(rules, str) else rules if isinstance(rules, list | tuple) else []
    return tuple(name for name in each if isinstance(name, str) and name in ready_names())


def created(saved: SavedFolder, given: Creation, upgrade: bool, read_only: bool) -> Creation:
    """What the folder was made with; an error if something else is given now."""
    if not saved.is_there:
        if read_only:
            raise LivefactsError(
                f"there is no knowledge base in {saved.path}",
                hint="livefacts load kb/ data.nt makes one, and in Python Reasoner.open(folder)",
            )
        return given
    if CREATED not in saved.settings:
        return replace(given, same_as=given.same_as or saved.same_as)
    found = Creation.read(saved.settings[CREATED])
    if given.program is not None:
        _compare(saved, found, given, upgrade)
    for name in ("start", "tick"):
        if getattr(given, name) not in (None, getattr(found, name)):
            raise LivefactsError(
                f"{saved.path} was made with {name}={getattr(found, name)!r}, "
                f"not {getattr(given, name)!r}",
                hint="leave it out, or make another folder",
            )
    return replace(found, same_as=found.same_as or saved.same_as)


def _compare(saved: SavedFolder, found: Creation, given: Creation, upgrade: bool) -> None:
    """Refuse other rules than those that the folder was made with, and show the difference."""
    assert given.program is not None, "rules were given"
    before, now = found.program or Program(), given.program
    known, wanted = ({r.key(): r for r in program} for program in (before, now))
    lines = [f"- {write_rule(r)}" for key, r in known.items() if key not in wanted]
    lines += [f"+ {write_rule(r)}" for key, r in wanted.items() if key not in known]
    lines += [f"- {fact}" for fact in before.facts if fact not in now.facts]
    lines += [f"+ {fact}" for fact in now.facts if fact not in before.facts]
    if not lines or upgrade:
        return
    more = [] if len(lines) <= MOST_SHOWN else [f"… and {len(lines) - MOST_SHOWN:,} more"]
    shown = "\n".join([*lines[:MOST_SHOWN], *more])
    same = [name for name in given.names if name in found.names]
    if same and given.names == found.names:
        hint = f"{', '.join(same)} is another one in this release; Reasoner.open(..., upgrade=True) takes it"
    else:
        hint = "give the same rules or none; in Python, add_rules and remove_rules change them"
    raise LivefactsError(f"{saved.path} was made with other rules:\n{shown}", hint=hint)

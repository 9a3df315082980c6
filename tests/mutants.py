"""Mutants: known bugs, planted one at a time; the random programs must catch each.

`python tests/mutants.py` copies the sources, replaces one piece of text, and runs random
programs against the copy.  A mutant whose programs all agree with the oracle is missed: a
hole in the generator.  A mutant whose text is gone is stale, and one that does not even
run is broken: write it anew.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CASES = 1000
SECONDS = 600
CAUGHT, MISSED, STALE, BROKEN = "caught", "missed", "stale", "broken"


@dataclass(frozen=True, slots=True)
class Mutant:
    """What goes wrong, the text of the sources that is right, and the text that is not.

    The right text stands in one place of all sources, wherever that is.
    """

    bug: str
    right: str
    wrong: str


MUTANTS = (
    Mutant(
        "a row never joins with itself",
        "seen = plans.steps[step, BEFORE] == 0 or machine.state[UPGRADE] != 0",
        "seen = False",
    ),
    Mutant(
        "semi-naive evaluation misses the last pivot of a long body",
        "in enumerate(positive_atoms(rule))",
        "in enumerate(positive_atoms(rule)[:2])",
    ),
    Mutant(
        "semi-naive evaluation misses every pivot but the first",
        "in enumerate(positive_atoms(rule))",
        "in enumerate(positive_atoms(rule)[:1])",
    ),
    Mutant(
        "negation ignores the last column",
        "index = self._store.index(relation, range(len(atom.slots)))",
        "index = self._store.index(relation, range(max(1, len(atom.slots) - 1)))",
    ),
    Mutant(
        "an aggregate counts duplicates",
        "groups + aggregate.listed,",
        "groups + aggregate.listed"
        " + tuple(v for f in aggregate.body for v in dict.fromkeys(variables_of(f))),",
    ),
    Mutant(
        "an aggregate merges tuples that differ after the first variable",
        "groups + aggregate.listed,",
        "groups + aggregate.listed[:1],",
    ),
    Mutant(
        "the value that a group had stays beside its new one",
        "for value in old if value != new]",
        "for value in old if False]",
    ),
    Mutant(
        "negation and aggregates do not wait for a lower level",
        "level[number] + ((node, successor) in graph.completed)",
        "level[number]",
    ),
    Mutant(
        "the levels run in the wrong order",
        "for level in sorted(grouped)]",
        "for level in sorted(grouped, reverse=True)]",
    ),
    Mutant(
        "the next level does not look at facts of the level before",
        "stages.open_level(self._ready_desk(), is_first)",
        "if is_first:\n            stages.open_level(self._ready_desk(), is_first)",
    ),
    Mutant(
        "inline integers are off by one where they end",
        "-INLINE_HALF <= result < INLINE_HALF",
        "-INLINE_HALF <= result <= INLINE_HALF",
    ),
    Mutant(
        "integers beyond the inline range wrap",
        "if -INLINE_HALF <= result < INLINE_HALF:",
        "result = (result + INLINE_HALF) % INLINE - INLINE_HALF\n        if True:",
    ),
    Mutant(
        "the reach of inline integers is one too wide",
        "if -INLINE_REACH <= value < INLINE_REACH else None",
        "if -INLINE_REACH <= value <= INLINE_REACH else None",
    ),
    Mutant(
        "at most means less",
        "if operator == AT_MOST:\n        return order <= 0",
        "if operator == AT_MOST:\n        return order < 0",
    ),
    Mutant(
        "a number that was rounded counts as exact",
        "if left_kind == EXACT and right_kind == EXACT:",
        "if left_kind <= ROUNDED and right_kind <= ROUNDED:",
    ),
    Mutant(
        "answers about pairs forget their operator",
        "at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)",
        "at = lookup_entry(memo.pairs, (1 << 32) | left, right)\n"
        "    if at < 0:\n"
        "        at = lookup_entry(memo.pairs, ((operator + 1) << 32) | left, right)",
    ),
    Mutant(
        "a transitive rule does not go on from a new edge",
        "[restricted(plan) for plan in plans]",
        "[restricted(plan) for plan in plans][:1]",
    ),
    Mutant(
        "a transitive rule joins edges with edges only",
        "edges_only=not pivot_is_edge",
        "edges_only=True",
    ),
    Mutant(
        "a repeated variable of the pivot is not checked",
        "if env[slot] != value:",
        "if False:",
    ),
    Mutant(
        "a repeated variable of another atom is not checked",
        "elif column not in covered:",
        "elif column not in covered and not isinstance(slot, Variable):",
    ),
    Mutant(
        "new consequences under a grown schema are not given to old triples",
        "self._give(kind, [head for head in heads if head not in set(old)])",
        "pass",
    ),
    Mutant(
        "a schema change does not reach the consequences that are known",
        "if len(mine) or len(not_mine):",
        "if False:",
    ),
    Mutant(
        "a subproperty of the schema's own vocabulary stays outside the schema",
        "        if joins:\n            self._join_schema(kind)\n",
        "        if False:\n            pass\n",
    ),
    Mutant(
        "more facts are always taken to add conclusions only",
        "return not self.level.negative and not self._interpreter.has_lost",
        "return True",
    ),
    Mutant(
        "a change that takes conclusions away does not say so",
        "delta.removed[shape] = self.store.columns(relation, rows)",
        "pass",
    ),
    Mutant(
        "computing anew takes old conclusions for told",
        "default = self._with_flags(LIVE | ASSERTED | IN_DEFAULT)",
        "default = self._with_flags(LIVE)",
    ),
    Mutant(
        "computing anew forgets what only named graphs say",
        "_joined(named, change.named),",
        "_joined(None, change.named),",
    ),
    Mutant(
        "a rule that comes later does not look at the facts that are there",
        "self._instances(rules.plans, code.GAIN)",
        "pass",
    ),
    Mutant(
        "a literal as subject is shown to users",
        "shown: Flags = named & (predicates == IRI) & (objects != SYMBOL)",
        "shown: Flags = (predicates == IRI) & (objects != SYMBOL)",
    ),
    Mutant(
        "len() does not notice what went",
        "self._shown += len(delta.added) - len(delta.removed)",
        "self._shown += len(delta.added)",
    ),
    Mutant(
        "a violation lacks the result of an aggregate",
        "outside.append(formula.result)",
        "pass",
    ),
    Mutant(
        "a computed value is compared as a term",
        "return [*steps, *more, Test(formula.operator, left, right)]",
        "return [*steps, *more, Test(formula.operator, left, left)]",
    ),
)


def main() -> int:
    options = _options()
    chosen = [m for m in MUTANTS if options.only in m.bug]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        verdict, reason = _verdict(source)
        if verdict != MISSED:
            print(f"the sources as they are differ from the oracle, mend that first: {reason}")
            return 1
        verdicts = [_tried(mutant, source) for mutant in chosen]
    failed = sum(verdict != CAUGHT for verdict in verdicts)
    print(f"{len(chosen)} mutants, {failed} not caught")
    return 1 if failed else 0


def _tried(mutant: Mutant, source: Path) -> str:
    """Plant the bug, run, and put the text back."""
    began = time.monotonic()
    places = [path for path in source.rglob("*.py") if mutant.right in path.read_text()]
    text = "".join(path.read_text() for path in places)
    if text.count(mutant.right) != 1:
        verdict, reason = STALE, f"its text is in the sources {text.count(mutant.right)} times"
    else:
        places[0].write_text(text.replace(mutant.right, mutant.wrong))
        verdict, reason = _verdict(source)
        places[0].write_text(text)
    print(
        f"{verdict:7}{time.monotonic() - began:5.0f} s  {mutant.bug}\n{'':16}{reason}", flush=True
    )
    return verdict


def _verdict(source: Path) -> tuple[str, str]:
    """Whether random programs catch what is wrong with these sources, and by what."""
    fuzz = [sys.executable, str(ROOT / "tests" / "fuzz.py"), "--seed", "0", "--minutes", "60"]
    command = [*fuzz, "--cases", str(CASES), "--stop-after", "1", "--as-they-are"]
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LIVEFACTS_CACHE_DIR": str(source.parent / "cache"),
    }
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return CAUGHT, f"not done after {SECONDS} s"
    if done.returncode == 0:
        return MISSED, ""
    if not done.stdout.endswith("differ\n"):
        return BROKEN, done.stderr.strip().splitlines()[-1]
    return CAUGHT, done.stdout.splitlines()[0][:120]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", default="", help="only mutants whose description has this text")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())

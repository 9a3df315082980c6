"""The flag bits of a stored fact: why it holds, and what the change under way has done to it.

Kernels read them in the first cell of a row (`layout`).  Those of the low half can be part of a
reason that is given to a fact (`kernel.registers.FLAG_BITS`).
"""

from __future__ import annotations

from livefacts.store.table_types import Numbering

bit = Numbering()
LIVE = 1 << bit()
ASSERTED = 1 << bit()
VISIBLE = 1 << bit()
"""Taken part as a pivot: seen by other pivots."""
EDGE = 1 << bit()
"""Holds for a reason other than the transitive rule of its predicate."""
ROOT = 1 << bit()
"""Holds for a reason other than being a consequence of one triple under the schema."""
CLOSED = 1 << bit()
"""Derived by the transitive rule of its predicate."""
FRESH = 1 << bit()
"""Made by the change under way."""
TOUCHED = 1 << bit()
"""There before the change under way, which has kept a copy of it."""
NEW_EDGE = 1 << bit()
NEW_ROOT = 1 << bit()
"""Became an edge or a root when it was visible already, and waits to be taken as one."""
KNOWN_SCHEMA = 1 << bit()
"""The closed schema has taken this triple in."""
IN_DEFAULT = 1 << bit()
"""Asserted in the default graph; `ASSERTED` alone can come from named graphs."""
UNLINKED = 1 << bit()
"""Just made, and not yet under the secondary indices."""
DOOMED = 1 << bit()
"""Lost what held it up, in the level under way; it may still be rederived."""
GONE = 1 << bit()
"""Ended by the change under way, in a level that is complete."""
UNSEEN = 1 << bit()
"""Made or ended by the change, and not yet so for the negations of the level under way."""
LOST_EDGE = 1 << bit()
LOST_ROOT = 1 << bit()
"""Ceased to be an edge or a root while it still holds, and waits to be followed."""
IN_DOUBT = 1 << bit()
LOST_PAIR = 1 << bit()
"""Marks of transitive losses: a pair that may be lost, and one that is."""
CAME = 1 << bit()
"""Became true in the pass under way; a change of rules takes two passes over the levels."""
DEAD = 1 << bit()
"""Ended in an earlier pass of the change under way."""
FELL_EDGE = 1 << bit()
FELL_ROOT = 1 << bit()
ROSE_EDGE = 1 << bit()
ROSE_ROOT = 1 << bit()
"""Ceased or began to be an edge or a root in the pass under way, for the levels to come."""
SUSPECT = 1 << bit()
"""Rederived by recursive reasons alone, which may come from rules of a level to come."""
COUNTED = 1 << bit()
"""Listed among the facts that the change has made or ended."""
VISITED = 1 << bit()
"""Met by a search along transitive losses."""

ENDED = DOOMED | GONE | DEAD
MOVED = FELL_EDGE | FELL_ROOT | ROSE_EDGE | ROSE_ROOT
TRANSIENT = FRESH | TOUCHED | CAME | MOVED | SUSPECT | COUNTED
"""What is forgotten when the change ends."""

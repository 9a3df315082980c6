"""Hash clashes: no two texts keep the same id.

An id is a hash.  Where a text gets an id that another text has, it becomes an exception of
the encoding: it gets the id that it has with a salt, and all is looked at once more.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from livefacts.errors import LivefactsError
from livefacts.kb.term_encoding import Encoding, Texts
from livefacts.store.terms.hash_ids import HashIds

SALTS = range(1, 64)
"""Salts to try in turn; more than one is needed only where hashes are cut short."""


@dataclass(frozen=True, slots=True)
class Apart:
    """Terms of which each has an id of its own, those that are new, and how ids are made."""

    terms: Texts
    new: dict[int, str]
    encoding: Encoding


def keep_apart(
    encode: Callable[[Encoding], Texts],
    encoding: Encoding,
    known: Callable[[HashIds], Mapping[int, str]],
) -> Apart:
    """Encode terms, each with another id than the others and than those `known` already."""
    for salt in SALTS:
        terms = encode(encoding)
        owners = dict(known(terms.ids))
        before = set(owners)
        pairs = list(zip(terms.ids.tolist(), terms.texts.to_pylist(), strict=True))
        clashing = [text for id, text in pairs if owners.setdefault(id, text) != text]
        if not clashing:
            return Apart(terms, {id: text for id, text in pairs if id not in before}, encoding)
        encoding = with_salt(encoding, clashing, salt)
    raise too_many_alike()


def with_salt(encoding: Encoding, texts: Iterable[str], salt: int) -> Encoding:
    """The encoding in which these texts have the ids that they get with a salt."""
    salted = {text: encoding.id_of(text, salt) for text in texts}
    return replace(encoding, exceptions={**encoding.exceptions, **salted})


def too_many_alike() -> LivefactsError:
    """What is said when no salt helps."""
    return LivefactsError(
        "too many terms have the same hash", hint="this should not happen: please report it"
    )

"""Store failures: what remote stores say when something goes wrong, in a sentence without secrets.

Whatever a store or the package that speaks to it says, may name an address and never a key.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from livefacts.errors import LivefactsError, StoreError

SECRET = re.compile(r"secret|token|password|key|sas|credential|bearer", re.IGNORECASE)
SHORTEST_SECRET = 4
OF_STORES = ("AWS_", "AZURE_", "GOOGLE_")
HIDDEN = "…"
INSIDE = re.compile(r"<Message>(.*?)</Message>", re.DOTALL)
MARKS = re.compile(r"\x1b\[\d+m|↳")

REASONS = (
    (
        (
            "InvalidAccessKeyId",
            "access key ID",
            "AccessKeyId",
            "SignatureDoesNotMatch",
            "401 Unauthorized",
            "InvalidAuthentication",
        ),
        "does not know this key",
        "give the right keys in the environment, Spark's settings or storage_options",
    ),
    (
        ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist"),
        "is not there",
        "make the bucket first, or name another one",
    ),
    (
        ("403 Forbidden", "AccessDenied", "AuthorizationFailure", "Permission denied"),
        "may not be used with these keys",
        "ask for the permission to list, read, write and delete there, or give other keys",
    ),
    (
        ("URL scheme is not allowed",),
        "is at an http address, which is not encrypted",
        "give an https address, or AWS_ALLOW_HTTP=true where that is meant",
    ),
    (
        (
            "error sending request",
            "Connection refused",
            "dns error",
            "tcp connect",
            "operation timed out",
            "error trying to connect",
        ),
        "cannot be reached",
        "check the address (AWS_ENDPOINT_URL and the like) and the network, and try again",
    ),
    (
        ("credential", "metadata token", "169.254.169.254"),
        "cannot be asked without keys",
        "give keys in the environment, Spark's settings or storage_options",
    ),
)


@contextmanager
def said_plainly(address: str, options: Mapping[str, str]) -> Iterator[None]:
    """Say in plain words why a remote store did not do what it was asked for."""
    try:
        yield
    except LivefactsError:
        raise
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), address) from error
    except Exception as error:
        if not _is_of_store(error):
            raise
        # The error of the store may show more than what is to be seen.
        raise store_error(address, str(error), options) from None


def _is_of_store(error: Exception) -> bool:
    from deltalake.exceptions import DeltaError

    return isinstance(error, OSError | DeltaError)


def store_error(address: str, text: str, options: Mapping[str, str]) -> StoreError:
    """What a store has said, as an error."""
    for marks, reason, hint in REASONS:
        if any(mark in text for mark in marks):
            return StoreError(f"{address}: the store {reason}", hint=hint)
    said = INSIDE.search(text)
    line = " ".join(MARKS.sub(" ", said[1] if said else text).split())
    return StoreError(f"{address}: the store has failed: {without_secrets(line, options)[:300]}")


def without_secrets(text: str, options: Mapping[str, str]) -> str:
    """A text in which no key, token or password is, of those that are known here.

    >>> without_secrets("bad key s3cret!", {"AWS_SECRET_ACCESS_KEY": "s3cret!"})
    'bad key …'
    """
    known = {**{n: v for n, v in os.environ.items() if n.startswith(OF_STORES)}, **options}
    for name, value in known.items():
        if SECRET.search(name) and len(value) >= SHORTEST_SECRET:
            text = text.replace(value, HIDDEN)
    return text

"""Store addresses: what a text names, a folder of this machine or a place on a remote store.

What looks like the address of a store is one, or is refused by its name: it never becomes a folder
that happens to be called so.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from livefacts.errors import InputError

SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(/{0,3})")
REMOTE = {
    "s3": "s3://bucket/folder",
    "s3a": "s3a://bucket/folder",
    "gs": "gs://bucket/folder",
    "abfs": "abfs://container@account.dfs.core.windows.net/folder",
    "abfss": "abfss://container@account.dfs.core.windows.net/folder",
    "hdfs": "hdfs://host:port/folder",
}
"""The stores that are known, and how their addresses are written."""
OTHERS = {
    "dbfs": "write /dbfs/… for the mount on the driver and all executors, "
    "or the address of the store behind it (s3://, abfss://, gs://)",
    "wasb": "write abfs://container@account.dfs.core.windows.net/…",
    "wasbs": "write abfss://container@account.dfs.core.windows.net/…",
    "s3n": "write s3://bucket/…",
}
KNOWN = f"known are {', '.join(f'{name}://' for name in REMOTE)}, file: and folders"
LOOPBACK = ("", "localhost")


def is_remote(named: str | os.PathLike[str]) -> bool:
    """Whether a text is the address of a remote store, and nothing else.

    >>> is_remote("s3a://lake/kb"), is_remote("kb/"), is_remote("<s3:a> <s3:b> <s3:c> .")
    (True, False, False)
    """
    text = os.fspath(named)
    found = SCHEME.match(text)
    return found is not None and found[1].lower() in REMOTE and not re.search(r"[\s<>\"]", text)


def address_of(named: str | os.PathLike[str]) -> str:
    """The address that a text or a path names: an absolute path, or that of a remote store."""
    text = os.fspath(named)
    found = SCHEME.match(text) if isinstance(named, str) or "://" in text else None
    if found is None:
        return str(Path(text).absolute())
    scheme, slashes = found[1].lower(), found[2]
    if scheme == "file":
        return _local(text)
    if scheme in REMOTE:
        return _remote(text, scheme, slashes)
    if not slashes and scheme not in OTHERS:
        return str(Path(text).absolute())
    raise InputError(
        f"{_shown(text)} is on a store that is not known ({scheme}:)",
        hint=OTHERS.get(scheme, KNOWN),
    )


def _local(text: str) -> str:
    url = urlsplit(text)
    if url.netloc not in LOOPBACK:
        raise InputError(f"{text} is on another machine", hint="write file:///folder")
    return str(Path(unquote(url.path)).absolute())


def _remote(text: str, scheme: str, slashes: str) -> str:
    rest = text[len(scheme) + 1 :]
    host, _, path = rest.removeprefix("//").partition("/")
    if slashes != "//" or not host:
        raise InputError(
            f"{_shown(text)} does not say which {'host' if scheme == 'hdfs' else 'bucket'} is meant",
            hint=f"write {REMOTE[scheme]}",
        )
    if ":" in host.rpartition("@")[0]:
        raise InputError(
            f"{_shown(text)}: an address may not have a key in it",
            hint="keys come from the environment, Spark's settings or storage_options",
        )
    parts = [part for part in path.split("/") if part]
    if {".", ".."} & set(parts):
        raise InputError(f"{text} has a part that is no name", hint=f"write {REMOTE[scheme]}")
    return "/".join([f"{scheme}://{host}", *parts])


def _shown(text: str) -> str:
    """A text without what may be a key."""
    return re.sub(r"//[^/]*:[^/]*@", "//…@", text)


def root_of(address: str) -> str:
    """The store of an address, without the path in it; none of a folder of this machine.

    >>> root_of("s3://lake/raw/kb"), root_of("/srv/kb")
    ('s3://lake', '')
    """
    scheme, mark, rest = address.partition("://")
    return f"{scheme}{mark}{rest.partition('/')[0]}" if mark else ""

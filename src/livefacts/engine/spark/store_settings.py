"""Store settings: what Spark's settings say of a remote store, in the words of deltalake.

Whoever has set up Spark for a store has said there where it is and which keys there are; so tables
and files are found by the same.  What is given in so many words comes first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from livefacts.kb.stores.address import is_remote

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

S3A = {
    "access.key": "AWS_ACCESS_KEY_ID",
    "secret.key": "AWS_SECRET_ACCESS_KEY",
    "session.token": "AWS_SESSION_TOKEN",
    "endpoint": "AWS_ENDPOINT_URL",
    "endpoint.region": "AWS_REGION",
}
ENCRYPTED = "connection.ssl.enabled"
AZURE_KEY, AZURE_NAME = "AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_ACCOUNT_NAME"
GOOGLE = {
    "auth.service.account.json.keyfile": "GOOGLE_SERVICE_ACCOUNT",
    "google.cloud.auth.service.account.json.keyfile": "GOOGLE_SERVICE_ACCOUNT",
}


def store_options(
    session: SparkSession, path: str | os.PathLike[str], given: Mapping[str, str]
) -> dict[str, str]:
    """The options of the store of a knowledge base: those given, and those of Spark's settings."""
    said = _of_s3(session, "")
    if is_remote(path):
        url = urlsplit(os.fspath(path))
        if url.scheme in ("s3", "s3a"):
            said |= _of_s3(session, f"bucket.{url.netloc}.")
        elif url.scheme in ("abfs", "abfss"):
            said |= _of_azure(session, url.netloc.rpartition("@")[2])
    said |= _found(session, "fs.gs.", GOOGLE)
    known = {name.upper() for name in given}
    return {name: value for name, value in said.items() if name not in known} | dict(given)


def _found(session: SparkSession, prefix: str, names: Mapping[str, str]) -> dict[str, str]:
    asked = ((option, _setting(session, prefix + name)) for name, option in names.items())
    return {option: value for option, value in asked if value}


def _setting(session: SparkSession | None, name: str) -> str:
    # What is done in the driver needs no session.
    return "" if session is None else str(session.conf.get(f"spark.hadoop.{name}", "") or "")


def _of_s3(session: SparkSession, bucket: str) -> dict[str, str]:
    found = _found(session, f"fs.s3a.{bucket}", S3A)
    endpoint = found.get("AWS_ENDPOINT_URL", "")
    is_plain = _setting(session, f"fs.s3a.{bucket}{ENCRYPTED}").lower() == "false"
    if endpoint and "://" not in endpoint:
        found["AWS_ENDPOINT_URL"] = f"{'http' if is_plain else 'https'}://{endpoint}"
    if is_plain:
        found["AWS_ALLOW_HTTP"] = "true"
    return found


def _of_azure(session: SparkSession, host: str) -> dict[str, str]:
    key = _setting(session, f"fs.azure.account.key.{host}")
    return {AZURE_KEY: key, AZURE_NAME: host.partition(".")[0]} if key else {}

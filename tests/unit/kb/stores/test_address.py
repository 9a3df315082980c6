"""What looks like the address of a store is one, or is refused by its name."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import livefacts as lf
from livefacts.kb.stores.address import address_of, is_remote
from livefacts.kb.stores.file_path import store_path
from livefacts.kb.tables import KnowledgeBase


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("s3://lake/kb/", "s3://lake/kb"),
        ("s3a://lake//raw/kb", "s3a://lake/raw/kb"),
        ("hdfs://host:9820/kb", "hdfs://host:9820/kb"),
        (
            "abfss://box@account.dfs.core.windows.net/kb",
            "abfss://box@account.dfs.core.windows.net/kb",
        ),
        ("gs://lake", "gs://lake"),
        ("file:/srv/kb", "/srv/kb"),
        ("file:///srv/a%20kb", "/srv/a kb"),
        ("/srv/kb/", "/srv/kb"),
        ("C:kb", f"{os.getcwd()}/C:kb"),
    ],
)
def test_what_is_understood(named: str, address: str) -> None:
    assert address_of(named) == address


@pytest.mark.parametrize(
    ("named", "said", "hint"),
    [
        ("dbfs:/mnt/kb", "dbfs:", "/dbfs/"),
        ("dbfs:///mnt/kb", "dbfs:", "/dbfs/"),
        ("hdfs:/kb", "which host", "hdfs://host:port/folder"),
        ("hdfs:kb", "which host", "hdfs://host:port/folder"),
        ("s3:/lake/kb", "which bucket", "s3://bucket/folder"),
        ("s3:///kb", "which bucket", "s3://bucket/folder"),
        ("wasbs://box@account.blob.core.windows.net/kb", "not known", "abfss://"),
        ("ftp://host/kb", "not known", "s3://"),
        ("alluxio:/kb", "not known", "s3://"),
        ("file://host/kb", "another machine", "file:///"),
        ("s3://lake/../kb", "no name", "s3://"),
    ],
)
def test_what_is_refused_by_name(
    named: str, said: str, hint: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(lf.InputError, match=said) as refused:
        KnowledgeBase(named)
    assert hint in refused.value.hint
    assert not list(tmp_path.iterdir()), "no folder of such a name is made"


def test_an_address_with_a_key_in_it_is_refused_and_the_key_is_not_said() -> None:
    with pytest.raises(lf.InputError) as refused:
        KnowledgeBase("s3://someone:s3cretkey@lake/kb")
    assert "s3cretkey" not in str(refused.value)


def test_a_text_of_triples_is_no_address() -> None:
    assert not is_remote("<s3:a> <s3:b> <s3:c> .")
    assert not is_remote("s3://a s3://b s3://c .")


def test_a_path_shows_its_address_and_never_its_options() -> None:
    options = {"AWS_SECRET_ACCESS_KEY": "s3cretkey"}
    path = store_path("s3://lake/kb", options) / "terms"
    assert str(path) == os.fspath(path) == "s3://lake/kb/terms"
    assert path.options["AWS_SECRET_ACCESS_KEY"] == "s3cretkey"
    assert "s3cretkey" not in repr(path) + repr(path.store)


def test_a_remote_path_is_no_folder_of_this_machine() -> None:
    with pytest.raises(lf.InputError, match="remote store"):
        lf.Reasoner.open("s3://lake/kb")

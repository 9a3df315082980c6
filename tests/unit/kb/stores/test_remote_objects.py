"""Files on a store are what files in a folder are, and what goes wrong is said without secrets."""

from __future__ import annotations

import pickle

import pyarrow as pa
import pytest
from tests.system.brokers import free_port
from tests.system.store_servers import GUEST, SECRET, StoreServer

import livefacts as lf
from livefacts.kb.stores.file_path import expand_paths, store_path
from livefacts.kb.stores.remote_failures import store_error
from livefacts.kb.tables import KnowledgeBase

ROWS = pa.table({"town": ["mill", "castle"]})


def test_what_is_written_is_read_listed_and_removed(each_store: StoreServer) -> None:
    folder = store_path(each_store.place(), each_store.options)
    file = folder / "deep" / "a.txt"
    assert not file.exists()
    assert file.stat() is None
    assert folder.list() == {}
    file.write(b"one\ntwo\n")
    file.write(b"three\nfour\n")
    assert file.read() == b"three\nfour\n"
    assert folder.list() == {"deep": None}
    state = file.stat()
    assert state is not None
    assert state.size == 11
    assert (folder / "deep").files(".txt") == {"a.txt": state}
    with pickle.loads(pickle.dumps(file)).stream() as stream:
        assert stream.seek(6) == 6
        assert stream.readline() == b"four\n"
    file.delete()
    file.delete()
    assert not file.exists()
    with pytest.raises(FileNotFoundError, match=r"deep/a\.txt"):
        file.read()


def test_rows_are_the_same_again(each_store: StoreServer) -> None:
    file = store_path(each_store.place(), each_store.options) / "rows.parquet"
    written = file.write_table(ROWS)
    found = file.stat()
    assert found is not None
    assert found.size == written.size
    assert file.read_table(ROWS.schema) == ROWS
    assert file.parquet().metadata.num_rows == 2


def test_a_glob_finds_files_of_a_store(each_store: StoreServer) -> None:
    place = each_store.place()
    names = ("raw/a.nt", "raw/b.nt.gz", "raw/deep/c.nt", "raw/.d.nt", "other/e.nt")
    for name in names:
        store_path(f"{place}/{name}", each_store.options).write(b"")

    def found(pattern: str) -> list[str]:
        paths = expand_paths(f"{place}/{pattern}", each_store.options)
        return [str(path).removeprefix(f"{place}/") for path in paths]

    assert found("raw/*.nt*") == ["raw/a.nt", "raw/b.nt.gz"]
    assert found("raw/**/*.nt") == ["raw/a.nt", "raw/deep/c.nt"]
    assert found("*/?.nt") == ["other/e.nt", "raw/a.nt"]
    assert found("raw/a.nt") == ["raw/a.nt"]
    with pytest.raises(lf.InputError, match="no file matches"):
        found("raw/*.ttl")


def test_of_all_who_put_something_one_has_put_it(each_store: StoreServer) -> None:
    path = store_path(each_store.place(), each_store.options) / "first"
    put = [path.store.put_if_absent(str(path), text) for text in (b'{"a": 1}', b'{"a": 2}')]
    assert put == [True, False]
    assert path.store.read_put(str(path)) == b'{"a": 1}'
    path.store.replace_put(str(path), b'{"a": 3}')
    assert path.store.read_put(str(path)) == b'{"a": 3}'
    assert not path.store.put_if_absent(str(path), b'{"a": 4}')


def test_a_wrong_key_is_said_and_not_shown(strict_s3: StoreServer) -> None:
    wrong = {**strict_s3.options, "AWS_SECRET_ACCESS_KEY": "another-test-secret"}
    with pytest.raises(lf.StoreError, match="does not know this key") as refused:
        KnowledgeBase(f"{strict_s3.root}/kb", wrong)
    assert "another-test-secret" not in str(refused.value)
    assert "storage_options" in refused.value.hint
    unknown = {**strict_s3.options, "AWS_ACCESS_KEY_ID": "nobody"}
    with pytest.raises(lf.StoreError, match="does not know this key"):
        KnowledgeBase(f"{strict_s3.root}/kb", unknown)


def test_a_bucket_that_is_not_there_is_said(s3: StoreServer) -> None:
    with pytest.raises(lf.StoreError, match="is not there"):
        KnowledgeBase("s3://no-such-bucket/kb", s3.options)


def test_a_store_that_is_away_is_said(s3: StoreServer) -> None:
    away = {**s3.options, "AWS_ENDPOINT_URL": f"http://127.0.0.1:{free_port()}", "max_retries": "1"}
    with pytest.raises(lf.StoreError, match="cannot be reached"):
        KnowledgeBase("s3://lake/kb", away)


def test_an_address_that_is_not_encrypted_is_said(s3: StoreServer) -> None:
    with pytest.raises(lf.StoreError, match="not encrypted") as refused:
        KnowledgeBase("s3://lake/kb", {**s3.options, "AWS_ALLOW_HTTP": "false"})
    assert "AWS_ALLOW_HTTP" in refused.value.hint


def test_a_bucket_that_these_keys_do_not_open_is_said(strict_s3: StoreServer) -> None:
    with pytest.raises(lf.StoreError, match="may not be used with these keys") as refused:
        KnowledgeBase(f"{strict_s3.root}/kb", {**strict_s3.options, "AWS_ACCESS_KEY_ID": GUEST})
    assert "permission" in refused.value.hint


def test_a_secret_in_what_a_store_says_is_hidden() -> None:
    said = f"something else: key={SECRET} in a header"
    error = store_error("s3://lake/kb", said, {"aws_secret_access_key": SECRET})
    assert SECRET not in str(error)
    assert "something else" in str(error)

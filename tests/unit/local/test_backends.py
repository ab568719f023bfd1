"""What stands beside the stores: which embedder and which index are chosen, and what is said of those that cannot be had."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from local.backends import LocalBackends, local_backends
from local.clock import ShiftedClock
from local.folder import DataFolder, LocalError, open_folder
from local.template import Feed, feeds_of, read_template

FEEDS = feeds_of(read_template())


@pytest.fixture
def closing() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DataFolder:
    monkeypatch.setenv("KEEPSAKE_EMBEDDER", "hashing")
    monkeypatch.delenv("OPENSEARCH_URL", raising=False)
    return open_folder(tmp_path / "data")


def made(folder: DataFolder, closing: ExitStack, feeds: tuple[Feed, ...] = FEEDS) -> LocalBackends:
    return local_backends(folder, feeds, lambda _module: lambda _event, _context: {}, ShiftedClock(folder.clock), closing)


def test_the_embedder_that_needs_no_model_is_taken_where_it_is_asked_for(folder: DataFolder, closing: ExitStack) -> None:
    beside = made(folder, closing)
    embedder = beside.backends.embedder()
    assert embedder is not None
    assert embedder.model == HashingEmbedder().model
    assert beside.backends.background_embedder() is embedder
    assert beside.notices == ()
    assert [runner.name for runner in beside.runners] == [feed.queue for feed in FEEDS]


def test_an_embedder_that_nobody_knows_is_refused(
    folder: DataFolder, closing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPSAKE_EMBEDDER", "titan")
    with pytest.raises(LocalError, match="KEEPSAKE_EMBEDDER is hashing, or is not set"):
        made(folder, closing)


@pytest.mark.parametrize("url", ["nonsense", "ftp://host", "http://", "http://host:port"])
def test_an_address_of_no_index_is_refused_without_being_repeated(
    folder: DataFolder, closing: ExitStack, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("OPENSEARCH_URL", url)
    with pytest.raises(LocalError, match=r"^OPENSEARCH_URL is the address of an OpenSearch node, such as http://127.0.0.1:9200$"):
        made(folder, closing)


@pytest.mark.parametrize("name", ["index.db", "queue.db"])
def test_a_broken_file_is_named_with_what_mends_it(folder: DataFolder, closing: ExitStack, name: str) -> None:
    (folder.path / name).write_bytes(b"no database at all" * 100)
    with pytest.raises(LocalError, match=rf"{name}: .* remove it"):
        made(folder, closing)


def test_files_are_given_back_when_all_is_closed(folder: DataFolder) -> None:
    with ExitStack() as closing:
        made(folder, closing)
    left = {path.name for path in folder.path.iterdir()}
    assert {"index.db", "queue.db"} <= left
    assert not {name for name in left if name.endswith("-wal")}


def test_two_queues_cannot_be_run_on_one_machine(folder: DataFolder, closing: ExitStack) -> None:
    with pytest.raises(LocalError, match="one queue"):
        made(folder, closing, (*FEEDS, *FEEDS))

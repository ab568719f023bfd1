"""Counting calls at the ports, request by request."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.clearance import OPEN
from keepsake.domain.sanitizing import for_embedding
from keepsake.domain.search import DocumentKind, IndexQuery
from keepsake.ports.embedding import Purpose
from keepsake.ports.item_store import Index, Item, Key, PageQuery, Put, Table
from local.calls import Calls, CountedEmbedder, CountedIndex, CountedStore, start_counting
from tests.fakes_index import DictSearchIndex

KEY = Key(Table.CONTROL, "k", "i")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[CountedStore]:
    kept = SqliteItemStore(tmp_path / "keepsake.db")
    yield CountedStore(kept)
    kept.close()


def test_each_call_of_the_store_counts_once(store: CountedStore) -> None:
    calls = start_counting()
    store.get_many([KEY])
    store.query(PageQuery(Table.TURNS, "p", 1))
    store.fetch([KEY], [PageQuery(Table.TURNS, "p", 1), PageQuery(Table.TURNS, "q", 1)])
    store.query_index(Index.PENDING_SESSIONS, "p", limit=1)
    store.transact([Put(Item(KEY, {"version": 1}))])
    assert str(calls) == "store=5 index=0 model=0 embed=0"


def test_each_call_of_index_and_embedder_counts_once_but_for_which_index_is_current() -> None:
    index, embedder = CountedIndex(DictSearchIndex()), CountedEmbedder(HashingEmbedder())
    calls = start_counting()
    index.create("first", embedder.model)
    index.switch("first")
    assert index.current() is not None
    index.refresh()
    index.put([], index="first")
    index.delete([])
    index.search(IndexQuery(("ann",), OPEN, frozenset(DocumentKind), ("word",), None))
    index.list_owned("ann", limit=1)
    index.list_all("first", limit=1)
    index.drop("other")
    assert len(embedder.embed([for_embedding("one"), for_embedding("two")], Purpose.PASSAGE)) == 2
    assert str(calls) == "store=0 index=8 model=0 embed=1"


def test_requests_served_at_the_same_time_do_not_mix(store: CountedStore) -> None:
    meeting = threading.Barrier(8, timeout=10)

    def work(times: int) -> None:
        meeting.wait()
        for _ in range(times):
            store.get_many([KEY])

    def request(threads: ThreadPoolExecutor, times: int) -> tuple[Calls, object]:
        calls = start_counting()
        return calls, threads.submit(copy_context().run, work, times)

    with ThreadPoolExecutor(8) as threads:
        counted = [request(threads, times)[0] for times in range(8)]
    assert [calls.store for calls in counted] == list(range(8))

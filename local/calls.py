"""Counts, per request, how often each port was called; the gateway shows it in `x-keepsake-calls`.

The count hangs on the context, not on the thread, so that requests served at the same time do not mix.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.search import Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.ports.item_store import Index, IndexPage, IndexPosition, Item, ItemStore, Key, Page, PageQuery, Write
from keepsake.ports.search_index import IndexedPage, Location, NotIndexed, PhysicalIndex, SearchIndex


@dataclass(slots=True)
class Calls:
    """Round trips of one request."""

    store: int = 0
    index: int = 0
    model: int = 0
    embed: int = 0

    def __str__(self) -> str:
        """As the header shows them."""
        return f"store={self.store} index={self.index} model={self.model} embed={self.embed}"


_current: ContextVar[Calls | None] = ContextVar("calls_of_this_request", default=None)


def start_counting() -> Calls:
    """Fresh counters for this context and for those copied from it."""
    calls = Calls()
    _current.set(calls)
    return calls


class CountedStore:
    """An item store that counts one store call for each call of the port."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """As the port says."""
        _count_store()
        return self._store.get_many(keys)

    def query(self, query: PageQuery) -> Page:
        """As the port says."""
        _count_store()
        return self._store.query(query)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """As the port says."""
        _count_store()
        return self._store.fetch(keys, pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """As the port says."""
        _count_store()
        return self._store.query_index(index, partition, limit=limit, after=after)

    def transact(self, writes: Sequence[Write]) -> None:
        """As the port says."""
        _count_store()
        self._store.transact(writes)


class CountedIndex:
    """A search index that counts one index call for each call of the port."""

    def __init__(self, index: SearchIndex) -> None:
        self._index = index

    def current(self) -> PhysicalIndex | None:
        """As the port says. Not counted: what it says is remembered for a while."""
        return self._index.current()

    def create(self, name: str, model: EmbeddingModel) -> None:
        """As the port says."""
        _count_index()
        self._index.create(name, model)

    def switch(self, name: str) -> None:
        """As the port says."""
        _count_index()
        self._index.switch(name)

    def drop(self, name: str) -> None:
        """As the port says."""
        _count_index()
        self._index.drop(name)

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        """As the port says."""
        _count_index()
        return self._index.put(documents, index=index)

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        """As the port says."""
        _count_index()
        return self._index.delete(locations)

    def search(self, query: IndexQuery) -> Found:
        """As the port says."""
        _count_index()
        return self._index.search(query)

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """As the port says."""
        _count_index()
        return self._index.list_owned(owner, limit=limit, after=after)

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """As the port says."""
        _count_index()
        return self._index.list_all(index, limit=limit, after=after)

    def refresh(self) -> None:
        """As the port says."""
        self._index.refresh()


class CountedEmbedder:
    """An embedder that counts one call for each call of the port."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder

    @property
    def model(self) -> EmbeddingModel:
        """As the port says."""
        return self._embedder.model

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        """As the port says."""
        calls = _current.get()
        if calls is not None:
            calls.embed += 1
        return self._embedder.embed(texts, purpose)


def _count_store() -> None:
    calls = _current.get()
    if calls is not None:
        calls.store += 1


def _count_index() -> None:
    calls = _current.get()
    if calls is not None:
        calls.index += 1

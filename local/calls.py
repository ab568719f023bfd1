"""Counts, per request, how often each port was called; the gateway shows it in `x-keepsake-calls`.

The count hangs on the context, not on the thread, so that requests served at the same time do not mix.
"""

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from keepsake.ports.item_store import Index, IndexPage, IndexPosition, Item, ItemStore, Key, Page, PageQuery, Write


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


def _count_store() -> None:
    calls = _current.get()
    if calls is not None:
        calls.store += 1

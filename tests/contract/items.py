"""Items for the item stores' contract, and how the suites write and read them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from keepsake.adapters.item_limits import item_bytes
from keepsake.ports.item_store import (
    Item,
    ItemStore,
    Key,
    PageQuery,
    Put,
    Table,
    Value,
)

if TYPE_CHECKING:
    pass


def memory(sort: str, partition: str = "user1", /, **attributes: Value) -> Item:
    return Item(Key(Table.LONG_TERM, partition, sort), attributes)


def turn(at: int, **attributes: Value) -> Item:
    return Item(Key(Table.TURNS, "session", at), attributes)


def put(store: ItemStore, *items: Item) -> None:
    for item in items:
        store.transact([Put(item)])


def sorts(store: ItemStore, query: PageQuery) -> list[str | int]:
    """The sort keys of all pages of `query`, read one after another."""
    found: list[str | int] = []
    while True:
        page = store.query(query)
        assert len(page.items) <= query.limit
        found += [item.key.sort for item in page.items]
        if page.next is None:
            return found
        query = PageQuery(
            query.table,
            query.partition,
            query.limit,
            prefix=query.prefix,
            after=page.next,
            until=query.until,
            descending=query.descending,
        )


def filled(sort: str, size: int, partition: str = "user1") -> Item:
    """An item of exactly `size` bytes."""
    rest = size - item_bytes(memory(sort, partition, body=""))
    return memory(sort, partition, body="x" * rest)

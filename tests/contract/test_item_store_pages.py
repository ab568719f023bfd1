"""What every item store promises of pages and of the sparse index, on each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from keepsake.ports.item_store import (
    Delete,
    Index,
    IndexPosition,
    ItemStore,
    Key,
    PageQuery,
    Table,
)
from tests.contract.items import filled, memory, put, sorts, turn

if TYPE_CHECKING:
    pass


# ---- pages ------------------------------------------------------------------------------------------------------------

NAMES = [
    "a",
    "a#",
    "a#1",
    "a#10",
    "a#2",
    "a$",
    "aa",
    "b",
    "é",
    "木",
    "\ud7ff",
    "\ud7ffz",
    "\ue000",
    "🙂",
    "\U0010ffff",
    "\U0010ffffx",
]


def test_a_partition_is_read_in_the_order_of_utf8_bytes_both_ways(store: ItemStore) -> None:
    put(store, *[memory(name) for name in reversed(NAMES)], memory("zz", "user10"), memory("zz", "user"))
    in_order = sorted(NAMES, key=str.encode)
    for limit in (1, 3, 100):
        assert sorts(store, PageQuery(Table.LONG_TERM, "user1", limit)) == in_order
        assert sorts(store, PageQuery(Table.LONG_TERM, "user1", limit, descending=True)) == in_order[::-1]


@pytest.mark.parametrize("prefix", [None, "", "a", "a#", "a#1", "\ud7ff", "\U0010ffff", "nothing"], ids=ascii)
@pytest.mark.parametrize("descending", [False, True])
def test_prefix_after_and_until_bound_a_page_together(store: ItemStore, prefix: str | None, descending: bool) -> None:
    put(store, *[memory(name) for name in NAMES])
    places = [None, "", "A", "a", "a#1", "a#1x", "aa", "\ud7ff", "\ud7ffzz", "\U0010ffff" * 2]
    for after in places:
        for until in places:
            expected = sorted(
                [
                    name
                    for name in NAMES
                    if name.startswith(prefix or "")
                    and (until is None or name <= until)
                    and (after is None or (name < after if descending else name > after))
                ],
                reverse=descending,
            )
            page = store.query(
                PageQuery(Table.LONG_TERM, "user1", 20, prefix=prefix, after=after, until=until, descending=descending)
            )
            assert [item.key.sort for item in page.items] == expected, (after, until)
            assert page.next is None


@pytest.mark.parametrize("descending", [False, True])
def test_numbers_are_ordered_as_numbers(store: ItemStore, descending: bool) -> None:
    times = [-(2**63), -10, -9, 0, 9, 10, 100, 2**63 - 1]
    put(store, *[turn(at) for at in times])
    for after in [None, -11, -10, 5, 10, 2**63 - 1, -(2**63)]:
        for until in [None, -(2**63), -1, 10, 99]:
            expected = [
                at
                for at in times
                if (until is None or at <= until) and (after is None or (at < after if descending else at > after))
            ]
            query = PageQuery(Table.TURNS, "session", 2, after=after, until=until, descending=descending)
            assert sorts(store, query) == (expected[::-1] if descending else expected)


def test_a_page_holds_whole_items_and_as_many_as_asked_for(store: ItemStore) -> None:
    put(store, *[turn(at, text=f"t{at}") for at in range(5)])
    page = store.query(PageQuery(Table.TURNS, "session", 2))
    assert page.items == (turn(0, text="t0"), turn(1, text="t1"))
    assert page.next == 1


def test_the_last_page_says_so_even_when_it_is_full(store: ItemStore) -> None:
    put(store, turn(1), turn(2))
    assert store.query(PageQuery(Table.TURNS, "session", 2)).next is None
    assert store.query(PageQuery(Table.TURNS, "session", 2, descending=True)).next is None


def test_reading_goes_on_after_a_key_that_was_deleted_meanwhile(store: ItemStore) -> None:
    put(store, *[turn(at) for at in range(4)])
    first = store.query(PageQuery(Table.TURNS, "session", 2))
    store.transact([Delete(turn(1).key), Delete(turn(2).key)])
    assert [item.key.sort for item in store.query(PageQuery(Table.TURNS, "session", 2, after=first.next)).items] == [3]


def test_a_page_ends_at_a_megabyte_and_the_next_goes_on(store: ItemStore) -> None:
    put(store, *[filled(f"{n}", 300_000) for n in range(8)])
    for descending in (False, True):
        page = store.query(PageQuery(Table.LONG_TERM, "user1", 100, descending=descending))
        assert 2 <= len(page.items) <= 3
        assert page.next == page.items[-1].key.sort
        whole = sorts(store, PageQuery(Table.LONG_TERM, "user1", 100, descending=descending))
        assert whole == sorted([f"{n}" for n in range(8)], reverse=descending)


def test_an_empty_partition_is_an_empty_page(store: ItemStore) -> None:
    assert store.query(PageQuery(Table.TURNS, "nobody", 1)).items == ()


@pytest.mark.parametrize(
    "query",
    [
        PageQuery(Table.TURNS, "session", 0),
        PageQuery(Table.TURNS, "session", -1),
        PageQuery(Table.TURNS, "", 1),
        PageQuery(Table.TURNS, "session", 1, prefix="1"),
        PageQuery(Table.TURNS, "session", 1, after="1"),
        PageQuery(Table.TURNS, "session", 1, until=2**63),
        PageQuery(Table.LONG_TERM, "user1", 1, after=1),
        PageQuery(Table.LONG_TERM, "user1", 1, until="\ud800"),
        PageQuery(Table.LONG_TERM, "user1", 1, prefix="x" * 1025),
    ],
    ids=ascii,
)
def test_a_page_that_no_store_can_answer_is_refused(store: ItemStore, query: PageQuery) -> None:
    with pytest.raises(ValueError, match=r"\A[A-Za-z0-9 ,:'-]*\Z"):
        store.query(query)


def test_a_limit_beyond_what_a_page_can_hold_is_fine(store: ItemStore) -> None:
    put(store, turn(1))
    assert store.query(PageQuery(Table.TURNS, "session", 2**40)).items == (turn(1),)


# ---- the sparse index -------------------------------------------------------------------------------------------------


def pending(store: ItemStore, shard: str, limit: int) -> list[Key]:
    found: list[Key] = []
    after: IndexPosition | None = None
    while True:
        page = store.query_index(Index.PENDING_SESSIONS, shard, limit=limit, after=after)
        assert len(page.keys) <= limit
        found += page.keys
        after = page.next
        if after is None:
            return found


def test_an_item_is_in_the_index_as_long_as_it_carries_both_attributes(store: ItemStore) -> None:
    item = memory("header", pending_shard="7", pending_since=5, text="x")
    put(store, item, memory("half", pending_shard="7"), memory("other half", pending_since=1))
    assert pending(store, "7", 10) == [item.key]
    put(store, memory("header", pending_since=5))
    assert pending(store, "7", 10) == []
    put(store, item)
    store.transact([Delete(item.key)])
    assert pending(store, "7", 10) == []


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
def test_the_index_is_read_page_by_page_in_its_order(store: ItemStore, limit: int) -> None:
    items = [
        memory(sort, user, pending_shard="7", pending_since=since)
        for user, sort, since in [("u1", "a", 30), ("u2", "b", -1), ("u10", "a", 30), ("u1", "b", 4), ("木", "#|", 100)]
    ]
    put(store, *items, memory("a", "u3", pending_shard="70", pending_since=1))
    found = pending(store, "7", limit)
    assert sorted(found, key=lambda key: (key.partition, key.sort)) == sorted(
        [item.key for item in items], key=lambda key: (key.partition, key.sort)
    )
    since = {item.key: item.attributes["pending_since"] for item in items}
    assert [since[key] for key in found] == [-1, 4, 30, 30, 100]


def test_reading_the_index_goes_on_after_an_item_that_left_it(store: ItemStore) -> None:
    put(store, *[memory(f"{n}", pending_shard="7", pending_since=n) for n in range(4)])
    first = store.query_index(Index.PENDING_SESSIONS, "7", limit=2)
    assert first.next == IndexPosition(1, memory("1").key)
    put(store, memory("1"))
    rest = store.query_index(Index.PENDING_SESSIONS, "7", limit=2, after=first.next)
    assert rest.keys == (memory("2").key, memory("3").key)
    assert rest.next is None


def test_an_index_page_that_no_store_can_answer_is_refused(store: ItemStore) -> None:
    for partition, limit, after in (("", 1, None), ("7", 0, None), ("7", 1, IndexPosition(1, turn(1).key))):
        with pytest.raises(ValueError):  # noqa: PT011
            store.query_index(Index.PENDING_SESSIONS, partition, limit=limit, after=after)

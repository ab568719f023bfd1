"""What every item store promises of reading and writing items, on each of them."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import pytest

from keepsake.adapters.dynamodb_store import DynamoDbItemStore
from keepsake.domain.errors import ItemTooLargeError
from keepsake.ports.item_store import (
    MAX_ITEM_BYTES,
    Absent,
    AbsentOrExpired,
    Check,
    Condition,
    ConditionFailedError,
    Delete,
    EpochAtMost,
    Item,
    ItemStore,
    Key,
    NotHeld,
    PageQuery,
    Put,
    RevisionAtMost,
    Table,
    Value,
    VersionEquals,
    Write,
)
from tests.contract.items import filled, memory, put, sorts, turn

if TYPE_CHECKING:
    pass


ODD_IDS = [
    "#",
    "/",
    "=|=",
    "&*",
    " ",
    "a b",
    "a\0b",
    "Ωmega",
    "木村",
    "🙂",
    "\ud7ff",
    "\ue000",
    "\U0010ffff",
    "%00",
    "~",
    "'; --",
    '"',
    "é",
    "é",
]


# ---- reading what was written -----------------------------------------------------------------------------------------


class Kind(StrEnum):
    USER = "user"


@pytest.mark.parametrize(
    "value",
    ["", "text", "🙂 Ωé\0\n", 0, -1, 2**63 - 1, -(2**63), True, False, b"", b"\x00\xff", (), ("a",), ("", "a", "木"), Kind.USER],
    ids=repr,
)
def test_a_value_comes_back_as_it_was_put_and_of_the_same_kind(store: ItemStore, value: Value) -> None:
    item = memory("one", kept=value)
    put(store, item)
    found = store.get_many([item.key])[item.key]
    assert found == item
    assert type(found.attributes["kept"]) is (str if isinstance(value, str) else type(value))


def test_an_item_without_attributes_is_there(store: ItemStore) -> None:
    put(store, memory("bare"))
    assert store.get_many([memory("bare").key]) == {memory("bare").key: memory("bare")}


def test_a_read_answers_what_is_there_of_all_tables_and_leaves_out_the_rest(store: ItemStore) -> None:
    items = [memory("a", text="x"), turn(-5, text="y"), turn(7), Item(Key(Table.CONTROL, "k", "i"), {"epoch": 3})]
    put(store, *items)
    missing = [memory("b").key, memory("a", "user10").key, turn(8).key, Key(Table.POINTERS, "user1", "a")]
    found = store.get_many([*missing, *[item.key for item in items]])
    assert found == {item.key: item for item in items}


def test_nothing_asked_for_is_nothing_found(store: ItemStore) -> None:
    assert store.get_many([]) == {}


def test_a_key_asked_for_twice_counts_once(store: ItemStore) -> None:
    put(store, turn(1))
    assert store.get_many([turn(1).key] * 101) == {turn(1).key: turn(1)}


def test_a_read_has_room_for_a_hundred_keys_and_no_more(store: ItemStore) -> None:
    keys = [turn(at).key for at in range(101)]
    assert store.get_many(keys[:100]) == {}
    with pytest.raises(ValueError, match="100"):
        store.get_many(keys)


def test_an_expired_item_is_still_returned(store: ItemStore) -> None:
    put(store, memory("old", expires_at=1))
    assert store.get_many([memory("old").key])


@pytest.mark.parametrize("name", ODD_IDS, ids=ascii)
def test_odd_ids_are_kept_apart_from_all_others(store: ItemStore, name: str) -> None:
    items = [memory(sort, partition, of=f"{partition}{sort}") for partition in ("u", name) for sort in (name, f"{name}x", "s")]
    put(store, *items)
    assert dict(store.get_many([item.key for item in items])) == {item.key: item for item in items}
    assert sorts(store, PageQuery(Table.LONG_TERM, name, 10, prefix=name)) == sorted({name, f"{name}x"})
    store.transact([Delete(items[0].key)])
    assert set(store.get_many([item.key for item in items])) == {item.key for item in items[1:]}


# ---- writing all or nothing -------------------------------------------------------------------------------------------


def test_a_put_takes_the_place_of_the_whole_item(store: ItemStore) -> None:
    put(store, memory("a", version=1, text="x", expires_at=9, pending_shard="0", pending_since=1), memory("a", version=2))
    assert store.get_many([memory("a").key])[memory("a").key] == memory("a", version=2)


def test_deleting_what_is_not_there_is_no_error(store: ItemStore) -> None:
    store.transact([Delete(memory("a").key)])


def test_one_transaction_may_touch_all_tables(store: ItemStore) -> None:
    put(store, turn(1), memory("gone"))
    writes: list[Write] = [
        Put(turn(2, text="x"), Absent()),
        Put(memory("new", version=0)),
        Delete(memory("gone").key),
        Check(turn(1).key, NotHeld()),
        Put(Item(Key(Table.AUDIT, "chain", 0), {}), Absent()),
        Put(Item(Key(Table.BUFFERS, "user1", "session"), {})),
        Put(Item(Key(Table.POINTERS, "user1", "doc"), {})),
        Put(Item(Key(Table.CONTROL, "k", "i"), {})),
    ]
    store.transact(writes)
    assert set(store.get_many([write.key for write in writes])) == {write.key for write in writes} - {memory("gone").key}


def test_one_condition_that_fails_keeps_everything_from_being_written_and_is_named(store: ItemStore) -> None:
    put(store, memory("there", version=3), memory("kept", text="old"))
    writes: list[Write] = [
        Put(memory("kept", text="new")),
        Put(memory("there"), Absent()),
        Put(turn(1)),
        Check(memory("nowhere").key, VersionEquals(1)),
        Delete(memory("there", "user10").key, NotHeld()),
    ]
    with pytest.raises(ConditionFailedError) as failed:
        store.transact(writes)
    assert failed.value.keys == (memory("there").key, memory("nowhere").key)
    assert store.get_many([turn(1).key, memory("kept").key, memory("there").key]) == {
        memory("kept").key: memory("kept", text="old"),
        memory("there").key: memory("there", version=3),
    }


CASES: list[tuple[Condition, Item | None, bool]] = [
    (Absent(), None, True),
    (Absent(), memory("a"), False),
    (AbsentOrExpired(10), None, True),
    (AbsentOrExpired(10), memory("a"), False),
    (AbsentOrExpired(10), memory("a", expires_at=9), True),
    (AbsentOrExpired(10), memory("a", expires_at=10), True),
    (AbsentOrExpired(10), memory("a", expires_at=11), False),
    (VersionEquals(0), None, False),
    (VersionEquals(0), memory("a"), False),
    (VersionEquals(0), memory("a", version=0), True),
    (VersionEquals(1), memory("a", version=2), False),
    (VersionEquals(10), memory("a", version=9), False),
    (EpochAtMost(9), None, True),
    (EpochAtMost(9), memory("a"), True),
    (EpochAtMost(9), memory("a", epoch=9), True),
    (EpochAtMost(9), memory("a", epoch=10), False),
    (EpochAtMost(9), memory("a", epoch=8, revision=99), True),
    (RevisionAtMost(9), None, True),
    (RevisionAtMost(9), memory("a"), True),
    (RevisionAtMost(9), memory("a", revision=9), True),
    (RevisionAtMost(9), memory("a", revision=10, epoch=0), False),
    (NotHeld(), None, True),
    (NotHeld(), memory("a"), True),
    (NotHeld(), memory("a", held=True), False),
    (NotHeld(), memory("a", held=False), False),
    (NotHeld(), memory("a", held=""), False),
]


@pytest.mark.parametrize(("condition", "before", "holds"), CASES, ids=repr)
@pytest.mark.parametrize("kind", [Put, Delete, Check])
def test_a_condition_says_the_same_for_every_kind_of_write(
    store: ItemStore, condition: Condition, before: Item | None, holds: bool, kind: type
) -> None:
    if before is not None:
        put(store, before)
    write: Write = Put(memory("a", new=1), condition) if kind is Put else kind(memory("a").key, condition)
    if holds:
        store.transact([write, Put(turn(1))])
    else:
        with pytest.raises(ConditionFailedError) as failed:
            store.transact([write, Put(turn(1))])
        assert failed.value.keys == (write.key,)
    after = memory("a", new=1) if kind is Put else None if kind is Delete else before
    found = store.get_many([write.key, turn(1).key])
    assert found.get(write.key) == (after if holds else before)
    assert (turn(1).key in found) == holds


# ---- what no store takes ----------------------------------------------------------------------------------------------


def test_a_transaction_has_one_to_a_hundred_writes_on_keys_of_their_own(store: ItemStore) -> None:
    store.transact([Put(turn(at)) for at in range(100)])
    for writes in ([], [Put(turn(at)) for at in range(101)], [Put(turn(1)), Delete(turn(1).key)]):
        with pytest.raises(ValueError, match="transaction"):
            store.transact(writes)  # type: ignore[arg-type]


def test_an_item_may_have_400_kilobytes_and_not_one_byte_more(store: ItemStore) -> None:
    largest = filled("big", 400_000 if isinstance(store, DynamoDbItemStore) else MAX_ITEM_BYTES)  # moto draws its line lower
    put(store, largest)
    assert store.get_many([largest.key]) == {largest.key: largest}
    with pytest.raises(ItemTooLargeError):
        store.transact([Put(turn(1)), Put(filled("big", MAX_ITEM_BYTES + 1))])
    assert store.get_many([turn(1).key]) == {}


def test_size_counts_bytes_of_names_keys_and_every_script(store: ItemStore) -> None:
    for item in (memory("a", text="木" * 136_600), memory("a", **{"n" * 409_600: 1}), memory("a", parts=("木",) * 110_000)):
        with pytest.raises(ItemTooLargeError):
            store.transact([Put(item)])
    assert store.get_many([memory("a").key]) == {}


def test_a_transaction_may_have_four_megabytes(store: ItemStore) -> None:
    with pytest.raises(ItemTooLargeError):
        store.transact([Put(filled(f"{n}", MAX_ITEM_BYTES)) for n in range(11)])
    assert sorts(store, PageQuery(Table.LONG_TERM, "user1", 100)) == []


def test_keys_may_be_as_long_as_dynamodb_takes_them(store: ItemStore) -> None:
    longest = memory("é" * 512, "木" * 682 + "ab")
    put(store, longest)
    assert store.get_many([longest.key]) == {longest.key: longest}


@pytest.mark.parametrize(
    "item",
    [
        memory(""),
        memory("a", ""),
        memory("é" * 512 + "x"),
        memory("a", "x" * 2049),
        memory("a\ud800"),
        memory("a", "\udfff"),
        memory("a", text="x\ud800"),
        memory("a", parts=("\ud800",)),
        memory("a", **{"\ud800": 1}),
        memory("a", **{"": 1}),
        memory("a", user_id="user2"),
        memory("a", item="b"),
        memory("a", number=2**63),
        memory("a", number=-(2**63) - 1),
        memory("a", number=1.5),  # type: ignore[arg-type]
        memory("a", nothing=None),  # type: ignore[arg-type]
        memory("a", parts=["x"]),  # type: ignore[arg-type]
        memory("a", parts=(1,)),  # type: ignore[arg-type]
        memory("a", version="1"),
        memory("a", epoch=True),
        memory("a", expires_at=b"1"),
        memory("a", pending_shard=1),
        memory("a", pending_shard=""),
        memory("a", pending_since="1"),
        turn("1"),  # type: ignore[arg-type]
        turn(True),
        turn(2**63),
        Item(Key(Table.LONG_TERM, "user1", 1), {}),
    ],
    ids=lambda item: ascii(item)[:60],
)
def test_what_dynamodb_could_not_keep_is_refused_without_repeating_it(store: ItemStore, item: Item) -> None:
    with pytest.raises(ValueError, match=r"\A[A-Za-z0-9 ,:'-]*\Z"):
        store.transact([Put(turn(1)), Put(item)])
    assert store.get_many([turn(1).key]) == {}


@pytest.mark.parametrize(
    "key", [memory("").key, memory("a", "").key, memory("\ud800").key, Key(Table.TURNS, "s", "1")], ids=ascii
)
def test_a_key_that_no_item_can_have_is_refused_everywhere(store: ItemStore, key: Key) -> None:
    with pytest.raises(ValueError):  # noqa: PT011
        store.get_many([key])
    for write in (Delete(key), Check(key, Absent())):
        with pytest.raises(ValueError):  # noqa: PT011
            store.transact([write])

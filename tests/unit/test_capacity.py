"""The benchmarks' capacity calculator, against sums made by hand."""

import pytest

from keepsake.ports.item_store import Absent, Check, Delete, EpochAtMost, Item, Key, Put, Table, Value
from tests.benchmarks.capacity import Charge, Metered, item_bytes, read_units, value_bytes, write_charges, write_units
from tests.fakes import DictItemStore

HEADER = Key(Table.LONG_TERM, "ada", "session#s1")
BUFFER = Key(Table.BUFFERS, "ada", "s1")
FENCE = Key(Table.CONTROL, "user#x", "fence")
# "pending_shard" 13 + "07" 2, "pending_since" 13 + 1700000000123: 13 digits, 7 + 1.
PENDING: dict[str, Value] = {"pending_shard": "07", "pending_since": 1_700_000_000_123}


def buffer(body: int) -> Put:
    """A buffer of `body` + 29 bytes: user_id 7 + 3, session_id 10 + 2, body 4, version 0."""
    return Put(Item(BUFFER, {"body": b"x" * (body + 3)}))


def header(**attributes: Value) -> Item:
    return Item(HEADER, attributes)


@pytest.mark.parametrize(
    ("value", "size"),
    [
        ("", 0),
        ("abc", 3),
        ("ไทย", 9),
        (b"\x00\xff", 2),
        (True, 1),
        (0, 1),
        (7, 2),
        (45, 2),
        (123, 3),
        (-123, 4),
        (1_700_000_000_000, 2),
        (1_700_000_000_123, 8),
        ((), 3),
        (("a", "bc"), 8),
    ],
)
def test_a_value_is_as_large_as_dynamodb_says(value: Value, size: int) -> None:
    assert value_bytes(value) == size


def test_an_item_is_its_names_and_values_with_the_key() -> None:
    # user_id 7 + ada 3, item 4 + session#s1 10, turn_count 10 + 2, name 4 + ไทย 9
    assert item_bytes(header(turn_count=12, name="ไทย")) == 49
    # session_key 11 + ada#s1 6, turn_timestamp 14 + 8
    assert item_bytes(Item(Key(Table.TURNS, "ada#s1", 1_700_000_000_123), {})) == 39


@pytest.mark.parametrize(("size", "units"), [(0, 1), (1, 1), (4096, 1), (4097, 2), (8192, 2), (8193, 3)])
def test_a_consistent_read_costs_a_unit_for_every_4_kb_and_one_for_nothing(size: int, units: int) -> None:
    assert read_units(size) == units


@pytest.mark.parametrize(("size", "units"), [(0, 2), (1, 2), (1024, 2), (1025, 4), (5 * 1024, 10), (5 * 1024 + 1, 12)])
def test_a_write_in_a_transaction_costs_two_units_for_every_kb(size: int, units: int) -> None:
    assert write_units(size) == units


def test_a_put_is_billed_by_the_larger_of_what_stood_there_and_what_comes() -> None:
    small, large = buffer(100), buffer(3000)
    assert write_charges([large], {BUFFER: small.item}) == [Charge("session buffer", 3029, 6)]
    assert write_charges([small], {BUFFER: large.item}) == [Charge("session buffer", 3029, 6)]
    assert write_charges([Delete(BUFFER)], {BUFFER: large.item}) == [Charge("removal of the session buffer", 3029, 6)]


def test_a_check_costs_what_a_write_would() -> None:
    assert write_charges([Check(FENCE, EpochAtMost(0))], {}) == [Charge("check of the fence", 0, 2)]


def test_an_entry_of_the_index_that_comes_or_goes_costs_one_write() -> None:
    pending, done = header(**PENDING), header(turn_count=1)
    # The entry: key 24, pending_shard 15, pending_since 21.
    entry = Charge("index PendingSessions", 60, 2)
    assert write_charges([Put(pending)], {}) == [Charge("session header", 60, 2), entry]
    assert write_charges([Put(done)], {HEADER: pending}) == [Charge("session header", 60, 2), entry]
    assert write_charges([Delete(HEADER)], {HEADER: pending}) == [Charge("removal of the session header", 60, 2), entry]


def test_an_entry_of_the_index_that_moves_costs_two_writes_and_one_that_stays_none() -> None:
    pending, moved, grown = header(**PENDING), header(**PENDING | {"pending_shard": "08"}), header(**PENDING, turn_count=2)
    assert [charge.units for charge in write_charges([Put(moved)], {HEADER: pending})] == [2, 2, 2]
    assert [charge.item for charge in write_charges([Put(grown)], {HEADER: pending})] == ["session header"]


def test_a_metered_store_notes_reads_of_what_is_not_there_and_writes_by_what_stood_there() -> None:
    store = Metered(DictItemStore())
    store.transact([Put(buffer(5000).item, Absent())])
    store.transact([buffer(100)])
    assert len(store.get_many([BUFFER, FENCE, BUFFER])) == 1
    reads, writes = store.settled()
    assert writes == [Charge("session buffer", 5029, 10), Charge("session buffer", 5029, 10)]
    assert reads == [Charge("session buffer", 129, 1), Charge("fence", 0, 1)]
    assert store.settled() == ([], [])

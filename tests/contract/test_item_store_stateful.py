"""The same random operations on every item store: each answer must be the same."""

from __future__ import annotations

import shutil
import tempfile
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test
from moto import mock_aws

from keepsake.adapters.dynamodb_store import DynamoDbItemStore, make_client
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.errors import ItemTooLargeError
from keepsake.ports.item_store import (
    SCHEMAS,
    Absent,
    AbsentOrExpired,
    Check,
    Condition,
    ConditionFailedError,
    Delete,
    EpochAtMost,
    Index,
    IndexPosition,
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
from tests.dynamodb_tables import create_tables
from tests.fakes import DictItemStore, FakeChance, FakeClock

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient

SMALL = st.integers(0, 4)
PARTS = st.sampled_from(
    ["a", "b", "1", "10", "#", "/", "|", "=", "&", "*", " ", "\0", "é", "木", "\ud7ff", "\ue000", "🙂", "\U0010ffff"]
)
IDS = st.lists(PARTS, min_size=1, max_size=3).map("".join)
PARTITIONS = st.sampled_from(["user1", "user10", "#|", "木 🙂"])
TEXT_TABLES = [table for table in Table if not SCHEMAS[table].numeric]
NUMBER_TABLES = [table for table in Table if SCHEMAS[table].numeric]
# Mostly one table and few partitions, so that operations meet.
KEYS = st.one_of(
    st.builds(Key, st.just(Table.LONG_TERM), PARTITIONS, IDS),
    st.builds(Key, st.just(Table.LONG_TERM), st.just("user1"), st.sampled_from(["a", "a#", "a#1", "b"])),
    st.builds(Key, st.just(Table.TURNS), PARTITIONS, st.integers(-3, 12)),
    st.builds(Key, st.sampled_from(TEXT_TABLES), st.just("user1"), IDS),
    st.builds(Key, st.sampled_from(NUMBER_TABLES), st.just("user1"), st.integers(-(2**63), 2**63 - 1)),
)
BIG = st.sampled_from([10_000, 280_000]).map(lambda size: b"\xff" * size)
VALUES: st.SearchStrategy[Value] = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
    st.integers(-(2**63), 2**63 - 1),
    st.booleans(),
    st.binary(max_size=8),
    st.lists(IDS, max_size=3).map(tuple),
    st.booleans().flatmap(lambda big: BIG if big else st.just(b"")),
    st.just(410_000).map(lambda size: "x" * size),
)
NAMED: st.SearchStrategy[dict[str, Value]] = st.fixed_dictionaries(
    {},
    optional={
        "version": SMALL,
        "epoch": SMALL,
        "revision": SMALL,
        "expires_at": SMALL,
        "held": st.booleans(),
        "pending_shard": st.sampled_from(["0", "1"]),
        "pending_since": st.integers(-2, 9),
    },
)
ATTRIBUTES = st.builds(
    lambda free, named: free | named,
    st.dictionaries(st.sampled_from(["text", "Größe", "#x", "size", "ttl", "a.b"]), VALUES, max_size=2),
    NAMED,
)
CONDITIONS: st.SearchStrategy[Condition] = st.one_of(
    st.builds(Absent),
    st.builds(AbsentOrExpired, SMALL),
    st.builds(VersionEquals, SMALL),
    st.builds(EpochAtMost, SMALL),
    st.builds(RevisionAtMost, SMALL),
    st.builds(NotHeld),
)
MAYBE = st.none() | CONDITIONS
WRITES: st.SearchStrategy[Write] = st.one_of(
    st.builds(Put, st.builds(Item, KEYS, ATTRIBUTES), st.none()),
    st.builds(Put, st.builds(Item, KEYS, ATTRIBUTES), MAYBE),
    st.builds(Delete, KEYS, MAYBE),
    st.builds(Check, KEYS, CONDITIONS),
)
TEXT_QUERIES = st.builds(
    PageQuery,
    st.just(Table.LONG_TERM),
    PARTITIONS,
    st.integers(1, 6),
    prefix=st.none() | IDS,
    after=st.none() | IDS,
    until=st.none() | IDS,
    descending=st.booleans(),
)
NUMBER_QUERIES = st.builds(
    PageQuery,
    st.just(Table.TURNS),
    PARTITIONS,
    st.integers(1, 6),
    after=st.none() | st.integers(-4, 13),
    until=st.none() | st.integers(-4, 13),
    descending=st.booleans(),
)


class Stores(RuleBasedStateMachine):
    """A dictionary, a file and DynamoDB, side by side."""

    client: DynamoDBClient
    numbers = count()

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path(tempfile.mkdtemp())
        self.embedded = SqliteItemStore(self.folder / "items.db")
        names = create_tables(self.client, prefix=f"t{next(self.numbers)}")
        deployed = DynamoDbItemStore(self.client, names, clock=FakeClock(), chance=FakeChance())
        self.stores: tuple[ItemStore, ...] = (DictItemStore(), self.embedded, deployed)
        self.written: dict[Key, None] = {}

    def teardown(self) -> None:
        everything = tuple(self.written)
        for start in range(0, len(everything), 100):
            self.read(list(everything[start : start + 100]))
        self.embedded.close()
        shutil.rmtree(self.folder)

    @rule(writes=st.lists(WRITES, min_size=1, max_size=6, unique_by=lambda write: write.key))
    def write(self, writes: list[Write]) -> None:
        expected, *others = [_outcome(store, writes) for store in self.stores]
        assert others == [expected, expected]
        self.written |= dict.fromkeys(write.key for write in writes)

    @rule(keys=st.lists(KEYS, max_size=6))
    def read(self, keys: list[Key]) -> None:
        expected, *others = [dict(store.get_many(keys)) for store in self.stores]
        assert others == [expected, expected]

    @rule(query=TEXT_QUERIES | NUMBER_QUERIES)
    def page(self, query: PageQuery) -> None:
        expected, *others = [_pages(store, query) for store in self.stores]
        assert others == [expected, expected]

    @rule(shard=st.sampled_from(["0", "1"]), limit=st.integers(1, 4))
    def index(self, shard: str, limit: int) -> None:
        expected, *others = [_index(store, shard, limit) for store in self.stores]
        assert others == [expected, expected]


def _outcome(store: ItemStore, writes: list[Write]) -> object:
    try:
        store.transact(writes)
    except ConditionFailedError as failed:
        return failed.keys
    except ItemTooLargeError as error:
        return type(error)
    return None


def _pages(store: ItemStore, query: PageQuery) -> list[Item]:
    """All pages: where one ends for its size is for each store to say, as long as nothing is left out or told twice."""
    items: list[Item] = []
    after = query.after
    while True:
        page = store.query(
            PageQuery(
                query.table,
                query.partition,
                query.limit,
                prefix=query.prefix,
                after=after,
                until=query.until,
                descending=query.descending,
            )
        )
        small = sum(len(str(item.attributes)) for item in page.items) < 100_000
        assert len(page.items) == query.limit or page.next is None or not small
        items += page.items
        if page.next is None:
            return items
        assert page.next == page.items[-1].key.sort
        after = page.next


def _index(store: ItemStore, shard: str, limit: int) -> list[tuple[int, frozenset[Key]]]:
    """All pages, as the keys of each position: the order among equal positions is for each store to choose."""
    found: dict[int, set[Key]] = {}
    seen = 0
    after: IndexPosition | None = None
    while True:
        page = store.query_index(Index.PENDING_SESSIONS, shard, limit=limit, after=after)
        for key, item in ((key, store.get_many([key])[key]) for key in page.keys):
            since = item.attributes["pending_since"]
            assert isinstance(since, int)
            found.setdefault(since, set()).add(key)
        seen += len(page.keys)
        if page.next is None:
            assert list(found) == sorted(found)
            assert seen == sum(len(keys) for keys in found.values())
            return [(since, frozenset(keys)) for since, keys in found.items()]
        after = page.next


def test_dictionary_file_and_dynamodb_answer_alike_whatever_is_asked_of_them() -> None:
    with mock_aws():
        Stores.client = make_client()
        examples = settings().max_examples // 3  # each is many operations on three stores
        run_state_machine_as_test(Stores, settings=settings(max_examples=examples, stateful_step_count=25))

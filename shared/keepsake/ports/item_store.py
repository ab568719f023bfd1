"""The one port through which every table is reached, and the values it speaks.

Keys, item layout, expiry, fences and paging are the repositories' business: a store knows none of them. It does three
things: read many items, read a page, and write all of a list or nothing of it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

# What an attribute may be. Whole numbers are 64-bit and signed; no floats, so that every store returns what it was given.
Value = str | int | bytes | bool | tuple[str, ...]

MAX_GET = 100  # items in one BatchGetItem
MAX_TRANSACT = 100  # actions in one TransactWriteItems
MAX_ITEM_BYTES = 400 * 1024  # attribute names and values, keys included
MAX_PAGE_BYTES = 1024 * 1024  # what one Query reads


class Table(StrEnum):
    """The six tables of the design."""

    BUFFERS = "SessionBuffers"
    TURNS = "SessionTurns"
    LONG_TERM = "LongTermMemory"
    POINTERS = "MemoryPointers"
    AUDIT = "AuditLog"
    CONTROL = "Control"


@dataclass(frozen=True, slots=True)
class KeySchema:
    """Names of a table's key attributes; the sort key is a number or a string."""

    partition: str
    sort: str
    numeric: bool = False


SCHEMAS: Mapping[Table, KeySchema] = {
    Table.BUFFERS: KeySchema("user_id", "session_id"),
    Table.TURNS: KeySchema("session_key", "turn_timestamp", numeric=True),
    Table.LONG_TERM: KeySchema("user_id", "item"),
    Table.POINTERS: KeySchema("user_id", "document_id"),
    Table.AUDIT: KeySchema("chain", "sequence", numeric=True),
    Table.CONTROL: KeySchema("key", "item"),
}


class Index(StrEnum):
    """Sparse indexes: an item is in one as long as it carries both of its attributes."""

    PENDING_SESSIONS = "PendingSessions"


@dataclass(frozen=True, slots=True)
class IndexSchema:
    """A sparse index projects keys only; `partition` is a string, `sort` a whole number."""

    table: Table
    partition: str
    sort: str


INDEXES: Mapping[Index, IndexSchema] = {
    Index.PENDING_SESSIONS: IndexSchema(Table.LONG_TERM, "pending_shard", "pending_since"),
}


@dataclass(frozen=True, slots=True)
class Key:
    """Where one item stands. Made by `repositories.keys` and nowhere else."""

    table: Table
    partition: str
    sort: str | int


@dataclass(frozen=True, slots=True)
class Item:
    """One item: its key, and its other attributes."""

    key: Key
    attributes: Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class Absent:
    """Holds when there is no such item."""


@dataclass(frozen=True, slots=True)
class AbsentOrExpired:
    """Holds when there is no such item, or its `expires_at` (epoch seconds) is at or before `now`."""

    now: int


@dataclass(frozen=True, slots=True)
class VersionEquals:
    """Holds when the item is there and its `version` is this one."""

    version: int


@dataclass(frozen=True, slots=True)
class EpochAtMost:
    """Holds when there is no such item, it has no `epoch`, or the epoch is no higher."""

    epoch: int


@dataclass(frozen=True, slots=True)
class RevisionAtMost:
    """Holds when there is no such item, it has no `revision`, or the revision is no higher."""

    revision: int


@dataclass(frozen=True, slots=True)
class NotHeld:
    """Holds when there is no such item or it has no attribute `held`."""


Condition = Absent | AbsentOrExpired | VersionEquals | EpochAtMost | RevisionAtMost | NotHeld


@dataclass(frozen=True, slots=True)
class Put:
    """Writes the whole item, in place of any that stood there."""

    item: Item
    condition: Condition | None = None

    @property
    def key(self) -> Key:
        """The key it writes."""
        return self.item.key


@dataclass(frozen=True, slots=True)
class Delete:
    """Removes the item; one that is not there is no error."""

    key: Key
    condition: Condition | None = None


@dataclass(frozen=True, slots=True)
class Check:
    """Writes nothing, but fails the transaction when its condition does not hold."""

    key: Key
    condition: Condition


Write = Put | Delete | Check


@dataclass(frozen=True, slots=True)
class PageQuery:
    """A page of one partition, in the order of the sort key (strings by their UTF-8 bytes).

    `prefix` is for string keys only. `after` is exclusive, in the direction of reading; `until` is inclusive, the last key
    of an ascending read (the first keys of a descending one are at or below it).
    """

    table: Table
    partition: str
    limit: int
    prefix: str | None = None
    after: str | int | None = None
    until: str | int | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class Page:
    """Items in order; `next` is the `after` of the following page, None at the end. A page may be short before it."""

    items: tuple[Item, ...]
    next: str | int | None


@dataclass(frozen=True, slots=True)
class IndexPosition:
    """Where a reading of an index stopped."""

    sort: int
    key: Key


@dataclass(frozen=True, slots=True)
class IndexPage:
    """Keys in the order of the index's sort attribute. The index may lag: read the items before acting on them."""

    keys: tuple[Key, ...]
    next: IndexPosition | None


class ConditionFailedError(Exception):
    """A transaction wrote nothing because conditions did not hold; `keys` are those of the failed writes."""

    def __init__(self, keys: tuple[Key, ...]) -> None:
        super().__init__("a condition of the transaction did not hold")
        self.keys = keys


class ItemStore(Protocol):
    """All six tables. Every method may raise StoreUnavailableError; reads see every write that was answered before them.

    What no store could keep or answer is a ValueError that repeats nothing of it: a partition key of no or more than 2048
    bytes, a sort key of no or more than 1024, text that UTF-8 cannot hold, a number beyond 64 bits, an attribute without a name
    or named like a key, and `version`, `epoch`, `revision` or `expires_at` that is not a number.
    """

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """The items that are there, in one round trip, read consistently.

        At most MAX_GET keys, else ValueError; the same key twice counts once. Expired items are returned like others.
        """
        ...

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """What `get_many` and, for each page, `query` answer, in the time of one round trip: asked side by side.

        Each is consistent by itself. Either may be empty.
        """
        ...

    def query(self, query: PageQuery) -> Page:
        """One page of a partition, read consistently. `limit` is 1 or more."""
        ...

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """One page of a sparse index. Eventually consistent."""
        ...

    def transact(self, writes: Sequence[Write]) -> None:
        """Do all of `writes`, or none.

        1 to MAX_TRANSACT writes, no two on one key, else ValueError. Raises ConditionFailedError when conditions do not hold,
        ItemTooLargeError beyond MAX_ITEM_BYTES, and StoreUnavailableError when the store did not answer: then the writes may have
        taken effect or not, and the caller must read before it decides.
        """
        ...

"""Capacity units of a turn on DynamoDB, by its published rules, from the items that the turn really reads and writes.

A calculator of our own, since no emulator counts them. Where the rules leave room, the dearer reading is taken.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from keepsake.ports.item_store import (
    INDEXES,
    SCHEMAS,
    Check,
    Delete,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    ItemStore,
    Key,
    Page,
    PageQuery,
    Put,
    Table,
    Value,
    Write,
)
from keepsake.repositories.keys import CHAIN_HEAD, DIGEST, FENCE, LEASE, OUTBOX, PENDING, PROFILE

READ_UNIT_BYTES = 4096
WRITE_UNIT_BYTES = 1024
DOLLARS_PER_MILLION_READS = 0.125  # on demand, us-east-1
DOLLARS_PER_MILLION_WRITES = 0.625


_LONG_TERM = {
    PROFILE: "profile",
    DIGEST: "digest",
    PENDING: "sessions that wait",
    OUTBOX: "outbox",
    "memory": "memory",
    "archive": "archive chunk",
    "summary": "session summary",
    "document": "document",
}


_CONTROL = {FENCE: "fence", CHAIN_HEAD: "user's chain head", LEASE: "lease"}
_OTHERS = {
    Table.BUFFERS: "session buffer",
    Table.TURNS: "turn in the log",
    Table.AUDIT: "audit entry",
    Table.POINTERS: "pointer",
}


@dataclass(frozen=True, slots=True)
class Charge:
    """What one item costs: `item` names its kind, `size` is what is rounded up."""

    item: str
    size: int
    units: int


def item_bytes(item: Item) -> int:
    """Names and values, the key's included; strings by their UTF-8."""
    schema = SCHEMAS[item.key.table]
    attributes = {schema.partition: item.key.partition, schema.sort: item.key.sort, **item.attributes}
    return sum(len(name.encode()) + value_bytes(value) for name, value in attributes.items())


def value_bytes(value: Value) -> int:
    """One value. A number takes a byte for every two significant digits and one more, and another for its sign."""
    match value:
        case bool():
            return 1
        case int():
            digits = str(abs(value)).rstrip("0")
            return ceil(len(digits) / 2) + 1 + (value < 0)
        case bytes():
            return len(value)
        case tuple():
            return 3 + sum(1 + len(part.encode()) for part in value)
        case _:
            return len(value.encode())


def read_units(size: int) -> int:
    """Units of one item in a consistent batch read, which rounds each by itself. An item that is not there (0) costs one."""
    return max(1, ceil(size / READ_UNIT_BYTES))


def write_units(size: int) -> int:
    """Units of one item in a transaction: prepared and committed, so twice those of a plain write. A check costs as much."""
    return 2 * max(1, ceil(size / WRITE_UNIT_BYTES))


def write_charges(writes: Sequence[Write], before: Mapping[Key, Item]) -> list[Charge]:
    """What a transaction costs. `before` holds the items that stood there: what shrinks is billed by its old size."""
    charges: list[Charge] = []
    for write in writes:
        old = before.get(write.key)
        new = write.item if isinstance(write, Put) else None
        size = max(item_bytes(item) if item else 0 for item in (old, new))
        charges.append(Charge(_kind(write), size, write_units(size)))
        if not isinstance(write, Check):
            charges += _index_charges(old, new)
    return charges


def _index_charges(old: Item | None, new: Item | None) -> list[Charge]:
    """Indexes of keys only: one write for an entry that comes or goes, two for one that moves, none for one that stays."""
    charges: list[Charge] = []
    for index, schema in INDEXES.items():
        was, now = (_entry(item, schema.table, (schema.partition, schema.sort)) for item in (old, new))
        if was == now:
            continue
        for entry in (was, now):
            if entry is not None:
                size = item_bytes(entry)
                charges.append(Charge(f"index {index.value}", size, write_units(size)))
    return charges


def _entry(item: Item | None, table: Table, names: tuple[str, str]) -> Item | None:
    if item is None or item.key.table is not table or any(name not in item.attributes for name in names):
        return None
    return Item(item.key, {name: item.attributes[name] for name in names})


def _kind(write: Write) -> str:
    kind = kind_of(write.key)
    return f"check of the {kind}" if isinstance(write, Check) else f"removal of the {kind}" if isinstance(write, Delete) else kind


def kind_of(key: Key) -> str:
    """Which kind of item stands under a key."""
    name = str(key.sort).partition("#")[0]
    match key:
        case Key(Table.LONG_TERM):
            return _LONG_TERM.get(name, "session header")
        case Key(Table.CONTROL):
            return _CONTROL.get(name, "turn marker")
        case _:
            return _OTHERS[key.table]


class Metered:
    """An item store that notes what its calls would cost. Only what a turn calls is metered."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store
        self.reads: list[Charge] = []
        self.writes: list[Charge] = []

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """As the port says."""
        found = self._store.get_many(keys)
        sizes = {key: item_bytes(found[key]) if key in found else 0 for key in dict.fromkeys(keys)}
        self.reads += [Charge(kind_of(key), size, read_units(size)) for key, size in sizes.items()]
        return found

    def query(self, query: PageQuery) -> Page:
        """As the port says."""
        return self._store.query(query)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """As the port says. Of the pages nothing is noted."""
        return self.get_many(keys), tuple(self._store.query(page) for page in pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """As the port says."""
        return self._store.query_index(index, partition, limit=limit, after=after)

    def transact(self, writes: Sequence[Write]) -> None:
        """As the port says."""
        before = self._store.get_many([write.key for write in writes])
        self._store.transact(writes)
        self.writes += write_charges(writes, before)

    def settled(self) -> tuple[list[Charge], list[Charge]]:
        """What was read and written since the last call."""
        noted = self.reads, self.writes
        self.reads, self.writes = [], []
        return noted

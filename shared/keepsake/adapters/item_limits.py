"""What no store takes, said once so that all refuse alike: counts, sizes, keys and kinds of values.

The limits are DynamoDB's. A size is never below what DynamoDB would count, so what passes here passes there.
Refusals are ValueError (a mistake of the caller's) or ItemTooLargeError, and name no value.
"""

from collections.abc import Sequence

from keepsake.domain.errors import ItemTooLargeError
from keepsake.ports.item_store import (
    INDEXES,
    MAX_GET,
    MAX_ITEM_BYTES,
    MAX_TRANSACT,
    SCHEMAS,
    Index,
    IndexPosition,
    Item,
    Key,
    PageQuery,
    Put,
    Table,
    Value,
    Write,
)

MAX_PARTITION_BYTES = 2048
MAX_SORT_BYTES = 1024
MAX_TRANSACT_BYTES = 4 * 1024 * 1024  # all items of one transaction
MAX_PAGE_ITEMS = 1_000_000  # more than a page of MAX_PAGE_BYTES can hold

_LOWEST, _HIGHEST = -(2**63), 2**63 - 1
_NUMBER_BYTES = 12  # a sign, two digits a byte, and the exponent: the most that 64 bits need
_COMPARED = frozenset({"version", "epoch", "revision", "expires_at"})  # what conditions and expiry compare as numbers
_INDEXED = {schema.table: schema for schema in INDEXES.values()}


def distinct_keys(keys: Sequence[Key]) -> tuple[Key, ...]:
    """The keys, each once, in order. Raises ValueError for more than MAX_GET, or for a key that no item can have."""
    distinct = tuple(dict.fromkeys(keys))
    if len(distinct) > MAX_GET:
        raise ValueError(f"at most {MAX_GET} keys in one read")
    for key in distinct:
        _key_bytes(key)
    return distinct


def write_sizes(writes: Sequence[Write]) -> tuple[int, ...]:
    """The bytes of each write's item, 0 where none is put; in order. Raises ValueError or ItemTooLargeError."""
    if not 1 <= len(writes) <= MAX_TRANSACT:
        raise ValueError(f"a transaction has 1 to {MAX_TRANSACT} writes")
    if len({write.key for write in writes}) < len(writes):
        raise ValueError("two writes of one transaction on one key")
    sizes = tuple([_write_bytes(write) for write in writes])
    if max(sizes) > MAX_ITEM_BYTES:
        raise ItemTooLargeError("an item is larger than a store takes")
    if sum(sizes) > MAX_TRANSACT_BYTES:
        raise ItemTooLargeError("a transaction is larger than a store takes")
    return sizes


def check_page(query: PageQuery) -> None:
    """Raises ValueError when no store could answer `query`."""
    _check_limit(query.limit)
    _check_partition(query.partition)
    if query.prefix is not None and SCHEMAS[query.table].numeric:
        raise ValueError("a prefix of a number")
    for bound in (query.prefix, query.after, query.until):
        if bound is not None:
            _bound_bytes(query.table, bound)


def check_index_page(index: Index, partition: str, limit: int, after: IndexPosition | None) -> None:
    """Raises ValueError when no store could answer."""
    _check_limit(limit)
    _check_partition(partition)
    if after is None:
        return
    if after.key.table is not INDEXES[index].table:
        raise ValueError("a position of another table")
    _key_bytes(after.key)
    _number_bytes(after.sort)


def item_bytes(item: Item) -> int:
    """The size of `item` as DynamoDB counts it, or slightly more: names and values, keys included."""
    table = item.key.table
    schema = SCHEMAS[table]
    total = _key_bytes(item.key) + len(schema.partition) + len(schema.sort)
    for name, value in item.attributes.items():
        if name in _COMPARED and type(value) is not int:
            raise ValueError("an attribute that is compared as a number is none")
        total += _text_bytes(name) + _value_bytes(value)
    if "" in item.attributes or schema.partition in item.attributes or schema.sort in item.attributes:
        raise ValueError("an attribute without a name, or named like a key")
    if table in _INDEXED:
        _check_index_attributes(item)
    return total


def _write_bytes(write: Write) -> int:
    if isinstance(write, Put):
        return item_bytes(write.item)
    _key_bytes(write.key)
    return 0


def _value_bytes(value: Value) -> int:
    kind = type(value)
    if kind is str:
        return _text_bytes(value)  # type: ignore[arg-type]  # mypy does not narrow by type(); isinstance is slower
    if kind is bytes:
        return len(value)  # type: ignore[arg-type]
    if kind is int:
        return _number_bytes(value)
    if kind is bool:
        return 1
    return _rarer_value_bytes(value)


def _rarer_value_bytes(value: object) -> int:
    if isinstance(value, tuple) and all(isinstance(part, str) for part in value):
        return 3 + sum([1 + _text_bytes(part) for part in value])
    if isinstance(value, str):  # an enumeration's member, say
        return _text_bytes(value)
    raise ValueError("an attribute holds a value of a kind that no store keeps")


def _number_bytes(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not _LOWEST <= value <= _HIGHEST:
        raise ValueError("not a whole number of 64 bits")
    return _NUMBER_BYTES


def _text_bytes(text: str) -> int:
    if text.isascii():
        return len(text)
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise ValueError("text that UTF-8 cannot hold") from None


def _key_bytes(key: Key) -> int:
    partition = _check_partition(key.partition)
    sort = _bound_bytes(key.table, key.sort)
    if sort == 0:
        raise ValueError("an empty sort key")
    return partition + sort


def _check_partition(partition: str) -> int:
    size = _text_bytes(partition)
    if not 1 <= size <= MAX_PARTITION_BYTES:
        raise ValueError(f"a partition key has 1 to {MAX_PARTITION_BYTES} bytes")
    return size


def _bound_bytes(table: Table, bound: str | int) -> int:
    if SCHEMAS[table].numeric:
        return _number_bytes(bound)
    if not isinstance(bound, str) or (size := _text_bytes(bound)) > MAX_SORT_BYTES:
        raise ValueError(f"the table's sort key is a string of at most {MAX_SORT_BYTES} bytes")
    return size


def _check_index_attributes(item: Item) -> None:
    schema = _INDEXED[item.key.table]
    partition, sort = item.attributes.get(schema.partition), item.attributes.get(schema.sort)
    if partition is not None:
        if not isinstance(partition, str):
            raise ValueError("an index's partition is a string")
        _check_partition(partition)
    if sort is not None:
        _number_bytes(sort)


def _check_limit(limit: int) -> None:
    if limit < 1:
        raise ValueError("a page has room for at least one item")

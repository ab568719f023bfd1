"""The item store in one SQLite file: the embedded product's truth, durable once a write is answered.

What SQL looks for (keys, expiry, the sparse index) stands in columns and only there; all else in one msgpack body.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import msgpack

from keepsake.adapters.item_limits import MAX_PAGE_ITEMS, check_index_page, check_page, distinct_keys, write_sizes
from keepsake.adapters.sqlite_database import SqliteDatabase
from keepsake.adapters.sqlite_migrations import MIGRATIONS
from keepsake.domain.errors import CorruptItemError
from keepsake.ports.item_store import (
    INDEXES,
    MAX_PAGE_BYTES,
    SCHEMAS,
    Absent,
    AbsentOrExpired,
    Condition,
    ConditionFailedError,
    Delete,
    EpochAtMost,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    Key,
    NotHeld,
    Page,
    PageQuery,
    Put,
    RevisionAtMost,
    Table,
    Value,
    VersionEquals,
    Write,
)

_TABLES_WITH_EXPIRY = (Table.BUFFERS, Table.TURNS, Table.CONTROL, Table.LONG_TERM)
_SWEEP_ROWS = 200


class SqliteItemStore:
    """ItemStore on one file. Safe for many threads; other processes may read and write the file too."""

    def __init__(self, path: Path) -> None:
        self._database = SqliteDatabase(path, MIGRATIONS)

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        """See ItemStore."""
        wanted = distinct_keys(keys)
        with self._database.reading() as connection:
            found = [(key, _find(connection, key)) for key in wanted]
        return {key: Item(key, attributes) for key, attributes in found if attributes is not None}

    def query(self, query: PageQuery) -> Page:
        """See ItemStore."""
        check_page(query)
        with self._database.reading() as connection:
            return _page(connection, query)

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        """See ItemStore."""
        return self.get_many(keys), tuple(self.query(page) for page in pages)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        """See ItemStore. Does not lag."""
        check_index_page(index, partition, limit, after)
        start = (-(2**63), "", "") if after is None else (after.sort, after.key.partition, after.key.sort)
        with self._database.reading() as connection:
            rows = connection.execute(_INDEX_PAGE[index], (partition, *start, min(limit, MAX_PAGE_ITEMS) + 1)).fetchall()
        read = [IndexPosition(since, Key(INDEXES[index].table, owner, sort)) for since, owner, sort in rows]
        more = len(read) > limit
        return IndexPage(tuple([position.key for position in read[:limit]]), read[limit - 1] if more else None)

    def transact(self, writes: Sequence[Write]) -> None:
        """See ItemStore."""
        sizes = write_sizes(writes)
        rows = [_row(write.item, size) if isinstance(write, Put) else () for write, size in zip(writes, sizes, strict=True)]
        with self._database.writing() as connection:
            failed = tuple([write.key for write in writes if not _holds(connection, write)])
            if failed:
                raise ConditionFailedError(failed)
            for write, row in zip(writes, rows, strict=True):
                if isinstance(write, Put):
                    connection.execute(_LAYOUTS[write.key.table].put, row)
                elif isinstance(write, Delete):
                    connection.execute(_LAYOUTS[write.key.table].delete, (write.key.partition, write.key.sort))

    def partitions(self, table: Table, *, sort: str | int | None = None) -> tuple[str, ...]:
        """All partitions of a table, or those that hold an item of this sort key, in order. For repairs on one machine."""
        with self._database.reading() as connection:
            rows = connection.execute(_LAYOUTS[table].partitions, (sort,)).fetchall()
        return tuple([partition for (partition,) in rows])

    def sweep_expired(self, now_s: int) -> int:
        """Remove what expired at or before `now_s` (epoch seconds), as DynamoDB's TTL does; answers how many items went.

        Works in short transactions, so that turns get in between.
        """
        removed = 0
        for table in _TABLES_WITH_EXPIRY:
            while swept := self._sweep_some(table, now_s):
                removed += swept
        if removed:
            self._database.flush_log()
        return removed

    def close(self) -> None:
        """Give the file back. Every later call raises StoreUnavailableError."""
        self._database.close()

    def _sweep_some(self, table: Table, now_s: int) -> int:
        with self._database.writing() as connection:
            return connection.execute(_LAYOUTS[table].sweep, (now_s,)).rowcount


# ---- one row ----------------------------------------------------------------------------------------------------------


def _row(item: Item, size: int) -> tuple[object, ...]:
    lifted = _LAYOUTS[item.key.table].lifted
    rest = {name: value for name, value in item.attributes.items() if name not in lifted}
    columns = [item.attributes.get(name) for name in lifted]
    return (item.key.partition, item.key.sort, size, msgpack.packb(rest), *columns)


def _attributes(table: Table, body: bytes, columns: Sequence[Value | None]) -> dict[str, Value]:
    try:
        attributes = cast(dict[str, Value], msgpack.unpackb(body, use_list=False))
    except ValueError:
        raise CorruptItemError("a row's body does not read back") from None
    for name, value in zip(_LAYOUTS[table].lifted, columns, strict=True):
        if value is not None:
            attributes[name] = value
    return attributes


def _find(connection: sqlite3.Connection, key: Key) -> dict[str, Value] | None:
    row = connection.execute(_LAYOUTS[key.table].find, (key.partition, key.sort)).fetchone()
    return None if row is None else _attributes(key.table, row[0], row[1:])


# ---- conditions -------------------------------------------------------------------------------------------------------


def _holds(connection: sqlite3.Connection, write: Write) -> bool:
    return write.condition is None or _is_true(write.condition, _find(connection, write.key))


def _is_true(condition: Condition, found: Mapping[str, Value] | None) -> bool:
    match condition:
        case VersionEquals(version):
            return found is not None and found.get("version") == version
        case Absent():
            return found is None
        case AbsentOrExpired(now):
            return found is None or _at_most(found.get("expires_at"), now, missing=False)
        case EpochAtMost(epoch):
            return found is None or _at_most(found.get("epoch"), epoch, missing=True)
        case RevisionAtMost(revision):
            return found is None or _at_most(found.get("revision"), revision, missing=True)
        case NotHeld():
            return found is None or "held" not in found


def _at_most(value: Value | None, bound: int, *, missing: bool) -> bool:
    return value <= bound if isinstance(value, int) else missing


# ---- pages ------------------------------------------------------------------------------------------------------------


def _page(connection: sqlite3.Connection, query: PageQuery) -> Page:
    items: list[Item] = []
    total = 0
    with closing(_rows(connection, query)) as rows:
        for sort, size, body, *columns in rows:
            total += size
            if len(items) == query.limit or total > MAX_PAGE_BYTES:
                return Page(tuple(items), items[-1].key.sort)
            items.append(Item(Key(query.table, query.partition, sort), _attributes(query.table, body, columns)))
    return Page(tuple(items), None)


def _rows(connection: sqlite3.Connection, query: PageQuery) -> sqlite3.Cursor:
    layout = _LAYOUTS[query.table]
    terms, bounds = _bounds(query)
    where = "".join([f" AND {layout.sort} {term} ?" for term in terms])
    order = f" ORDER BY {layout.sort} {'DESC' if query.descending else 'ASC'} LIMIT ?"
    limit = min(query.limit, MAX_PAGE_ITEMS) + 1
    return connection.execute(layout.page + where + order, (query.partition, *bounds, limit))


def _bounds(query: PageQuery) -> tuple[tuple[str, ...], tuple[str | int, ...]]:
    """At most one lower and one upper bound, the narrowest, so that SQLite seeks to both."""
    low: list[tuple[Any, str]] = []
    high: list[tuple[Any, str]] = []
    if query.prefix:
        low.append((query.prefix, ">="))
        end = _after_prefix(query.prefix)
        high += [] if end is None else [(end, "<")]
    if query.until is not None:
        high.append((query.until, "<="))
    if query.after is not None:
        (high if query.descending else low).append((query.after, "<" if query.descending else ">"))
    narrowest = [max(low, key=lambda bound: (bound[0], bound[1] == ">"))] if low else []
    narrowest += [min(high)] if high else []  # "<" sorts before "<="
    return tuple([term for _, term in narrowest]), tuple([value for value, _ in narrowest])


def _after_prefix(prefix: str) -> str | None:
    """The first string, in the order of code points, after all that begin with `prefix`; None when there is none."""
    stem = prefix.rstrip("\U0010ffff")
    if not stem:
        return None
    following = ord(stem[-1]) + 1
    return stem[:-1] + chr(0xE000 if following == 0xD800 else following)  # UTF-8 has no surrogates


# ---- the schema -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Layout:
    """A table's statements. Their parts are the names of SCHEMAS and INDEXES, never a value."""

    sort: str
    lifted: tuple[str, ...]
    find: str
    put: str
    delete: str
    page: str
    partitions: str
    sweep: str


def _layout(table: Table) -> _Layout:
    schema = SCHEMAS[table]
    partition, sort = f'"{schema.partition}"', f'"{schema.sort}"'
    lifted = ("expires_at", *_index_columns(table))
    columns = ", ".join(("size", "body", *lifted))
    one = f"WHERE {partition} = ? AND {sort} = ?"
    changed = ", ".join([f"{name} = excluded.{name}" for name in ("size", "body", *lifted)])
    places = ", ".join("?" * (4 + len(lifted)))
    insert = f"INSERT INTO {table.value} ({partition}, {sort}, {columns}) VALUES ({places})"  # noqa: S608
    expired = f"SELECT rowid FROM {table.value} WHERE expires_at <= ? LIMIT {_SWEEP_ROWS}"  # noqa: S608
    return _Layout(
        sort=sort,
        lifted=lifted,
        find=f"SELECT {', '.join(('body', *lifted))} FROM {table.value} {one}",  # noqa: S608
        put=f"{insert} ON CONFLICT ({partition}, {sort}) DO UPDATE SET {changed}",
        delete=f"DELETE FROM {table.value} {one}",  # noqa: S608
        page=f"SELECT {sort}, {columns} FROM {table.value} WHERE {partition} = ?",  # noqa: S608
        partitions=f"SELECT DISTINCT {partition} FROM {table.value} WHERE ?1 IS NULL OR {sort} = ?1 ORDER BY 1",  # noqa: S608
        sweep=f"DELETE FROM {table.value} WHERE rowid IN ({expired})",  # noqa: S608
    )


def _index_columns(table: Table) -> tuple[str, ...]:
    return tuple([name for schema in INDEXES.values() if schema.table is table for name in (schema.partition, schema.sort)])


def _index_page(index: Index) -> str:
    schema = INDEXES[index]
    keys = SCHEMAS[schema.table]
    position = f"{schema.sort}, {keys.partition}, {keys.sort}"
    return (
        f"SELECT {position} FROM {schema.table.value} WHERE {schema.partition} = ? AND {schema.sort} IS NOT NULL"  # noqa: S608
        f" AND ({position}) > (?, ?, ?) ORDER BY {position} LIMIT ?"
    )


_LAYOUTS = {table: _layout(table) for table in Table}
_INDEX_PAGE = {index: _index_page(index) for index in Index}

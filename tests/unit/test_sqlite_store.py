"""What is the embedded item store's own: threads, durability, the expiry sweep, its file and its migrations."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from keepsake.adapters.sqlite_database import SqliteDatabase, store_error
from keepsake.adapters.sqlite_migrations import MIGRATIONS
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.errors import CorruptItemError, StoreError, StoreUnavailableError
from keepsake.ports.item_store import (
    INDEXES,
    SCHEMAS,
    Absent,
    Check,
    ConditionFailedError,
    Index,
    IndexPosition,
    Item,
    Key,
    PageQuery,
    Put,
    Table,
    Value,
    VersionEquals,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "items.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteItemStore]:
    with contextlib.closing(SqliteItemStore(path)) as opened:
        yield opened


def buffer(name: str = "s", **attributes: Value) -> Item:
    return Item(Key(Table.BUFFERS, "user", name), attributes)


def turn(at: int, **attributes: Value) -> Item:
    return Item(Key(Table.TURNS, "session", at), attributes)


# ---- threads ----------------------------------------------------------------------------------------------------------


def test_of_writers_that_race_for_a_version_each_wins_once_and_no_step_is_lost(store: SqliteItemStore) -> None:
    store.transact([Put(buffer(version=0))])

    def climb(writer: int) -> int:
        done = 0
        while done < 20:
            version = store.get_many([buffer().key])[buffer().key].attributes["version"]
            assert isinstance(version, int)
            with contextlib.suppress(ConditionFailedError):
                store.transact(
                    [Put(buffer(version=version + 1), VersionEquals(version)), Put(turn(version, by=writer), Absent())]
                )
                done += 1
        return done

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(climb, range(8))) == 160
    assert store.get_many([buffer().key])[buffer().key] == buffer(version=160)
    by = [item.attributes["by"] for item in store.query(PageQuery(Table.TURNS, "session", 200)).items]
    assert sorted(by) == [writer for writer in range(8) for _ in range(20)]


def test_a_reader_never_sees_half_of_a_transaction(store: SqliteItemStore) -> None:
    store.transact([Put(buffer("a", n=0)), Put(buffer("b", n=0))])
    written = threading.Event()

    def write() -> None:
        for n in range(150):
            store.transact([Put(buffer("a", n=n)), Put(buffer("b", n=n))])
        written.set()

    def read() -> int:
        looks = 0
        while not written.is_set():
            found = store.get_many([buffer("a").key, buffer("b").key])
            assert len({item.attributes["n"] for item in found.values()}) == 1
            looks += 1
        return looks

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(2)]
        pool.submit(write).result()
        assert all(reader.result() > 0 for reader in readers)


def test_many_short_lived_threads_leave_no_open_files_behind(store: SqliteItemStore) -> None:
    def read() -> None:
        store.get_many([buffer().key])

    def open_files() -> int:
        return len(list(Path("/proc/self/fd").iterdir()))

    read()
    before = open_files()
    for _ in range(50):
        thread = threading.Thread(target=read)
        thread.start()
        thread.join()
    assert open_files() <= before


# ---- durability -------------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.ports.item_store import Item, Key, Put, Table
store = SqliteItemStore(Path(sys.argv[1]))
for n in range(100_000):
    a, b = (Item(Key(Table.TURNS, partition, n), {"text": "x" * 5000}) for partition in ("a", "b"))
    store.transact([Put(a), Put(b)])
    print(n, flush=True)
"""


def test_every_answered_write_is_there_after_the_writer_was_killed(path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "shared")}
    for _ in range(3):
        with subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True, env=environment
        ) as writer:
            assert writer.stdout
            answered = [int(next(writer.stdout)) for _ in range(100)]
            writer.send_signal(signal.SIGKILL)
            answered += [int(line) for line in writer.stdout if line.endswith("\n")]
        with contextlib.closing(SqliteItemStore(path)) as store:
            there = {part: sorts(store, part) for part in ("a", "b")}
        assert there["a"] == there["b"]  # both writes of a transaction, or neither
        assert set(answered) <= set(there["a"])


def sorts(store: SqliteItemStore, partition: str) -> list[str | int]:
    found: list[str | int] = []
    after: str | int | None = None
    while True:
        page = store.query(PageQuery(Table.TURNS, partition, 10_000, after=after))
        found += [item.key.sort for item in page.items]
        after = page.next
        if after is None:
            return found


def test_the_file_is_opened_for_safety(path: Path) -> None:
    with contextlib.closing(SqliteDatabase(path, MIGRATIONS)) as database:
        with database.reading() as reader, database.writing() as writer:
            for connection in (reader, writer):
                settings = {name: connection.execute(f"PRAGMA {name}").fetchone()[0] for name in PRAGMAS}
                assert settings == PRAGMAS
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        assert stat.S_IMODE(path.with_name("items.db-wal").stat().st_mode) == 0o600
        assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


PRAGMAS = {"journal_mode": "wal", "synchronous": 2, "secure_delete": 1, "busy_timeout": 5000, "trusted_schema": 0}


def test_two_stores_on_one_file_see_each_others_writes(path: Path, store: SqliteItemStore) -> None:
    with contextlib.closing(SqliteItemStore(path)) as other:
        store.transact([Put(buffer(version=1))])
        other.transact([Put(buffer(version=2), VersionEquals(1))])
        assert store.get_many([buffer().key]) == {buffer().key: buffer(version=2)}


def test_files_opened_at_once_by_many_are_made_once(path: Path) -> None:
    def open_and_write(n: int) -> None:
        with contextlib.closing(SqliteItemStore(path)) as store:
            store.transact([Put(turn(n))])

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(open_and_write, range(8)))
    with contextlib.closing(SqliteItemStore(path)) as store:
        assert sorts(store, "session") == list(range(8))


# ---- what leaves ------------------------------------------------------------------------------------------------------


def test_the_sweep_removes_what_expired_and_nothing_else(store: SqliteItemStore) -> None:
    swept = [
        turn(1, expires_at=99),
        turn(2, expires_at=100),
        buffer(expires_at=0),
        Item(Key(Table.CONTROL, "k", "i"), {"expires_at": -5}),
    ]
    kept = [
        turn(3, expires_at=101),
        turn(4),
        Item(Key(Table.LONG_TERM, "user", "i"), {"held": True}),
        Item(Key(Table.AUDIT, "chain", 1), {"expires_at": 1}),
        Item(Key(Table.POINTERS, "user", "d"), {"expires_at": 1}),
    ]
    store.transact([Put(item) for item in swept + kept])
    assert store.sweep_expired(100) == len(swept)
    assert store.get_many([item.key for item in swept + kept]) == {item.key: item for item in kept}
    assert store.sweep_expired(100) == 0


def test_the_sweep_takes_more_than_one_batch(store: SqliteItemStore) -> None:
    for start in range(0, 500, 100):
        store.transact([Put(turn(at, expires_at=1)) for at in range(start, start + 100)])
    assert store.sweep_expired(1) == 500


def test_what_was_swept_is_in_no_file_any_more(store: SqliteItemStore, path: Path) -> None:
    word = "unmistakable"
    store.transact([Put(turn(at, text=word * 300, expires_at=1)) for at in range(50)])
    assert any(word.encode() in file.read_bytes() for file in path.parent.iterdir())
    store.sweep_expired(1)
    assert not any(word.encode() in file.read_bytes() for file in path.parent.iterdir())


# ---- failures ---------------------------------------------------------------------------------------------------------


def test_a_closed_store_is_unavailable_and_closing_twice_is_fine(store: SqliteItemStore) -> None:
    store.get_many([buffer().key])
    store.close()
    store.close()
    with pytest.raises(StoreUnavailableError):
        store.get_many([buffer().key])
    with pytest.raises(StoreUnavailableError):
        store.transact([Put(buffer())])


def test_a_full_disk_is_unavailable_and_what_was_there_stays(path: Path) -> None:
    with contextlib.closing(SqliteDatabase(path, MIGRATIONS)) as database:
        with database.writing() as writer:
            writer.execute("CREATE TABLE room (body BLOB)")
            (pages,) = writer.execute("PRAGMA page_count").fetchone()
            writer.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(StoreUnavailableError, match="SQLITE_FULL"), database.writing() as writer:
            writer.executemany("INSERT INTO room VALUES (?)", [(b"small",), (bytes(100_000),)])
        with database.reading() as reader:
            assert reader.execute("SELECT count(*) FROM room").fetchone() == (0,)


@pytest.mark.parametrize(
    ("code", "name", "kind"),
    [
        (sqlite3.SQLITE_BUSY, "SQLITE_BUSY", StoreUnavailableError),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "SQLITE_BUSY_SNAPSHOT", StoreUnavailableError),
        (sqlite3.SQLITE_LOCKED, "SQLITE_LOCKED", StoreUnavailableError),
        (sqlite3.SQLITE_IOERR_FSYNC, "SQLITE_IOERR_FSYNC", StoreUnavailableError),
        (sqlite3.SQLITE_CANTOPEN, "SQLITE_CANTOPEN", StoreUnavailableError),
        (sqlite3.SQLITE_CORRUPT, "SQLITE_CORRUPT", StoreError),
        (sqlite3.SQLITE_CONSTRAINT, "SQLITE_CONSTRAINT", StoreError),
        (sqlite3.SQLITE_READONLY, "SQLITE_READONLY", StoreError),
    ],
)
def test_an_error_of_sqlites_is_told_by_its_name_and_never_by_its_text(code: int, name: str, kind: type[StoreError]) -> None:
    error = sqlite3.OperationalError("near what the user wrote")
    error.sqlite_errorcode, error.sqlite_errorname = code, name
    mapped = store_error(error)
    assert type(mapped) is kind
    assert name in mapped.detail
    assert "wrote" not in mapped.detail


def test_a_file_that_is_no_database_is_a_store_error(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all, but long enough to look at" * 100)
    with pytest.raises(StoreError, match="SQLITE_NOTADB"):
        SqliteItemStore(path)


def test_a_folder_that_cannot_be_made_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreUnavailableError):
        SqliteItemStore(tmp_path / "file" / "items.db")


def test_a_body_that_does_not_read_back_is_corrupt(store: SqliteItemStore, path: Path) -> None:
    store.transact([Put(buffer(text="x"))])
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE SessionBuffers SET body = x'c1'")
    with pytest.raises(CorruptItemError):
        store.get_many([buffer().key])


def test_a_failed_condition_leaves_the_writer_ready_for_the_next(store: SqliteItemStore) -> None:
    for _ in range(3):
        with pytest.raises(ConditionFailedError):
            store.transact([Check(buffer().key, VersionEquals(1)), Put(turn(1))])
    store.transact([Put(turn(1), Absent())])


# ---- migrations -------------------------------------------------------------------------------------------------------


def test_migrations_run_once_each_and_in_order(path: Path) -> None:
    ran: list[str] = []

    def first(_: sqlite3.Connection) -> None:
        ran.append("first")

    def second(_: sqlite3.Connection) -> None:
        ran.append("second")

    for migrations in ([first], [first], [first, second], [first, second]):
        SqliteDatabase(path, migrations).close()
    assert ran == ["first", "second"]


def test_a_migration_that_fails_leaves_the_file_as_it_was(path: Path) -> None:
    def half(writer: sqlite3.Connection) -> None:
        writer.execute("CREATE TABLE half (a)")
        writer.execute("CREATE TABLE half (a)")

    with pytest.raises(StoreError):
        SqliteDatabase(path, [half])
    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == []


def test_a_file_of_a_newer_version_is_not_touched(path: Path) -> None:
    SqliteItemStore(path).close()
    with pytest.raises(StoreError, match="newer version"):
        SqliteDatabase(path, MIGRATIONS[:-1])


def test_the_migrated_file_has_the_tables_keys_and_indexes_that_the_port_names(store: SqliteItemStore, path: Path) -> None:
    with contextlib.closing(sqlite3.connect(path)) as connection:
        for table, schema in SCHEMAS.items():
            columns = {row[1]: (row[2], row[5]) for row in connection.execute(f"PRAGMA table_info({table.value})")}
            assert columns[schema.partition] == ("TEXT", 1)
            assert columns[schema.sort] == ("INTEGER" if schema.numeric else "TEXT", 2)
        for index, sparse in INDEXES.items():
            keys = SCHEMAS[sparse.table]
            indexed = [row[2] for row in connection.execute(f"PRAGMA index_info({index.value})")]
            assert indexed == [sparse.partition, sparse.sort, keys.partition, keys.sort]


def test_pages_and_sweeps_are_found_by_index_and_not_by_reading_everything(store: SqliteItemStore) -> None:
    asked: list[str] = []
    with store._database.reading() as reader, store._database.writing() as writer:
        for connection in (reader, writer):
            connection.set_trace_callback(asked.append)
    store.get_many([buffer().key])
    store.query(PageQuery(Table.TURNS, "session", 5, after=1, until=9))
    store.query(PageQuery(Table.LONG_TERM, "user", 5, prefix="a#", after="a#1", descending=True))
    store.query_index(Index.PENDING_SESSIONS, "1", limit=5, after=IndexPosition(1, Key(Table.LONG_TERM, "user", "a")))
    store.sweep_expired(5)
    statements = [sql for sql in asked if sql.startswith(("SELECT", "DELETE"))]
    assert len(statements) == 4 + 4  # the sweep asks once a table
    with store._database.reading() as reader:
        plans = [" ".join([row[3] for row in reader.execute(f"EXPLAIN QUERY PLAN {sql}")]) for sql in statements]
    for plan in plans:
        assert "SEARCH" in plan
        assert "SCAN" not in plan
        assert "TEMP B-TREE" not in plan

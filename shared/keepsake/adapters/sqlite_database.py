"""One SQLite file for many threads: durable, one writer at a time, migrated when opened.

Errors of sqlite3 become the store errors of the domain here and nowhere else; no message carries SQL or a value.
"""

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock

from keepsake.domain.errors import StoreError, StoreUnavailableError

Migration = Callable[[sqlite3.Connection], None]

_BUSY_SECONDS = 5.0
_SETTINGS = (
    "PRAGMA journal_mode = WAL",
    "PRAGMA synchronous = FULL",  # a commit that was answered survives a loss of power
    "PRAGMA secure_delete = ON",  # what was erased is overwritten, not just unlinked
    "PRAGMA trusted_schema = OFF",
    "PRAGMA temp_store = MEMORY",
    "PRAGMA cache_size = -8000",
    "PRAGMA wal_autocheckpoint = 1000",
    "PRAGMA journal_size_limit = 16777216",
)
_UNAVAILABLE = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_IOERR,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_NOMEM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_INTERRUPT,
    }
)


def store_error(error: sqlite3.Error) -> StoreError:
    """What a caller learns of an error of SQLite's: whether a retry may mend it, and SQLite's name for it."""
    code = getattr(error, "sqlite_errorcode", None)
    name = getattr(error, "sqlite_errorname", type(error).__name__)
    kind = StoreUnavailableError if code is not None and code & 0xFF in _UNAVAILABLE else StoreError
    return kind(f"the embedded store failed ({name})")


@contextmanager
def _errors_mapped() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise store_error(error) from None


@contextmanager
def _closed_on_failure(connection: sqlite3.Connection) -> Iterator[None]:
    with ExitStack() as cleanup:
        cleanup.callback(connection.close)
        yield
        cleanup.pop_all()


class SqliteDatabase:
    """Connections to one file: as many readers as threads read at once, and one writer behind a lock.

    Waiting writers sleep on the lock. SQLite's own busy timeout is left for other processes. What can be made again need not
    outlast a loss of power (`outlasts_power=False`): then writes are several times as fast, and still survive a kill.
    """

    def __init__(self, path: Path, migrations: Sequence[Migration], *, outlasts_power: bool = True) -> None:
        self._path = path
        self._settings = _SETTINGS if outlasts_power else (*_SETTINGS, "PRAGMA synchronous = NORMAL")
        self._turn_to_write = Lock()
        self._idle: list[sqlite3.Connection] = []
        self._closed = False
        with _errors_mapped():
            self._writer = self._connect()
            with _closed_on_failure(self._writer):
                _migrate(self._writer, migrations)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection that sees one moment of the file for as long as the block lasts."""
        with _errors_mapped():
            connection = self._borrow()
            try:
                connection.execute("BEGIN")
                with connection:
                    yield connection
            finally:
                self._give_back(connection)

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """A connection whose writes take effect together when the block ends, or not at all when it raises."""
        with self._turn_to_write, _errors_mapped():
            self._refuse_when_closed()
            self._writer.execute("BEGIN IMMEDIATE")
            with self._writer:
                yield self._writer

    def flush_log(self) -> None:
        """Empty the write-ahead log into the file, so that nothing removed is left in it. Skipped while readers hold it."""
        with self._turn_to_write, _errors_mapped():
            self._refuse_when_closed()
            _truncate_log(self._writer)

    def close(self) -> None:
        """Close all connections; calls that still run finish first or fail as unavailable. A second close does nothing."""
        with self._turn_to_write, _errors_mapped():
            if self._closed:
                return
            self._closed = True
            while self._idle:
                self._idle.pop().close()
            _truncate_log(self._writer)
            self._writer.close()

    def _connect(self) -> sqlite3.Connection:
        _make_private(self._path)
        connection = sqlite3.connect(self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False)
        with _closed_on_failure(connection):
            for setting in self._settings:
                connection.execute(setting)
        return connection

    def _borrow(self) -> sqlite3.Connection:
        self._refuse_when_closed()
        try:
            return self._idle.pop()
        except IndexError:
            return self._connect()

    def _give_back(self, connection: sqlite3.Connection) -> None:
        self._idle.append(connection)
        if self._closed:  # closed meanwhile: whoever pops it closes it
            while self._idle:
                self._idle.pop().close()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise StoreUnavailableError("the embedded store is closed")


def _make_private(path: Path) -> None:
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))  # the files that SQLite puts beside it take the same mode
    except OSError as error:
        raise StoreUnavailableError(f"the embedded store's file cannot be had ({type(error).__name__})") from None


def _truncate_log(writer: sqlite3.Connection) -> None:
    writer.execute("PRAGMA busy_timeout = 50")
    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    writer.execute(f"PRAGMA busy_timeout = {int(_BUSY_SECONDS * 1000)}")


def _migrate(writer: sqlite3.Connection, migrations: Sequence[Migration]) -> None:
    writer.execute("BEGIN IMMEDIATE")
    with writer:
        writer.execute("CREATE TABLE IF NOT EXISTS applied (number INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT")
        (applied,) = writer.execute("SELECT count(*) FROM applied").fetchone()
        if applied > len(migrations):
            raise StoreError("the file was written by a newer version of Keepsake")
        for number, migration in enumerate(migrations[applied:], start=applied + 1):
            migration(writer)
            writer.execute("INSERT INTO applied (number, name) VALUES (?, ?)", (number, migration.__name__))

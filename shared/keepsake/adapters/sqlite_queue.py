"""The work queue in a SQLite file of its own, with the rules of an SQS FIFO queue: the embedded product's queue.

Messages of one group come in order; while one of them is with somebody, or waits to be tried again, the group's others wait.
What was received and not deleted comes again when its visibility has run out; what was received too often is set aside.
"""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

from keepsake.adapters.sqlite_database import SqliteDatabase
from keepsake.domain.errors import QueueUnavailableError, StoreError
from keepsake.ports.surroundings import Clock
from keepsake.ports.work_queue import WorkMessage, body_of

DEDUPLICATION_MS = 5 * 60_000
DAY_MS = 86_400_000


@dataclass(frozen=True, slots=True)
class QueueRules:
    """How a queue behaves: what CloudFormation calls VisibilityTimeout, maxReceiveCount and MessageRetentionPeriod."""

    visibility_ms: int = 30_000
    max_receives: int = 5
    retention_ms: int = 4 * DAY_MS
    dead_retention_ms: int = 14 * DAY_MS


DEFAULT_RULES = QueueRules()


@dataclass(frozen=True, slots=True)
class ReceivedMessage:
    """A message as it was received. `receipt` deletes or releases it for as long as its visibility lasts."""

    message_id: str
    receipt: str
    body: str
    group: str
    deduplication: str
    sequence: int
    sent_ms: int
    first_received_ms: int
    received_count: int


class QueueCounts(NamedTuple):
    """How many messages wait, are with somebody or wait to be tried again, and were set aside."""

    waiting: int
    in_flight: int
    dead: int


class SqliteWorkQueue:
    """WorkQueue on one file, and its receiving end. Safe for many threads; survives the end of the process at any moment."""

    def __init__(self, path: Path, *, clock: Clock, rules: QueueRules = DEFAULT_RULES) -> None:
        self._clock = clock
        self._rules = rules
        with _errors_mapped():
            # What a loss of power takes back was not sent, and is planned again, or comes once more.
            self._database = SqliteDatabase(path, (_create_queue,), outlasts_power=False)

    def send(self, messages: Sequence[WorkMessage]) -> int:
        """See WorkQueue. All are taken, or none."""
        now = self._clock.now_ms()
        with self._writing() as writer:
            writer.execute("DELETE FROM seen WHERE sent_at <= ?", (now - DEDUPLICATION_MS,))
            for message in messages:
                if writer.execute(_SEE, (message.deduplication, now)).rowcount:
                    row = (str(uuid4()), message.group, message.deduplication, body_of(message), now)
                    writer.execute(_PUT, row)
        return len(messages)

    def receive(self, limit: int) -> tuple[ReceivedMessage, ...]:
        """At most `limit` messages, oldest first; each is hidden, and its group with it, until deleted, released or timed out."""
        now = self._clock.now_ms()
        with self._writing() as writer:
            _forget(writer, now, self._rules)
            _set_aside(writer, now, self._rules.max_receives)
            numbers = [number for (number,) in writer.execute(_NEXT, {"now": now, "limit": limit})]
            rows = [writer.execute(_TAKE, (now + self._rules.visibility_ms, now, number)).fetchone() for number in numbers]
        return tuple([_received(row) for row in rows])

    def delete(self, receipt: str) -> bool:
        """Remove a message that was dealt with. False, and nothing happens, when its visibility had run out."""
        return self._changed(_DELETE, receipt)

    def release(self, receipt: str, *, after_ms: int = 0) -> bool:
        """Let a message be received again in `after_ms`. False, and nothing happens, when its visibility had run out."""
        return self._changed(_RELEASE, receipt, self._clock.now_ms() + after_ms)

    def release_all(self) -> None:
        """Let everything be received at once: for a service that starts and knows that nobody holds a message any more."""
        with self._writing() as writer:
            writer.execute("UPDATE messages SET visible_at = 0 WHERE visible_at > ?", (self._clock.now_ms(),))

    def counts(self) -> QueueCounts:
        """How much is on the queue now."""
        with self._reading() as reader:
            waiting, in_flight = reader.execute(_COUNT, {"now": self._clock.now_ms()}).fetchone()
            (dead,) = reader.execute("SELECT count(*) FROM dead").fetchone()
        return QueueCounts(waiting, in_flight, dead)

    def dead_letters(self) -> tuple[ReceivedMessage, ...]:
        """What was set aside, in the order in which it was; their receipts are of no use."""
        with self._reading() as reader:
            return tuple([_received(row) for row in reader.execute(_DEAD)])

    def redrive(self) -> int:
        """Send what was set aside once more, behind what waits; how many messages that were."""
        now = self._clock.now_ms()
        with self._writing() as writer:
            moved = writer.execute(_REDRIVE, {"now": now}).rowcount
            writer.execute("DELETE FROM dead")
        return moved

    def close(self) -> None:
        """Give the file back. Every later call raises QueueUnavailableError."""
        with _errors_mapped():
            self._database.close()

    def _changed(self, statement: str, receipt: str, *values: int) -> bool:
        number, _, receives = receipt.partition(".")
        with self._writing() as writer:
            return writer.execute(statement, (*values, int(number), int(receives), self._clock.now_ms())).rowcount == 1

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with _errors_mapped(), self._database.writing() as writer:
            yield writer

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _errors_mapped(), self._database.reading() as reader:
            yield reader


@contextmanager
def _errors_mapped() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise QueueUnavailableError(error.detail) from None


def _forget(writer: sqlite3.Connection, now: int, rules: QueueRules) -> None:
    writer.execute("DELETE FROM messages WHERE sent_at <= ?", (now - rules.retention_ms,))
    writer.execute("DELETE FROM dead WHERE died_at <= ?", (now - rules.dead_retention_ms,))


def _set_aside(writer: sqlite3.Connection, now: int, max_receives: int) -> None:
    numbers = [number for (number,) in writer.execute(_WORN_OUT, {"now": now, "most": max_receives})]
    for number in numbers:
        writer.execute(_SET_ASIDE, (now, number))
        writer.execute("DELETE FROM messages WHERE number = ?", (number,))


def _received(row: Sequence[Any]) -> ReceivedMessage:
    number, message_id, group, deduplication, body, sent_ms, first_ms, receives = row
    return ReceivedMessage(
        message_id=message_id,
        receipt=f"{number}.{receives}",
        body=body,
        group=group,
        deduplication=deduplication,
        sequence=number,
        sent_ms=sent_ms,
        first_received_ms=first_ms,
        received_count=receives,
    )


def _create_queue(writer: sqlite3.Connection) -> None:
    """What waits and what is with somebody, what was sent lately, and what was set aside."""
    shared = (
        "id TEXT NOT NULL, grouped TEXT NOT NULL, deduplication TEXT NOT NULL, body TEXT NOT NULL,"
        " sent_at INTEGER NOT NULL, first_received_at INTEGER, receives INTEGER NOT NULL DEFAULT 0"
    )
    # Numbers are never used again: an old receipt must not fit a new message.
    writer.execute(
        f"CREATE TABLE messages (number INTEGER PRIMARY KEY AUTOINCREMENT, {shared}, visible_at INTEGER NOT NULL) STRICT"
    )
    writer.execute("CREATE INDEX messagesVisible ON messages (visible_at, grouped)")
    writer.execute("CREATE INDEX messagesSent ON messages (sent_at)")
    writer.execute("CREATE INDEX messagesReceived ON messages (receives) WHERE receives > 0")
    writer.execute("CREATE TABLE seen (deduplication TEXT PRIMARY KEY, sent_at INTEGER NOT NULL) STRICT, WITHOUT ROWID")
    writer.execute("CREATE INDEX seenSent ON seen (sent_at)")
    writer.execute(
        f"CREATE TABLE dead (place INTEGER PRIMARY KEY, number INTEGER NOT NULL, {shared}, died_at INTEGER NOT NULL) STRICT"
    )
    writer.execute("CREATE INDEX deadDied ON dead (died_at)")


_COLUMNS = "number, id, grouped, deduplication, body, sent_at, first_received_at, receives"
# With the pluses SQLite walks by number until it has enough, instead of sorting all that is visible.
_OPEN = "+visible_at <= :now AND grouped NOT IN (SELECT grouped FROM messages WHERE visible_at > :now)"
_SEE = "INSERT INTO seen (deduplication, sent_at) VALUES (?, ?) ON CONFLICT DO NOTHING"
_PUT = "INSERT INTO messages (id, grouped, deduplication, body, sent_at, visible_at) VALUES (?, ?, ?, ?, ?, 0)"
_NEXT = f"SELECT number FROM messages WHERE {_OPEN} ORDER BY number LIMIT :limit"  # noqa: S608
_WORN_OUT = f"SELECT number FROM messages WHERE receives > 0 AND receives >= :most AND {_OPEN} ORDER BY +number"  # noqa: S608
_TAKE = (
    "UPDATE messages SET visible_at = ?, first_received_at = coalesce(first_received_at, ?), receives = receives + 1"  # noqa: S608
    f" WHERE number = ? RETURNING {_COLUMNS}"
)
_SET_ASIDE = f"INSERT INTO dead ({_COLUMNS}, died_at) SELECT {_COLUMNS}, ? FROM messages WHERE number = ?"  # noqa: S608
_DEAD = f"SELECT {_COLUMNS} FROM dead ORDER BY place"  # noqa: S608
_REDRIVE = (
    "INSERT INTO messages (id, grouped, deduplication, body, sent_at, visible_at)"
    " SELECT id, grouped, deduplication, body, :now, 0 FROM dead ORDER BY place"
)
_COUNT = "SELECT count(*) FILTER (WHERE visible_at <= :now), count(*) FILTER (WHERE visible_at > :now) FROM messages"
_DELETE = "DELETE FROM messages WHERE number = ? AND receives = ? AND visible_at > ?"
_RELEASE = "UPDATE messages SET visible_at = ? WHERE number = ? AND receives = ? AND visible_at > ?"

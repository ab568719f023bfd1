"""How the embedded item store's file came to be, step by step.

Append only: a step that stands here has run on somebody's file. So each is written out, and none reads the schema of the port.
"""

import sqlite3


def create_tables(writer: sqlite3.Connection) -> None:
    """The six tables: the key, then what SQL looks for, then all else in `body` (msgpack)."""
    for table, key in (
        ("SessionBuffers", '"user_id" TEXT NOT NULL, "session_id" TEXT NOT NULL, PRIMARY KEY ("user_id", "session_id")'),
        (
            "SessionTurns",
            '"session_key" TEXT NOT NULL, "turn_timestamp" INTEGER NOT NULL, PRIMARY KEY ("session_key", "turn_timestamp")',
        ),
        ("LongTermMemory", '"user_id" TEXT NOT NULL, "item" TEXT NOT NULL, PRIMARY KEY ("user_id", "item")'),
        ("MemoryPointers", '"user_id" TEXT NOT NULL, "document_id" TEXT NOT NULL, PRIMARY KEY ("user_id", "document_id")'),
        ("AuditLog", '"chain" TEXT NOT NULL, "sequence" INTEGER NOT NULL, PRIMARY KEY ("chain", "sequence")'),
        ("Control", '"key" TEXT NOT NULL, "item" TEXT NOT NULL, PRIMARY KEY ("key", "item")'),
    ):
        columns = "size INTEGER NOT NULL, expires_at INTEGER, body BLOB NOT NULL"
        writer.execute(f"CREATE TABLE {table} ({columns}, {key}) STRICT")


def index_expiry(writer: sqlite3.Connection) -> None:
    """The sweep finds what expired without reading what did not."""
    for table in ("SessionBuffers", "SessionTurns", "LongTermMemory", "Control"):
        writer.execute(f"CREATE INDEX {table}Expiry ON {table} (expires_at) WHERE expires_at IS NOT NULL")


def index_pending_sessions(writer: sqlite3.Connection) -> None:
    """The sparse index of sessions that wait for consolidation."""
    writer.execute("ALTER TABLE LongTermMemory ADD COLUMN pending_shard TEXT")
    writer.execute("ALTER TABLE LongTermMemory ADD COLUMN pending_since INTEGER")
    writer.execute(
        "CREATE INDEX PendingSessions ON LongTermMemory (pending_shard, pending_since, user_id, item)"
        " WHERE pending_shard IS NOT NULL AND pending_since IS NOT NULL"
    )


MIGRATIONS = (create_tables, index_expiry, index_pending_sessions)

"""The embedded index's file: a list of indexes, and three tables for each of them, made and dropped with it.

A document's number is its owner's number and a sequence that never comes again, so that one owner's rows lie side by side and
what came since a moment is found by its number alone.
"""

import sqlite3
from dataclasses import dataclass

SEQUENCE_BITS = 32
SEQUENCE_MASK = (1 << SEQUENCE_BITS) - 1


def create_list(writer: sqlite3.Connection) -> None:
    """The list of indexes. A number is never given twice, so that nothing remembered of an index is taken for another's."""
    writer.execute(
        "CREATE TABLE Indexes (number INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL UNIQUE, model TEXT NOT NULL,"
        " dimensions INTEGER NOT NULL, weak_below REAL NOT NULL, strong_above REAL NOT NULL,"
        " documents INTEGER NOT NULL DEFAULT 0, is_current INTEGER NOT NULL DEFAULT 0) STRICT"
    )


MIGRATIONS = (create_list,)  # append only: a step that stands here has run on somebody's file


@dataclass(frozen=True, slots=True)
class IndexTables:
    """The names of one index's tables, made of its number and nothing else."""

    number: int

    @property
    def owners(self) -> str:
        """Who has documents, and what changed since: the next sequence, the removals."""
        return f"Owners{self.number}"

    @property
    def documents(self) -> str:
        """All but the terms."""
        return f"Documents{self.number}"

    @property
    def lexical(self) -> str:
        """The full-text index of the terms."""
        return f"Lexical{self.number}"

    def create(self, writer: sqlite3.Connection) -> None:
        """Make the tables."""
        writer.execute(
            f"CREATE TABLE {self.owners} (number INTEGER PRIMARY KEY AUTOINCREMENT, owner TEXT NOT NULL UNIQUE,"
            " next INTEGER NOT NULL, removed INTEGER NOT NULL, bits INTEGER NOT NULL, documents INTEGER NOT NULL) STRICT"
        )
        writer.execute(
            f"CREATE TABLE {self.documents} (number INTEGER PRIMARY KEY, owner INTEGER NOT NULL, document_id TEXT NOT NULL,"
            " kind TEXT NOT NULL, ref TEXT NOT NULL, level INTEGER NOT NULL, compartments TEXT NOT NULL,"
            " occurred_at_ms INTEGER NOT NULL, epoch INTEGER NOT NULL, session_id TEXT NOT NULL, speaker TEXT NOT NULL,"
            " role TEXT NOT NULL, length INTEGER NOT NULL, window_length INTEGER NOT NULL, vector BLOB NOT NULL,"
            " UNIQUE (owner, document_id)) STRICT"
        )
        writer.execute(
            f"CREATE VIRTUAL TABLE {self.lexical} USING fts5 (tokens, tokenize = 'ascii', detail = none, columnsize = 0)"
        )
        # Small pages and few segments: a search looks up many tokens, and reads a page of every segment for each.
        for setting, value in (("pgsz", 1000), ("automerge", 2)):
            writer.execute(f"INSERT INTO {self.lexical} ({self.lexical}, rank) VALUES (?, ?)", (setting, value))  # noqa: S608

    def drop(self, writer: sqlite3.Connection) -> None:
        """Remove the tables and all that is in them."""
        for table in (self.lexical, self.documents, self.owners):
            writer.execute(f"DROP TABLE {table}")

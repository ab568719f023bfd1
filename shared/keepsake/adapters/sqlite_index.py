"""The search index in one SQLite file of its own, beside the item store's, so that indexing never keeps a turn waiting.

Terms stand in a full-text index and vectors beside it; scores are computed here, exactly, from what the file says at the moment
of the search. Errors of the file become IndexUnavailableError here and nowhere else.
"""

import json
import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from keepsake.adapters.sqlite_database import SqliteDatabase
from keepsake.adapters.sqlite_index_lexical import merge, tokens
from keepsake.adapters.sqlite_index_owned import OwnedDocumentsCache
from keepsake.adapters.sqlite_index_schema import MIGRATIONS, SEQUENCE_BITS, IndexTables
from keepsake.adapters.sqlite_index_search import found_in
from keepsake.domain.errors import IndexUnavailableError, StoreError
from keepsake.domain.search import DocumentKind, FieldStatistics, Found, IndexDocument, IndexQuery
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.search_index import NO_INDEX, IndexedDocument, IndexedPage, Location, NotIndexed, PhysicalIndex

_REMEMBERED_BYTES = 192 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class _Known:
    """A row of the list of indexes."""

    tables: IndexTables
    name: str
    model: EmbeddingModel
    documents: int


class SqliteSearchIndex:
    """SearchIndex on one file. Safe for many threads; other processes may read and write the file too.

    What was put is found at once. A document's id and routing are its own id and its owner.
    `remembered_bytes` is about how much memory may hold the owners that were searched last.
    """

    def __init__(self, path: Path, *, remembered_bytes: int = _REMEMBERED_BYTES) -> None:
        with _errors_mapped():
            self._database = SqliteDatabase(path, MIGRATIONS)
        self._remembered = OwnedDocumentsCache(remembered_bytes)

    def current(self) -> PhysicalIndex | None:
        """See SearchIndex."""
        with self._reading() as reader:
            known = _current(reader)
        return None if known is None else PhysicalIndex(known.name, known.model, known.documents)

    def create(self, name: str, model: EmbeddingModel) -> None:
        """See SearchIndex."""
        with self._writing() as writer:
            known = _named(writer, name)
            if known is not None and (known.model.name, known.model.dimensions) != (model.name, model.dimensions):
                raise ValueError("an index of that name holds vectors of another model")
            if known is None:
                row = (name, model.name, model.dimensions, model.weak_below, model.strong_above)
                IndexTables(_inserted(writer.execute(_CREATE, row))).create(writer)

    def switch(self, name: str) -> None:
        """See SearchIndex."""
        with self._writing() as writer:
            if _named(writer, name) is None:
                raise ValueError("there is no index of that name")
            writer.execute("UPDATE Indexes SET is_current = (name = ?)", (name,))

    def drop(self, name: str) -> None:
        """See SearchIndex."""
        with self._writing() as writer:
            known = _named(writer, name)
            if known is not None:
                known.tables.drop(writer)
                writer.execute("DELETE FROM Indexes WHERE name = ?", (name,))

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        """See SearchIndex. All or none, in one transaction."""
        with self._writing() as writer:
            known = _named(writer, index)
            if known is None:
                return tuple([NotIndexed(NO_INDEX, retryable=False) for _ in documents])
            if any(document.vector.dimensions != known.model.dimensions for document in documents):
                raise ValueError("a vector has not the dimensions of the index")
            with _changing(writer, known.tables) as change:
                change.put({(document.owner, document.document_id): document for document in documents}.values())
        return tuple([Location(index, document.document_id, document.owner) for document in documents])

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        """See SearchIndex. All or none, in one transaction."""
        with self._writing() as writer:
            for name in dict.fromkeys([location.index for location in locations]):
                known = _named(writer, name)
                if known is None:
                    continue
                with _changing(writer, known.tables) as change:
                    for location in locations:
                        if location.index == name:
                            change.remove(location.routing, [location.id])
        return tuple([True for _ in locations])

    def search(self, query: IndexQuery) -> Found:
        """See SearchIndex. Raises ValueError when the query's vector has not the current index's dimensions."""
        with self._reading() as reader:
            known = (_named(reader, query.index) if query.index else _current(reader)) if query.kinds else None
            if known is None:
                if query.index and query.kinds:
                    raise IndexUnavailableError("the index that was asked for is gone")
                nothing = FieldStatistics(frequencies=dict.fromkeys(query.terms, 0))
                return Found((), nothing, nothing)
            remembered = [
                (owner, self._remembered.get(reader, known.tables, owner, known.model.dimensions))
                for owner in dict.fromkeys(query.owners)
            ]
            return found_in(reader, known.tables, query, [(owner, owned) for owner, owned in remembered if owned is not None])

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """See SearchIndex."""
        with self._reading() as reader:
            known = _current(reader)
            if known is None:
                return IndexedPage((), None)
            rows = reader.execute(_list_owned(known.tables), (owner, after or "", limit + 1)).fetchall()
        return _page(known.name, rows, limit, lambda row: row[1])

    def list_all(self, index: str, *, limit: int, after: str | None = None) -> IndexedPage:
        """See SearchIndex."""
        with self._reading() as reader:
            known = _named(reader, index)
            if known is None:
                return IndexedPage((), None)
            rows = reader.execute(_list_all(known.tables), (int(after or 0), limit + 1)).fetchall()
        return _page(index, rows, limit, lambda row: str(row[4]))

    def refresh(self) -> None:
        """See SearchIndex. Nothing is ever late here."""

    def clear_residue(self) -> None:
        """Leave nothing in the file of what was removed: full-text segments are written anew, the log is emptied.

        Takes time in proportion to the whole index.
        """
        with self._reading() as reader:
            tables = [IndexTables(number) for (number,) in reader.execute("SELECT number FROM Indexes ORDER BY number")]
        for of_index in tables:
            with self._writing() as writer:
                if writer.execute("SELECT 1 FROM Indexes WHERE number = ?", (of_index.number,)).fetchone():
                    merge(writer, of_index)
        with _errors_mapped():
            self._database.flush_log()

    def close(self) -> None:
        """Give the file back. Every later call raises IndexUnavailableError."""
        with _errors_mapped():
            self._database.close()

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        with _errors_mapped(), self._database.reading() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with _errors_mapped(), self._database.writing() as connection:
            yield connection


@contextmanager
def _errors_mapped() -> Iterator[None]:
    try:
        yield
    except StoreError as error:
        raise IndexUnavailableError(f"the embedded search index does not answer: {error.detail}") from None


# ---- the list of indexes -----------------------------------------------------------------------------------------------

_COLUMNS = "number, name, model, dimensions, weak_below, strong_above, documents"
_CREATE = "INSERT INTO Indexes (name, model, dimensions, weak_below, strong_above) VALUES (?, ?, ?, ?, ?)"


def _named(connection: sqlite3.Connection, name: str) -> _Known | None:
    return _known(connection.execute(f"SELECT {_COLUMNS} FROM Indexes WHERE name = ?", (name,)))  # noqa: S608


def _current(connection: sqlite3.Connection) -> _Known | None:
    return _known(connection.execute(f"SELECT {_COLUMNS} FROM Indexes WHERE is_current"))  # noqa: S608


def _known(rows: sqlite3.Cursor) -> _Known | None:
    row = rows.fetchone()
    return None if row is None else _Known(IndexTables(row[0]), row[1], EmbeddingModel(*row[2:6]), row[6])


def _inserted(cursor: sqlite3.Cursor) -> int:
    return cursor.lastrowid or 0


# ---- changing documents ------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Owner:
    """An owner's row while documents change."""

    number: int
    next: int = 0
    removed: int = 0
    bits: int = 0
    documents: int = 0


_INSERT_DOCUMENT = f"INSERT INTO {{documents}} VALUES ({', '.join('?' * 15)})"  # noqa: S608


_MOST_NAMED = 500  # documents in one statement


class _Change:
    """Puts and removals in one index, within one transaction. The rows of the owners are written at its end."""

    def __init__(self, writer: sqlite3.Connection, tables: IndexTables) -> None:
        self._writer = writer
        self._tables = tables
        self._owners: dict[str, _Owner | None] = {}
        self._more = 0

    def put(self, documents: Iterable[IndexDocument]) -> None:
        """Put documents, each in place of the one that has its id and owner."""
        by_owner: defaultdict[str, list[IndexDocument]] = defaultdict(list)
        for document in documents:
            by_owner[document.owner].append(document)
        for owner, its in by_owner.items():
            self.remove(owner, [document.document_id for document in its])
            self._insert(self._owner(owner) or self._new_owner(owner), its)

    def remove(self, name: str, document_ids: Sequence[str]) -> None:
        """Remove an owner's documents, which may not be there."""
        owner = self._owner(name)
        if owner is None:
            return
        there: list[tuple[int]] = []
        for at in range(0, len(document_ids), _MOST_NAMED):
            part = document_ids[at : at + _MOST_NAMED]
            listed = f"SELECT number FROM {{documents}} WHERE owner = ? AND document_id IN ({', '.join('?' * len(part))})"  # noqa: S608
            there += self._execute(listed, owner.number, *part).fetchall()
        self._execute_many("DELETE FROM {lexical} WHERE rowid = ?", there)
        self._execute_many("DELETE FROM {documents} WHERE number = ?", there)
        owner.removed += len(there)
        owner.documents -= len(there)
        self._more -= len(there)

    def _insert(self, owner: _Owner, documents: Sequence[IndexDocument]) -> None:
        """Insert documents that are not there."""
        rows, terms = [], []
        for number, document in enumerate(documents, owner.number << SEQUENCE_BITS | owner.next):
            written, bits = tokens(owner.number, document.terms, document.window_terms)
            rows.append(_row(number, owner, document))
            terms.append((number, written))
            owner.bits = max(owner.bits, bits)
        self._execute_many(_INSERT_DOCUMENT, rows)
        self._execute_many("INSERT INTO {lexical} (rowid, tokens) VALUES (?, ?)", terms)
        owner.next += len(rows)
        owner.documents += len(rows)
        self._more += len(rows)

    def finish(self) -> None:
        """Write the owners' rows, or remove those of owners that have nothing left."""
        for owner in self._owners.values():
            if owner is None:
                continue
            if owner.documents:
                self._execute(
                    "UPDATE {owners} SET next = ?, removed = ?, bits = ?, documents = ? WHERE number = ?",
                    *(owner.next, owner.removed, owner.bits, owner.documents, owner.number),
                )
            else:
                self._execute("DELETE FROM {owners} WHERE number = ?", owner.number)
        self._execute("UPDATE Indexes SET documents = documents + ? WHERE number = ?", self._more, self._tables.number)

    def _owner(self, name: str) -> _Owner | None:
        if name not in self._owners:
            row = self._execute("SELECT number, next, removed, bits, documents FROM {owners} WHERE owner = ?", name).fetchone()
            self._owners[name] = None if row is None else _Owner(*row)
        return self._owners[name]

    def _new_owner(self, name: str) -> _Owner:
        added = self._execute("INSERT INTO {owners} (owner, next, removed, bits, documents) VALUES (?, 0, 0, 0, 0)", name)
        owner = _Owner(_inserted(added))
        self._owners[name] = owner
        return owner

    def _execute(self, statement: str, *values: object) -> sqlite3.Cursor:
        return self._writer.execute(self._named(statement), values)

    def _execute_many(self, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
        if rows:
            self._writer.executemany(self._named(statement), rows)

    def _named(self, statement: str) -> str:
        tables = self._tables
        return statement.format(owners=tables.owners, documents=tables.documents, lexical=tables.lexical)


@contextmanager
def _changing(writer: sqlite3.Connection, tables: IndexTables) -> Iterator[_Change]:
    change = _Change(writer, tables)
    yield change
    change.finish()


def _row(number: int, owner: _Owner, document: IndexDocument) -> tuple[object, ...]:
    return (
        number,
        owner.number,
        document.document_id,
        document.kind.value,
        document.ref,
        document.clearance.level,
        json.dumps(sorted(document.clearance.compartments)),
        document.occurred_at_ms,
        document.epoch,
        document.session_id,
        document.speaker,
        document.role,
        len(document.terms),
        len(document.window_terms),
        document.vector.values,
    )


# ---- pages -------------------------------------------------------------------------------------------------------------

_Row = tuple[str, str, str, str, int]  # owner, document id, kind, ref, number


def _list_owned(tables: IndexTables) -> str:
    return (
        f"SELECT o.owner, d.document_id, d.kind, d.ref, d.number FROM {tables.owners} o JOIN {tables.documents} d"  # noqa: S608
        " ON d.owner = o.number WHERE o.owner = ? AND d.document_id > ? ORDER BY d.document_id LIMIT ?"
    )


def _list_all(tables: IndexTables) -> str:
    return (
        f"SELECT o.owner, d.document_id, d.kind, d.ref, d.number FROM {tables.documents} d JOIN {tables.owners} o"  # noqa: S608
        " ON d.owner = o.number WHERE d.number > ? ORDER BY d.number LIMIT ?"
    )


def _page(index: str, rows: Sequence[_Row], limit: int, position: Callable[[_Row], str]) -> IndexedPage:
    listed = [
        IndexedDocument(owner, document_id, DocumentKind(kind), ref, Location(index, document_id, owner))
        for owner, document_id, kind, ref, _ in rows[:limit]
    ]
    return IndexedPage(tuple(listed), position(rows[limit - 1]) if len(rows) > limit else None)

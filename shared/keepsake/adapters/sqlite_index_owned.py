"""What the embedded index remembers of an owner's documents between searches: all but the terms, as arrays.

Each search asks the file whether anything changed; then only what came since is read. Nothing here is ever truth.
"""

import json
import sqlite3
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from keepsake.adapters.sqlite_index_lexical import Integers, Postings, numbers, postings
from keepsake.adapters.sqlite_index_schema import SEQUENCE_BITS, SEQUENCE_MASK, IndexTables
from keepsake.domain.clearance import Clearance
from keepsake.domain.search import DocumentKind

Group = tuple[DocumentKind, Clearance]
Entry = tuple[str, str, int, int, str, str, str]  # document id, ref, time, epoch, session, speaker, role

_ENTRY_BYTES = 700
_MATCH_BYTES = 16
_MOST_MATCHES = 2_000_000  # of one owner's


@dataclass(frozen=True, slots=True)
class OwnerState:
    """An owner's number in an index and what moves with every change: the next sequence, and the removals."""

    number: int
    next: int
    removed: int
    bits: int


class KnownPostings:
    """Terms of an owner that were looked for since the documents changed: all of them, until they are too many."""

    def __init__(self) -> None:
        self._postings: dict[str, Postings] = {}
        self.matches = 0  # about: threads that add at once may lose a count

    def get(self, term: str) -> Postings | None:
        """Where the term stands, None when nobody looked."""
        return self._postings.get(term)

    def add(self, term: str, found: Postings) -> None:
        """Remember where a term stands."""
        if self.matches > _MOST_MATCHES:
            self._postings = {}
            self.matches = 0
        self._postings[term] = found
        self.matches += len(found.turn.places) + len(found.window.places) + 8  # what an empty one takes, too


@dataclass(frozen=True, slots=True)
class OwnedDocuments:
    """An owner's documents at one moment, in the order of their sequences, which `sequences` holds.

    `groups` says for each which of `group_names` it is of. `vectors` has whole numbers in float32, which adds up to exact
    products; `squares` is each one's product with itself, 0 for one without direction.
    """

    state: OwnerState
    entries: list[Entry]
    group_names: list[Group]
    sequences: Integers
    groups: Integers
    times: Integers
    lengths: Integers
    window_lengths: Integers
    vectors: NDArray[np.float32]
    squares: NDArray[np.float64]
    known: KnownPostings = field(default_factory=KnownPostings)

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        return self.vectors.nbytes + len(self.entries) * _ENTRY_BYTES + self.known.matches * _MATCH_BYTES

    def postings(self, reader: sqlite3.Connection, tables: IndexTables, term: str) -> Postings:
        """Where the term stands, from the file the first time."""
        found = self.known.get(term)
        if found is None:
            number, bits = self.state.number, self.state.bits
            found = postings(reader, tables, number, term, bits=bits, sequences=self.sequences)
            self.known.add(term, found)
        return found


class OwnedDocumentsCache:
    """The owners that were searched last, as many as `most_bytes` hold, but at least one. For many threads."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._kept: OrderedDict[tuple[int, int], OwnedDocuments] = OrderedDict()
        self._one_at_a_time = Lock()

    def get(self, reader: sqlite3.Connection, tables: IndexTables, owner: str, dimensions: int) -> OwnedDocuments | None:
        """The owner's documents as `reader` sees them, None when there are none."""
        row = reader.execute(
            f"SELECT number, next, removed, bits FROM {tables.owners} WHERE owner = ?",  # noqa: S608
            (owner,),
        ).fetchone()
        if row is None:
            return None
        state = OwnerState(*row)
        key = tables.number, state.number
        with self._one_at_a_time:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
        if known is not None and known.state == state:
            return known
        found = _read(reader, tables, state, known, dimensions)
        self._keep(key, found)
        return found

    def _keep(self, key: tuple[int, int], found: OwnedDocuments) -> None:
        with self._one_at_a_time:
            self._kept[key] = found
            self._kept.move_to_end(key)
            size = sum([owned.size for owned in self._kept.values()])
            while size > self._most_bytes and len(self._kept) > 1:
                _, dropped = self._kept.popitem(last=False)
                size -= dropped.size


# ---- reading -----------------------------------------------------------------------------------------------------------


def _read(
    reader: sqlite3.Connection, tables: IndexTables, state: OwnerState, known: OwnedDocuments | None, dimensions: int
) -> OwnedDocuments:
    """What is new is read, and what was removed is left out; all is read when `known` is of a later moment, or nothing."""
    if known is None or known.state.next > state.next or known.state.removed > state.removed:
        return _rows_from(reader, tables, state, 0, [], dimensions)
    new = _rows_from(reader, tables, state, known.state.next, known.group_names, dimensions)
    if known.state.removed == state.removed:
        return _joined(known, new)
    return _joined(_only(known, _still_there(reader, tables, known, state)), new)


def _still_there(reader: sqlite3.Connection, tables: IndexTables, known: OwnedDocuments, state: OwnerState) -> NDArray[np.bool_]:
    first = state.number << SEQUENCE_BITS
    (text,) = reader.execute(
        f"SELECT group_concat(number & {SEQUENCE_MASK}) FROM {tables.documents} WHERE number >= ? AND number < ?",  # noqa: S608
        (first, first + known.state.next),
    ).fetchone()
    return np.isin(known.sequences, numbers(text), assume_unique=True)


def _rows_from(
    reader: sqlite3.Connection, tables: IndexTables, state: OwnerState, start: int, groups: Sequence[Group], dimensions: int
) -> OwnedDocuments:
    first = state.number << SEQUENCE_BITS
    rows = reader.execute(
        f"SELECT number & {SEQUENCE_MASK}, kind, level, compartments, occurred_at_ms, length, window_length, vector,"  # noqa: S608
        f" document_id, ref, occurred_at_ms, epoch, session_id, speaker, role"
        f" FROM {tables.documents} WHERE number >= ? AND number < ? ORDER BY number",
        (first + start, first + (1 << SEQUENCE_BITS)),
    ).fetchall()
    return _documents(state, rows, groups, dimensions)


def _documents(state: OwnerState, rows: Sequence[tuple[Any, ...]], groups: Sequence[Group], dimensions: int) -> OwnedDocuments:
    places = {group: place for place, group in enumerate(groups)}
    of_rows = [places.setdefault(_group(*row[1:4]), len(places)) for row in rows]
    vectors = np.frombuffer(b"".join([row[7] for row in rows]), dtype=np.int8).reshape(len(rows), dimensions)
    return OwnedDocuments(
        state=state,
        entries=[row[8:] for row in rows],
        group_names=list(places),
        sequences=_integers([row[0] for row in rows]),
        groups=_integers(of_rows),
        times=_integers([row[4] for row in rows]),
        lengths=_integers([row[5] for row in rows]),
        window_lengths=_integers([row[6] for row in rows]),
        vectors=vectors.astype(np.float32),
        squares=np.einsum("ij,ij->i", vectors, vectors, dtype=np.int32).astype(np.float64),
    )


@lru_cache(maxsize=1024)
def _group(kind: str, level: int, compartments: str) -> Group:
    return DocumentKind(kind), Clearance(level, frozenset(json.loads(compartments)))


def _integers(values: Sequence[int]) -> Integers:
    return np.array(values, dtype=np.int64)


def _only(owned: OwnedDocuments, stays: NDArray[np.bool_]) -> OwnedDocuments:
    return OwnedDocuments(
        state=owned.state,
        entries=[entry for entry, stayed in zip(owned.entries, stays.tolist(), strict=True) if stayed],
        group_names=owned.group_names,
        sequences=owned.sequences[stays],
        groups=owned.groups[stays],
        times=owned.times[stays],
        lengths=owned.lengths[stays],
        window_lengths=owned.window_lengths[stays],
        vectors=owned.vectors[stays],
        squares=owned.squares[stays],
    )


def _joined(owned: OwnedDocuments, new: OwnedDocuments) -> OwnedDocuments:
    return OwnedDocuments(
        state=new.state,
        entries=owned.entries + new.entries,
        group_names=new.group_names,
        sequences=np.concatenate([owned.sequences, new.sequences]),
        groups=np.concatenate([owned.groups, new.groups]),
        times=np.concatenate([owned.times, new.times]),
        lengths=np.concatenate([owned.lengths, new.lengths]),
        window_lengths=np.concatenate([owned.window_lengths, new.window_lengths]),
        vectors=np.concatenate([owned.vectors, new.vectors]),
        squares=np.concatenate([owned.squares, new.squares]),
    )

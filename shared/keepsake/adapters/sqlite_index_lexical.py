"""The full-text index: our own terms, written as tokens that FTS5 takes as they are, and read back as postings.

A token is the owner's number, the term, the field and one bit of how often the term stands there. So a token's documents are one
owner's alone, and the counts are exact without positions being kept: a term that stands five times has the tokens of 4 and of 1.
"""

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from keepsake.adapters.sqlite_index_schema import SEQUENCE_MASK, IndexTables

Integers = NDArray[np.int64]

_TURN, _WINDOW = "t", "w"
_CACHED = 16384  # terms
# FTS5's ASCII tokenizer leaves these as they are; all else, and the sign of an escape itself, is escaped.
_NOT_PLAIN = re.compile("[^a-z0-9\x80-\ud7ff\ue001-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class Matches:
    """In which of an owner's documents a term stands, and how often: places in ascending order, and a count for each."""

    places: Integers
    counts: Integers


@dataclass(frozen=True, slots=True)
class Postings:
    """A term's matches in the documents and in their windows."""

    turn: Matches
    window: Matches


def tokens(owner: int, terms: Sequence[str], window_terms: Sequence[str]) -> tuple[str, int]:
    """A document's tokens, as FTS5 takes them, and how many bits the largest count has."""
    turn = Counter(terms)
    window = turn if window_terms is terms else Counter(window_terms)  # all but turns are their own window
    written = [*_tokens(owner, turn, _TURN), *_tokens(owner, window, _WINDOW)]
    return " ".join(written), max([*turn.values(), *window.values()], default=0).bit_length()


def postings(
    reader: sqlite3.Connection, tables: IndexTables, owner: int, term: str, *, bits: int, sequences: Integers
) -> Postings:
    """Where an owner's documents hold the term: `sequences` are theirs, `bits` is how many the largest count has."""
    names = [_token(owner, term, field, bit) for field in (_TURN, _WINDOW) for bit in range(bits)]
    if not names:
        return Postings(_matches([], sequences), _matches([], sequences))
    found = reader.execute(_postings_query(tables.lexical, len(names)), [f'"{name}"' for name in names]).fetchone()
    return Postings(_matches(found[:bits], sequences), _matches(found[bits:], sequences))


def merge(writer: sqlite3.Connection, tables: IndexTables) -> None:
    """Write the full-text index anew, without what was removed from it."""
    writer.execute(f"INSERT INTO {tables.lexical} ({tables.lexical}) VALUES ('optimize')")  # noqa: S608


def _tokens(owner: int, counts: Counter[str], field: str) -> list[str]:
    start = f"{owner}o"
    return [f"{start}{_plain(term)}{end}" for term, count in counts.items() for end in _ends(field, count)]


@lru_cache(maxsize=1024)
def _ends(field: str, count: int) -> tuple[str, ...]:
    """How the tokens of a term end that stands there so often."""
    return tuple(f"{field}{chr(97 + bit)}" for bit in range(count.bit_length()) if count >> bit & 1)


def _token(owner: int, term: str, field: str, bit: int) -> str:
    # The digits end at the first "o", and the last two characters are no part of the term: no two tokens can be confused.
    return f"{owner}o{_plain(term)}{field}{chr(97 + bit)}"


@lru_cache(maxsize=_CACHED)
def _plain(term: str) -> str:
    return _NOT_PLAIN.sub(_escaped, term)


def _escaped(character: re.Match[str]) -> str:
    return f"\ue000{ord(character.group()):04x}"


@lru_cache(maxsize=64)
def _postings_query(table: str, names: int) -> str:
    one = f"(SELECT group_concat(rowid & {SEQUENCE_MASK}) FROM {table} WHERE {table} MATCH ?)"  # noqa: S608
    return f"SELECT {', '.join([one] * names)}"


def _matches(bits: Sequence[str | None], sequences: Integers) -> Matches:
    """From the sequences of each bit, the lowest bit first."""
    read = [(1 << bit, np.searchsorted(sequences, numbers(text))) for bit, text in enumerate(bits) if text]
    if not read:
        return Matches(np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64))
    if len(read) == 1:
        ((weight, places),) = read
        return Matches(places, np.full(len(places), weight))
    counts = np.zeros(len(sequences), dtype=np.int64)
    for weight, places in read:
        counts[places] += weight
    everywhere = np.flatnonzero(counts)
    return Matches(everywhere, counts[everywhere])


def numbers(text: str | None) -> Integers:
    """Whole numbers, as SQLite's group_concat writes them."""
    return np.fromstring(text, dtype=np.int64, sep=",") if text else np.empty(0, dtype=np.int64)

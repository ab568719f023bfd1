"""What an index is asked, and what it answers: candidates with the exact features of every arm, for our own ranking.

An index never ranks for itself: it finds the best of each arm, and says of each of them what all arms say of it.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.vectors import Vector


class DocumentKind(StrEnum):
    """What a document of the index stands for."""

    TURN = "turn"
    SUMMARY = "summary"
    MEMORY = "memory"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class IndexDocument:
    """One document of the index. It holds no text, only what finds it; `ref` says where its truth stands.

    `terms` are those of `domain.analysis.index_terms`, `window_terms` those of it and its neighbours in their order (for what has
    none, the same). `speaker` is the folded name of who speaks and `role` the turn's role, both empty where nobody speaks.
    """

    owner: str
    document_id: str
    kind: DocumentKind
    ref: str
    terms: tuple[str, ...]
    window_terms: tuple[str, ...]
    vector: Vector
    occurred_at_ms: int
    epoch: int = 0
    clearance: Clearance = OPEN
    session_id: str = ""
    speaker: str = ""
    role: str = ""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What to look for, and among what: nothing outside `owners`, `clearance` and `kinds` counts, not even in the statistics.

    No owners or no kinds: nothing is found. `terms` are distinct. The times are bounds of `occurred_at_ms`, both inclusive; they
    bound the candidates, not the statistics. `per_arm` is how many of the best of each arm become candidates. `index` names the
    one index to look in, that with vectors of the query's model; empty: the current one.
    """

    owners: tuple[str, ...]
    clearance: Clearance
    kinds: frozenset[DocumentKind]
    terms: tuple[str, ...]
    vector: Vector | None
    since_ms: int | None = None
    until_ms: int | None = None
    per_arm: int = 50
    index: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A document that an arm found, with what every arm has to say of it.

    `matches` and `window_matches` say how often each of the query's terms stands in it (terms that do not are left out);
    `length` and `window_length` count all terms. `cosine` is None when the query had no vector or the candidate has none.
    `importance` is a memory's, from 0 to 1, where whoever asks knows it.
    """

    owner: str
    document_id: str
    kind: DocumentKind
    ref: str
    occurred_at_ms: int
    matches: Mapping[str, int]
    window_matches: Mapping[str, int]
    length: int
    window_length: int
    cosine: float | None
    epoch: int = 0
    clearance: Clearance = OPEN
    session_id: str = ""
    speaker: str = ""
    role: str = ""
    importance: float = 0.0


@dataclass(frozen=True, slots=True)
class FieldStatistics:
    """Term statistics of one field over all that the query may see: number of documents, sum of their lengths, and in how many
    of them each of the query's terms stands.
    """

    documents: int = 0
    length: int = 0
    frequencies: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Found:
    """An index's answer: the union of the best of each arm, in no order that means anything, and statistics to score it by."""

    candidates: tuple[Candidate, ...]
    turn: FieldStatistics
    window: FieldStatistics

"""How a document stands in OpenSearch: its key, its tokens, its fields, and how it is read back.

A term is kept as a token that also says whose it is. So no lexical query can reach another owner's documents, filter or not, and
the document frequencies that choose candidates are the owner's own: what others write moves nobody's candidates.
"""

from base64 import b64decode, b64encode, urlsafe_b64encode
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from typing import Any

from keepsake.domain.clearance import Clearance
from keepsake.domain.search import DocumentKind, IndexDocument
from keepsake.domain.vectors import Vector

TURN, WINDOW, VECTOR = "turn", "window", "vector"
_KEY = 16  # bytes; two keys never meet
_TOKEN = 6  # bytes; two terms of one owner practically never meet


def routing_of(owner: str) -> str:
    """The routing of an owner's documents: all on one shard. A hash, since a routing cannot hold a comma."""
    return _digest(_KEY, owner)


def key_of(owner: str, document_id: str) -> str:
    """The document's key, the same whenever it is put."""
    return _digest(_KEY, owner, document_id)


@lru_cache(maxsize=32_768)
def token_of(owner: str, term: str) -> str:
    """The token of an owner's term: 8 characters."""
    return _digest(_TOKEN, owner, term)


def fields_of(document: IndexDocument, *, unit_vector: bool) -> dict[str, Any]:
    """What is sent to the index. A vector without a direction is not indexed: no index takes it, and it is near to nothing."""
    turn, window = Counter(document.terms), Counter(document.window_terms)
    owner, compartments = document.owner, sorted(document.clearance.compartments)
    fields: dict[str, Any] = {
        "key": key_of(owner, document.document_id),
        "owner": owner,
        "document_id": document.document_id,
        "kind": document.kind.value,
        "ref": document.ref,
        "session": document.session_id,
        "speaker": document.speaker,
        "role": document.role,
        "level": document.clearance.level,
        "compartments": compartments,
        "compartment_count": len(compartments),
        "epoch": document.epoch,
        "occurred_at": document.occurred_at_ms,
        "length": len(document.terms),
        "window_length": len(document.window_terms),
        TURN: [token_of(owner, term) for term in turn.elements()],
        WINDOW: [token_of(owner, term) for term in window.elements()],
        "found_by": {
            TURN: _by_count(owner, turn),
            WINDOW: _by_count(owner, window),
            "direction": b64encode(document.vector.values).decode(),
            "square": sum(component * component for component in document.vector.whole),
        },
    }
    if any(document.vector.values):
        fields[VECTOR] = components_of(document.vector, unit=unit_vector)
    return fields


def components_of(vector: Vector, *, unit: bool) -> list[float]:
    """The components as they are sent: whole numbers, or those of the vector of length 1 in the same direction."""
    whole = vector.whole
    if not unit:
        return list(whole)
    length = sum(component * component for component in whole) ** 0.5
    return [component / length for component in whole]


def _by_count(owner: str, counts: Mapping[str, int]) -> dict[str, str]:
    """The tokens that stand there once, one behind the other; those that stand there twice; and so on."""
    tokens: dict[str, list[str]] = {}
    for term, count in counts.items():
        tokens.setdefault(str(count), []).append(token_of(owner, term))
    return {count: "".join(same) for count, same in tokens.items()}


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as a search brings it: all of a candidate but the cosine. Counts are those of the query's terms.

    `square` is that of the vector's length.
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
    vector: Vector
    square: int
    epoch: int
    clearance: Clearance
    session_id: str
    speaker: str
    role: str


def wanted_tokens(owners: Sequence[str], terms: Sequence[str]) -> dict[str, list[tuple[str, str]]]:
    """For each owner the terms, each with its token."""
    return {owner: [(term, token_of(owner, term)) for term in terms] for owner in owners}


def hit_of(source: Mapping[str, Any], wanted: Mapping[str, Sequence[tuple[str, str]]]) -> Hit:
    """Read back a document, and how often each of the `wanted_tokens` stands in it.

    Raises LookupError, TypeError, ValueError when it is none of ours, or of nobody who was asked about.
    """
    owner, found_by = source["owner"], source["found_by"]
    return Hit(
        owner=owner,
        document_id=source["document_id"],
        kind=DocumentKind(source["kind"]),
        ref=source["ref"],
        occurred_at_ms=source["occurred_at"],
        matches=_matches(wanted[owner], found_by[TURN]),
        window_matches=_matches(wanted[owner], found_by[WINDOW]),
        length=source["length"],
        window_length=source["window_length"],
        vector=Vector(b64decode(found_by["direction"])),
        square=found_by["square"],
        epoch=source["epoch"],
        clearance=Clearance(source["level"], frozenset(source["compartments"])),
        session_id=source["session"],
        speaker=source["speaker"],
        role=source["role"],
    )


def _matches(wanted: Sequence[tuple[str, str]], tokens: Mapping[str, str]) -> dict[str, int]:
    return {term: int(count) for term, token in wanted for count, same in tokens.items() if token in same}


def _digest(size: int, *parts: str) -> str:
    raw = [part.encode("utf-8", "surrogatepass") for part in parts]
    framed = b"".join([len(part).to_bytes(4, "big") + part for part in raw])
    return urlsafe_b64encode(blake2b(framed, digest_size=size).digest()).decode().rstrip("=")

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
# What a hit brings along beside the counts of the query's tokens.
FIELDS = (
    "owner", "document_id", "kind", "ref", "session", "speaker", "role", "level", "compartments", "epoch", "occurred_at",
    "length", "window_length",
)  # fmt: skip
DIRECTION = "found_by.direction"
_SIXTEEN = 16  # bytes of a key: no two of them meet
_NINE = 9  # bytes of a token: two of one owner's practically never meet


def routing_of(owner: str) -> str:
    """The routing of an owner's documents: all on one shard. A hash, since a routing cannot hold a comma."""
    return _digest(_SIXTEEN, owner)


def key_of(owner: str, document_id: str) -> str:
    """The document's key, the same whenever it is put."""
    return _digest(_SIXTEEN, owner, document_id)


@lru_cache(maxsize=32_768)
def token_of(owner: str, term: str) -> str:
    """The token of an owner's term: 12 characters without a dot."""
    return _digest(_NINE, owner, term)


def count_path(field: str, token: str) -> str:
    """Where a document says how often the token stands in the field."""
    return f"found_by.{field}.{token}"


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
            TURN: {token_of(owner, term): count for term, count in turn.items()},
            WINDOW: {token_of(owner, term): count for term, count in window.items()},
            "direction": b64encode(document.vector.values).decode(),
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


@dataclass(frozen=True, slots=True)
class Hit:
    """A document as a search brings it: all of a candidate but the cosine. Counts are those of the query's terms."""

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
    epoch: int
    clearance: Clearance
    session_id: str
    speaker: str
    role: str


def hit_of(source: Mapping[str, Any], terms: Sequence[str]) -> Hit:
    """Read back a document. Raises LookupError, TypeError, ValueError when it is none of ours."""
    owner, found_by = source["owner"], source["found_by"]
    return Hit(
        owner=owner,
        document_id=source["document_id"],
        kind=DocumentKind(source["kind"]),
        ref=source["ref"],
        occurred_at_ms=source["occurred_at"],
        matches=_matches(owner, found_by.get(TURN, {}), terms),
        window_matches=_matches(owner, found_by.get(WINDOW, {}), terms),
        length=source["length"],
        window_length=source["window_length"],
        vector=Vector(b64decode(found_by["direction"])),
        epoch=source["epoch"],
        clearance=Clearance(source["level"], frozenset(source["compartments"])),
        session_id=source["session"],
        speaker=source["speaker"],
        role=source["role"],
    )


def _matches(owner: str, counts: Mapping[str, int], terms: Sequence[str]) -> dict[str, int]:
    return {term: counts[token] for term in terms if (token := token_of(owner, term)) in counts}


def _digest(size: int, *parts: str) -> str:
    raw = [part.encode("utf-8", "surrogatepass") for part in parts]
    framed = b"".join([len(part).to_bytes(4, "big") + part for part in raw])
    return urlsafe_b64encode(blake2b(framed, digest_size=size).digest()).decode().rstrip("=")

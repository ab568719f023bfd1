"""From what was said of a slot to what held when: the one place where a newer word takes the place of an older one.

Claims are read in the order in which they were said. The value that holds is the last one affirmed; it ends where another one of
the same slot begins or where somebody says that it ended, and never was where somebody says that.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from keepsake.domain.clearance import Clearance, visible
from keepsake.domain.memories.claims import Claim, Claims, Stance
from keepsake.domain.memories.values import Memory, Source

# How much a repeat strengthens: as if it were this likely to be independent of what was said before.
_INDEPENDENT = 0.3
_MOST_CONFIDENT = 0.99
MAX_SOURCES = 12


@dataclass(slots=True)
class _Stint:
    """A time during which one value held, while it is being worked out."""

    value_id: str
    claims: list[Claim]
    from_ms: int
    to_ms: int | None = None
    superseded_by: "_Stint | None" = None
    denied: bool = False
    number: int = field(default=1)

    def holds_open(self) -> bool:
        return self.to_ms is None


def history(slot_id: str, claims: Claims, clearance: Clearance | None = None) -> tuple[Memory, ...]:
    """The memories that the claims amount to, in the order in which they began to hold; ended and denied ones too.

    With a clearance, only what it covers is heard: what a principal may not see does not end what it may see either.
    """
    heard = claims.claims if clearance is None else visible(clearance, claims.claims)
    stints: list[_Stint] = []
    for claim in heard:
        _hear(stints, claim)
    numbered = _numbered(stints)
    names = {id(stint): _memory_id(slot_id, stint) for stint in numbered}
    return tuple(_memory(claims, stint, names) for stint in sorted(numbered, key=lambda one: (one.from_ms, names[id(one)])))


def _hear(stints: list[_Stint], claim: Claim) -> None:
    current = next((stint for stint in reversed(stints) if stint.holds_open()), None)
    match claim.stance:
        case Stance.AFFIRMS if claim.valid_to_ms is not None and claim.valid_to_ms <= claim.said_at_ms:
            _hear_of_the_past(stints, claim, claim.valid_to_ms)
        case Stance.AFFIRMS:
            _hear_of_the_present(stints, claim, current)
        case Stance.ENDS:
            if current and claim.value_id in ("", current.value_id):
                current.to_ms = max(current.from_ms, claim.valid_to_ms if claim.valid_to_ms is not None else claim.said_at_ms)
        case Stance.DENIES:
            for stint in stints:
                if claim.value_id in ("", stint.value_id):
                    stint.denied, stint.to_ms = True, stint.from_ms


def _hear_of_the_present(stints: list[_Stint], claim: Claim, current: _Stint | None) -> None:
    from_ms = claim.said_at_ms if claim.valid_from_ms is None else claim.valid_from_ms
    if current and current.value_id == claim.value_id:
        current.claims.append(claim)
        if claim.valid_from_ms is not None:
            current.from_ms = min(current.from_ms, claim.valid_from_ms)
        if claim.valid_to_ms is not None:
            current.to_ms = claim.valid_to_ms
        return
    begun = _Stint(claim.value_id, [claim], from_ms, claim.valid_to_ms)
    if current:
        current.to_ms = max(current.from_ms, from_ms)
        current.superseded_by = begun
    stints.append(begun)


def _hear_of_the_past(stints: list[_Stint], claim: Claim, to_ms: int) -> None:
    """Something that held until then. If it is known, this is when it ended; else it is new, and ended already."""
    known = next((stint for stint in reversed(stints) if stint.value_id == claim.value_id), None)
    if known:
        known.claims.append(claim)
        known.from_ms = min(known.from_ms, to_ms if claim.valid_from_ms is None else claim.valid_from_ms)
        known.to_ms = to_ms if known.to_ms is None else min(known.to_ms, to_ms)
        return
    from_ms = to_ms if claim.valid_from_ms is None else min(claim.valid_from_ms, to_ms)
    stints.append(_Stint(claim.value_id, [claim], from_ms, to_ms))


def _numbered(stints: list[_Stint]) -> list[_Stint]:
    """Each with its number among those of the same value, in the order in which they were heard of."""
    seen: dict[str, int] = {}
    for stint in stints:
        seen[stint.value_id] = stint.number = seen.get(stint.value_id, 0) + 1
    return stints


def _memory_id(slot_id: str, stint: _Stint) -> str:
    return f"{slot_id}.{stint.value_id}" + (f"-{stint.number}" if stint.number > 1 else "")


def value_of(memory_id: str) -> tuple[str, str]:
    """The slot's id and the value's id that a memory's id is made of; of what is no such id, something that names nothing."""
    slot_id, _, rest = memory_id.rpartition(".")
    return slot_id, rest.partition("-")[0]


def _memory(claims: Claims, stint: _Stint, names: dict[int, str]) -> Memory:
    said = stint.claims
    telling = max(said, key=lambda claim: (claim.confirmed, claim.confidence, -claim.said_at_ms, claim.claim_id))
    last = said[-1]
    clearance = said[0].clearance
    for claim in said[1:]:
        clearance = clearance.joined(claim.clearance)
    return Memory(
        memory_id=names[id(stint)],
        type=claims.type,
        subject=telling.subject,
        attribute=claims.slot.attribute,
        value=telling.value,
        text=telling.text,
        confidence=_confidence(said),
        importance=max(claim.importance for claim in said),
        valid_from_ms=stint.from_ms,
        valid_to_ms=stint.to_ms,
        recorded_at_ms=min(claim.recorded_at_ms for claim in said),
        made_by=telling.made_by,
        sources=_sources(said),
        said=len(said) + (len(claims.repeats) if len(names) == 1 else 0),
        last_said_ms=last.said_at_ms,
        last_recorded_ms=max(claim.recorded_at_ms for claim in said),
        confirmed=any(claim.confirmed for claim in said),
        denied=stint.denied,
        superseded_by=names.get(id(stint.superseded_by)) if stint.superseded_by else None,
        clearance=clearance,
    )


def _sources(said: Iterable[Claim]) -> tuple[Source, ...]:
    """Where it was said, the newest at the end: the first, and the last of the others."""
    first, *others = dict.fromkeys(claim.source for claim in said)
    return (first, *others[-(MAX_SOURCES - 1) :])


def _confidence(said: list[Claim]) -> float:
    """Of the most confident claim, strengthened by each repeat; a user's own confirmation settles it."""
    if any(claim.confirmed for claim in said):
        return _MOST_CONFIDENT
    levels = sorted((claim.confidence for claim in said), reverse=True)
    doubt = 1 - levels[0]
    for level in levels[1:]:
        doubt *= 1 - _INDEPENDENT * level
    return round(min(_MOST_CONFIDENT, 1 - doubt), 4)

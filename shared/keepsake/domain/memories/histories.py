"""From what was said of a slot to what held when: the one place where a newer word takes the place of an older one.

Claims are read in the order in which they were said. The value that holds is the last one affirmed; it ends where another one of
the same slot begins or where somebody says that it ended, and never was where somebody says that.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from keepsake.domain.clearance import OPEN, Clearance, hearings, visible
from keepsake.domain.memories.claims import Claim, Claims, Stance
from keepsake.domain.memories.values import Memory, Source

# How much a repeat strengthens: as if it were this likely to be independent of what was said before.
_INDEPENDENT = 0.3
_MOST_CONFIDENT = 0.99
MAX_SOURCES = 12


@dataclass(slots=True, eq=False)
class _Stint:
    """A time during which one value held, while it is being worked out."""

    value_id: str
    claims: list[Claim]
    from_ms: int
    to_ms: int | None = None
    superseded_by: "_Stint | None" = None
    denied: bool = False
    ended_by: Claim | None = None
    number: int = field(default=1)

    def goes_on(self, at_ms: int) -> bool:
        """Whether it was not over then; it may not have begun."""
        return not self.denied and (self.to_ms is None or self.to_ms > at_ms)


def history(slot_id: str, claims: Claims, clearance: Clearance | None = None) -> tuple[Memory, ...]:
    """The memories that the claims amount to, in the order in which they began to hold; ended and denied ones too.

    With a clearance, only what it covers is heard: what a principal may not see does not end what it may see either.
    """
    heard = claims.claims if clearance is None else visible(clearance, claims.claims)
    hearing = _Hearing.of(heard, claims.claims)
    stints: list[_Stint] = []
    for claim in heard:
        _hear(stints, claim)
    numbered = _numbered(stints)
    names = {id(stint): _memory_id(slot_id, stint) for stint in numbered}
    return tuple(
        _memory(claims, stint, names, hearing) for stint in sorted(numbered, key=lambda one: (one.from_ms, names[id(one)]))
    )


def readings(slot_id: str, claims: Claims) -> tuple[Memory, ...]:
    """The memories of every reader who hears another history than others do: of one, where all was said under one clearance."""
    told_apart = hearings(claim.clearance for claim in claims.claims)
    return tuple(memory for hearing in told_apart for memory in history(slot_id, claims, hearing))


@dataclass(frozen=True, slots=True)
class _Hearing:
    """What clearance it takes to hear some claims of a slot, the clearances of the others, and when the last of them came."""

    heard: Clearance
    unheard: tuple[Clearance, ...]
    known_ms: int

    @classmethod
    def of(cls, heard: Sequence[Claim], said: Sequence[Claim]) -> "_Hearing":
        joined = reduce(Clearance.joined, (claim.clearance for claim in heard), OPEN)
        unheard = dict.fromkeys(claim.clearance for claim in said if not joined.covers(claim.clearance))
        return cls(joined, tuple(unheard), max((claim.recorded_at_ms for claim in heard), default=0))


def _hear(stints: list[_Stint], claim: Claim) -> None:
    current = next((stint for stint in reversed(stints) if stint.goes_on(claim.said_at_ms)), None)
    match claim.stance:
        case Stance.AFFIRMS if claim.valid_to_ms is not None and claim.valid_to_ms <= claim.said_at_ms:
            _hear_of_the_past(stints, claim, claim.valid_to_ms)
        case Stance.AFFIRMS:
            _hear_of_the_present(stints, claim, current)
        case Stance.ENDS:
            if current and claim.value_id in ("", current.value_id):
                current.to_ms = max(current.from_ms, claim.valid_to_ms if claim.valid_to_ms is not None else claim.said_at_ms)
                current.ended_by = claim
        case Stance.DENIES:
            for stint in stints:
                if claim.value_id in ("", stint.value_id):
                    _deny(stints, stint)


def _hear_of_the_present(stints: list[_Stint], claim: Claim, current: _Stint | None) -> None:
    from_ms = claim.said_at_ms if claim.valid_from_ms is None else claim.valid_from_ms
    if current and current.value_id == claim.value_id:
        current.claims.append(claim)
        if claim.valid_from_ms is not None:
            _begin(stints, current, claim.valid_from_ms if claim.confirmed else min(current.from_ms, claim.valid_from_ms))
        if claim.valid_to_ms is not None:
            current.to_ms = max(current.from_ms, claim.valid_to_ms)
        return
    begun = _Stint(claim.value_id, [claim], from_ms, claim.valid_to_ms)
    for stint in stints:
        if stint is current or (stint.ended_by and _in_one_breath(stint.ended_by, claim)):
            stint.superseded_by = begun
        if stint.goes_on(from_ms) or stint is current:
            stint.to_ms = max(stint.from_ms, from_ms)
    stints.append(begun)


def _in_one_breath(one: Claim, other: Claim) -> bool:
    return (one.said_at_ms, one.recorded_at_ms) == (other.said_at_ms, other.recorded_at_ms)


def _deny(stints: list[_Stint], denied: _Stint) -> None:
    """Let a stint never have been: what it took the place of went on, until the next."""
    later = (stint for stint in stints[stints.index(denied) + 1 :] if not stint.denied)
    follower = denied.superseded_by or next(later, None)
    for before in _ended_by(stints, denied):
        before.superseded_by = follower
        before.to_ms = max(before.from_ms, follower.from_ms) if follower else None
    denied.denied, denied.to_ms = True, denied.from_ms


def _ended_by(stints: list[_Stint], stint: _Stint) -> list[_Stint]:
    """Those that ended because this one began, and for no other reason."""
    taken = (one for one in stints if one.superseded_by is stint and not one.denied and not one.ended_by)
    return [one for one in taken if one.to_ms == max(one.from_ms, stint.from_ms)]


def _begin(stints: list[_Stint], stint: _Stint, from_ms: int) -> None:
    """Let a stint begin at that time; what it took the place of ended then."""
    for before in _ended_by(stints, stint):
        before.to_ms = max(before.from_ms, from_ms)
    stint.from_ms = from_ms


def _hear_of_the_past(stints: list[_Stint], claim: Claim, to_ms: int) -> None:
    """Something that held until then. If it is known, this is when it ended; else it is new, and ended already."""
    same = [stint for stint in reversed(stints) if stint.value_id == claim.value_id and not stint.denied]
    known = next((stint for stint in same if _meets(stint, claim, to_ms)), same[0] if same else None)
    if known:
        known.claims.append(claim)
        told_ms = to_ms if claim.valid_from_ms is None else min(claim.valid_from_ms, to_ms)
        exact = claim.confirmed and claim.valid_from_ms is not None
        _begin(stints, known, told_ms if exact else min(known.from_ms, told_ms))
        known.to_ms = to_ms if known.to_ms is None or claim.confirmed else min(known.to_ms, to_ms)
        return
    from_ms = to_ms if claim.valid_from_ms is None else min(claim.valid_from_ms, to_ms)
    stints.append(_Stint(claim.value_id, [claim], from_ms, to_ms))


def _meets(stint: _Stint, claim: Claim, to_ms: int) -> bool:
    """Whether a stint and what a claim tells of the past have some time in common."""
    begun = claim.valid_from_ms is None or stint.to_ms is None or stint.to_ms >= claim.valid_from_ms
    return begun and stint.from_ms <= to_ms


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


def _memory(claims: Claims, stint: _Stint, names: dict[int, str], hearing: _Hearing) -> Memory:
    said = stint.claims
    telling = max(said, key=_tells_better)
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
        said=len(said) + (len(claims.repeats) if len(names) == 1 and not hearing.unheard else 0),
        last_said_ms=last.said_at_ms,
        last_recorded_ms=max(claim.recorded_at_ms for claim in said),
        confirmed=any(claim.confirmed for claim in said),
        denied=stint.denied,
        superseded_by=names.get(id(stint.superseded_by)) if stint.superseded_by else None,
        clearance=clearance,
        known_ms=hearing.known_ms,
        heard=hearing.heard,
        unheard=hearing.unheard,
    )


def _tells_better(claim: Claim) -> tuple[bool, int, float, int, str]:
    """Its place among claims of one value: the user's last own word first, then the surest, of these the first."""
    return claim.confirmed, claim.said_at_ms if claim.confirmed else 0, claim.confidence, -claim.said_at_ms, claim.claim_id


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

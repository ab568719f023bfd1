"""Claims: each thing that was said once, in the slot that it is about. They are kept; what holds is worked out of them.

A set of claims has no order: claims may arrive late, twice, or in another order, and the set is the same.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.values import MadeBy, MemoryType, Slot, Source, Statement
from keepsake.domain.text import folded, terms

# Beyond these of one clearance, a claim that only repeats what those before and after it say is kept as its id.
MAX_CLAIMS = 48
# Of all clearances together, and how many of these there are: a slot is one item of the store. The most open ones come first.
MAX_ALL_CLAIMS = 2 * MAX_CLAIMS
MAX_CLEARANCES = 12
# Beyond these, repeats are not told apart from new ones any more. Nobody says one thing ten thousand times.
MAX_REPEATS = 1024


class Stance(StrEnum):
    """What a claim says of its value: that it holds, that it holds no longer, or that it never did."""

    AFFIRMS = "affirms"
    ENDS = "ends"
    DENIES = "denies"


@dataclass(frozen=True, slots=True)
class Claim:
    """Something said once. `claim_id` is made of its source, so that the same words read twice are one claim.

    `subject` is as it was said. `value_id` names the value within ids of memories, in letters and digits; empty where an ending
    is meant of whatever held. `said_at_ms` is the world's time, `recorded_at_ms` ours. `valid_from_ms` and
    `valid_to_ms` only where it says since when and until when. `confirmed`: the user said it of the memory itself. `place` counts
    the claims of one turn: within it, too, the last word is the newer one.
    """

    claim_id: str
    subject: str
    value_id: str
    value: str
    text: str
    stance: Stance
    said_at_ms: int
    recorded_at_ms: int
    confidence: float
    importance: float
    made_by: MadeBy
    source: Source
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    confirmed: bool = False
    clearance: Clearance = OPEN
    place: int = 0
    type: MemoryType | None = None

    @property
    def order(self) -> tuple[int, int, int, str]:
        """Its place among the claims of a slot: by when it was said, when it reached us, its place in its turn, and its id."""
        return self.said_at_ms, self.recorded_at_ms, self.place, self.claim_id


@dataclass(frozen=True, slots=True)
class Claims:
    """All that was said of one slot, in order. `type` is that of the first claim that has any.

    `repeats` are the ids of claims that said nothing new. `forgotten` are ids of values that the user had removed, each with the
    clearance of who did: what that clearance covers is not learned again.
    """

    slot: Slot
    type: MemoryType
    claims: tuple[Claim, ...] = ()
    repeats: frozenset[str] = frozenset()
    forgotten: frozenset[tuple[str, Clearance]] = frozenset()

    def with_claims(self, added: Iterable[Claim]) -> "Claims":
        """With more claims; those that are there already, or are of a forgotten value, change nothing."""
        known = {claim.claim_id: claim for claim in self.claims}
        for claim in added:
            if claim.claim_id not in self.repeats and not self._is_barred(claim):
                known.setdefault(claim.claim_id, claim)
        return self._thinned(sorted(known.values(), key=lambda claim: claim.order))

    def without_value(self, value_id: str, clearance: Clearance) -> "Claims":
        """Without anything said of a value that the clearance covers, which is not learned again."""
        kept = tuple(claim for claim in self.claims if claim.value_id != value_id or not clearance.covers(claim.clearance))
        narrower = {one for one in self.forgotten if one[0] == value_id and clearance.covers(one[1])}
        return replace(self, claims=kept, forgotten=self.forgotten - narrower | {(value_id, clearance)})

    def allowing(self, value_id: str, clearance: Clearance) -> "Claims":
        """With a forgotten value welcome again under a clearance, since the user says it on purpose."""
        barring = {one for one in self.forgotten if one[0] == value_id and one[1].covers(clearance)}
        return replace(self, forgotten=self.forgotten - barring)

    def _is_barred(self, claim: Claim) -> bool:
        return any(value_id == claim.value_id and by.covers(claim.clearance) for value_id, by in self.forgotten)

    def _thinned(self, claims: Iterable[Claim]) -> "Claims":
        """Within the bounds. What takes more to be heard takes no room from what takes less."""
        by_clearance: defaultdict[Clearance, list[Claim]] = defaultdict(list)
        for claim in claims:
            by_clearance[claim.clearance].append(claim)
        repeats = set(self.repeats)
        kept: list[Claim] = []
        for clearance in sorted(by_clearance, key=lambda one: one.openness)[:MAX_CLEARANCES]:
            group = by_clearance[clearance]
            repeats |= _without_repeats(group)
            kept += _latest(group, min(MAX_CLAIMS, max(1, MAX_ALL_CLAIMS - len(kept))))
        kept.sort(key=lambda claim: claim.order)
        memory_type = next((claim.type for claim in kept if claim.type is not None), self.type)
        return replace(self, type=memory_type, claims=tuple(kept), repeats=frozenset(sorted(repeats)[:MAX_REPEATS]))


def _without_repeats(claims: list[Claim]) -> set[str]:
    """Take the first repeats out of claims of one clearance while there are too many; the ids of these."""
    repeats = set()
    position = 1
    while len(claims) > MAX_CLAIMS and position < len(claims) - 1:
        if _only_repeats(claims[position - 1], claims[position], claims[position + 1]):
            repeats.add(claims.pop(position).claim_id)
        else:
            position += 1
    return repeats


def _latest(claims: list[Claim], most: int) -> list[Claim]:
    """So many claims of one clearance: the last, those that are confirmed or say what is not so, of the others the latest."""
    *earlier, last = claims
    chosen = sorted(earlier, key=lambda claim: (claim.confirmed or claim.stance is not Stance.AFFIRMS, claim.order), reverse=True)
    return [last, *chosen[: most - 1]]


def _only_repeats(before: Claim, claim: Claim, after: Claim) -> bool:
    same = all((other.value_id, other.stance) == (claim.value_id, claim.stance) for other in (before, after))
    return same and claim.valid_from_ms is None and claim.valid_to_ms is None and not claim.confirmed


def value_key(value: str) -> str:
    """What two wordings of one value have in common: their terms, or the folded text where there are none."""
    return " ".join(terms(value)) or folded(value).strip()


def slot_of(attributes: Attributes, subject: str, attribute: str, value: str, memory_type: MemoryType) -> Slot:
    """The slot that a value of a subject's attribute belongs in. Names of subjects and attributes are folded."""
    policy = attributes.policy(attribute, memory_type)
    name = policy.name or value_key(attribute)
    return Slot(value_key(subject), name, "" if policy.single else value_key(value))


def slot_of_statement(attributes: Attributes, statement: Statement) -> Slot:
    """The slot that a statement says something of."""
    return slot_of(attributes, statement.subject, statement.attribute, statement.value, statement.type)

"""From statements to claims, and from claims to what changes in long-term memory."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from keepsake.domain.hashing import KeyedHash
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.memories.claims import Claim, Claims, Stance, slot_of, slot_of_statement, value_key
from keepsake.domain.memories.histories import readings
from keepsake.domain.memories.values import MadeBy, Memory, MemoryType, Replaced, Slot, Source, SourceType, Statement
from keepsake.domain.text import terms
from keepsake.domain.turns import Turn
from keepsake.repositories.keys import Keys
from keepsake.repositories.stored import Stored

MAX_VALUE_CHARACTERS = 300
MAX_TEXT_CHARACTERS = 600


@dataclass(frozen=True, slots=True)
class SlotClaims:
    """New claims of one slot."""

    slot_id: str
    slot: Slot
    type: MemoryType
    claims: tuple[Claim, ...]


@dataclass(frozen=True, slots=True)
class ChangedSlot:
    """A slot as it is after new claims, and as it was read."""

    slot_id: str
    claims: Claims
    replaced: Stored[Claims]

    @property
    def memories(self) -> tuple[Memory, ...]:
        """All that the slot amounts to now, for every reader."""
        return readings(self.slot_id, self.claims)


@dataclass(frozen=True, slots=True)
class Learning:
    """Turns statements into claims. Ids are made of the source, so that what is read twice is learned once."""

    attributes: Attributes
    keyed: KeyedHash

    def from_turns(
        self, user_id: str, session_id: str, turns: Iterable[Turn], statements: Sequence[Statement]
    ) -> tuple[SlotClaims, ...]:
        """The claims of statements about a session's turns, by slot."""
        by_id = {turn.turn_id: turn for turn in turns}
        collected: defaultdict[Slot, list[Claim]] = defaultdict(list)
        types: dict[Slot, MemoryType] = {}
        said: Counter[str] = Counter()
        for statement in statements:
            turn = by_id.get(statement.turn_id)
            if turn is not None and value_key(statement.value):
                for slot, claim in self._claims(session_id, turn, statement):
                    said[turn.turn_id] += 1
                    collected[slot].append(replace(claim, place=said[turn.turn_id]))
                    types.setdefault(slot, statement.type)
        keys = Keys(user_id, self.keyed)
        return tuple(SlotClaims(keys.slot_id(slot), slot, types[slot], tuple(claims)) for slot, claims in collected.items())

    def _claims(self, session_id: str, turn: Turn, statement: Statement) -> list[tuple[Slot, Claim]]:
        """What a statement claims, and after that what it says is no longer so: which then knows what took its place."""
        source = Source(SourceType.CONVERSATION, turn.occurred_at_ms, session_id, turn.turn_id)
        stance = Stance.ENDS if statement.denied else Stance.AFFIRMS
        slot = slot_of_statement(self.attributes, statement)
        claims = [(slot, self._claim(slot, statement, stance, (statement.subject, statement.value), turn, source))]
        for replaced in statement.replaces:
            gone = self._replaced_slot(statement, replaced)
            if gone is not None and _may_replace(statement, slot, replaced, gone, turn):
                ends = Stance.ENDS if statement.made_by is MadeBy.MODEL else Stance.DENIES
                ending = self._claim(gone, statement, ends, (replaced.subject, replaced.value or ""), turn, source)
                claims.append((gone, replace(ending, valid_to_ms=statement.valid_from_ms)))
        return claims

    def _replaced_slot(self, statement: Statement, replaced: Replaced) -> Slot | None:
        """The slot of what is no longer so; None where nothing is named of an attribute that holds many values."""
        slot = slot_of(self.attributes, replaced.subject, replaced.attribute, replaced.value or "", statement.type)
        named = bool(replaced.value and value_key(replaced.value))
        single = self.attributes.policy(replaced.attribute, statement.type).single
        return slot if named or single else None

    def _claim(
        self,
        slot: Slot,
        statement: Statement,
        stance: Stance,
        said: tuple[str, str],
        turn: Turn,
        source: Source,
    ) -> Claim:
        subject, value = said
        since_ms, until_ms = statement.valid_from_ms, statement.valid_to_ms
        begins = stance is Stance.AFFIRMS and since_ms is not None and (until_ms is None or since_ms <= until_ms)
        return Claim(
            claim_id=self.keyed.of(
                "claim", source.session_id or "", str(turn.timestamp_ms), slot.subject, slot.attribute, value_key(value), stance
            ),
            subject=subject,
            value_id=self.value_id(slot, value),
            value=value[:MAX_VALUE_CHARACTERS],
            text=statement.text[:MAX_TEXT_CHARACTERS],
            stance=stance,
            said_at_ms=turn.occurred_at_ms,
            recorded_at_ms=turn.timestamp_ms,
            confidence=statement.confidence,
            importance=statement.importance,
            made_by=statement.made_by,
            source=source,
            valid_from_ms=since_ms if begins else None,
            valid_to_ms=until_ms,
            clearance=turn.clearance,
            type=statement.type,
        )

    def value_id(self, slot: Slot, value: str) -> str:
        """How a value is named within the ids of its memories; empty for no value."""
        key = value_key(value)
        return self.keyed.short("value", slot.subject, slot.attribute, key) if key else ""


def _may_replace(statement: Statement, slot: Slot, replaced: Replaced, gone: Slot, turn: Turn) -> bool:
    """Whether a turn may say what is no longer so: a model, only of the same attribute, or of a value that the turn names."""
    if statement.made_by is not MadeBy.MODEL or gone.attribute == slot.attribute:
        return True
    named = terms(replaced.value or "")
    return bool(named) and set(named) <= set(terms(turn.text))


def merged(found: Iterable[SlotClaims], known: Mapping[str, Stored[Claims]]) -> tuple[ChangedSlot, ...]:
    """The slots that new claims change. What was claimed before changes nothing."""
    changed = []
    for one in found:
        replaced = known[one.slot_id]
        before = replaced.value or Claims(one.slot, one.type)
        after = before.with_claims(one.claims)
        if after != before:
            changed.append(ChangedSlot(one.slot_id, after, replaced))
    return tuple(changed)

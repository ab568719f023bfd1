"""Claims for tests: said on a day, of one slot."""

from dataclasses import replace

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.memories.claims import Claim, Claims, Stance
from keepsake.domain.memories.histories import history
from keepsake.domain.memories.values import MadeBy, Memory, MemoryType, Slot, Source, SourceType

DAY = 24 * 3600 * 1000
HOME = Slot("user", "home")
HIDDEN = Clearance(3, frozenset({"case"}))


def claim(value: str, day: int, stance: Stance = Stance.AFFIRMS, **more: object) -> Claim:
    """Somebody says it on a day; `since` and `until` are days. Its id is made of what it says and when."""
    since, until = (more.pop(name, None) for name in ("since", "until"))
    said = Claim(
        claim_id=f"{day}-{value}-{stance}",
        subject="user",
        value_id=value.lower(),
        value=value,
        text=f"home: {value}",
        stance=stance,
        said_at_ms=day * DAY,
        recorded_at_ms=day * DAY + 5,
        confidence=0.8,
        importance=0.7,
        made_by=MadeBy.RULES,
        source=Source(SourceType.CONVERSATION, day * DAY, "s1", f"t{day}"),
        valid_from_ms=since * DAY if isinstance(since, int) else None,
        valid_to_ms=until * DAY if isinstance(until, int) else None,
    )
    return replace(said, **more)  # type: ignore[arg-type]


def slot(*claims: Claim) -> Claims:
    return Claims(HOME, MemoryType.FACT).with_claims(claims)


def told(*claims: Claim, clearance: Clearance | None = None) -> list[tuple[str, int, int | None]]:
    """Each memory as its value, and the days from when until when it held."""
    return [span(memory) for memory in history("s", slot(*claims), clearance) if not memory.denied]


def span(memory: Memory) -> tuple[str, int, int | None]:
    return memory.value, memory.valid_from_ms // DAY, None if memory.valid_to_ms is None else memory.valid_to_ms // DAY


__all__ = ["DAY", "HIDDEN", "HOME", "OPEN", "claim", "slot", "span", "told"]

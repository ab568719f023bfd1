"""The digest: the few memories that matter most of a user, small enough to be read on every turn."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from keepsake.domain.clearance import Clearance, visible
from keepsake.domain.memories.values import Memory
from keepsake.domain.text import folded

MAX_ENTRIES = 40
MAX_BYTES = 12 * 1024
MAX_NAMES = 200
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Digest:
    """The memories that matter most, best first, each with its last source only.

    `names` are those that memory knows, folded, newest last. `checked_at_ms` is when the user's documents were last compared with
    what should be there.
    """

    entries: tuple[Memory, ...] = ()
    names: tuple[str, ...] = ()
    checked_at_ms: int = 0

    def updated(self, changed: Iterable[Memory], gone: Iterable[str] = ()) -> "Digest":
        """With these memories as they are now; those that hold no longer, and those whose ids are in `gone`, leave it."""
        known = {memory.memory_id: memory for memory in self.entries}
        names = list(self.names)
        for memory_id in gone:
            if left := known.pop(memory_id, None):
                names = [name for name in names if name not in names_of(left)]
        for memory in changed:
            if memory.valid_to_ms is None:
                known[memory.memory_id] = replace(memory, sources=memory.sources[-1:])
                names.extend(name for name in names_of(memory) if name not in names)
            else:
                known.pop(memory.memory_id, None)
        entries = sorted(known.values(), key=lambda memory: (-weight(memory), memory.memory_id))
        return replace(self, entries=_bounded(entries), names=tuple(names[-MAX_NAMES:]))

    def knowing(self, names: Iterable[str]) -> "Digest":
        """With more names that memory knows: of people, places, cases. The longest known leave first."""
        fresh = [folded(name).strip() for name in names if 1 < len(name.strip()) <= _LONGEST_NAME]
        known = dict.fromkeys((*self.names, *fresh))
        return replace(self, names=tuple(known)[-MAX_NAMES:])

    def visible(self, clearance: Clearance) -> "Digest":
        """What the clearance covers. Names tell that something is known, so only an open memory's may be seen by all."""
        return replace(self, entries=visible(clearance, self.entries))


def weight(memory: Memory) -> float:
    """How much a memory matters for what comes next: important, sure, and said more than once."""
    return memory.importance * memory.confidence * (1 + min(memory.said, 5) / 10)


def names_of(memory: Memory) -> tuple[str, ...]:
    """The names that a memory knows: whom it is about, and who or what it names. Only of memories that all may see."""
    if not memory.clearance.is_open:
        return ()
    named = [memory.subject] if memory.subject != "user" else []
    named += [memory.value] if memory.type in _NAMING else []
    return tuple(dict.fromkeys(folded(name).strip() for name in named if 1 < len(name.strip()) <= _LONGEST_NAME))


_NAMING = frozenset({"relationship"})


def _bounded(entries: list[Memory]) -> tuple[Memory, ...]:
    kept: list[Memory] = []
    size = 0
    for memory in entries:
        size += 200 + len(memory.text.encode()) + len(memory.value.encode())
        if len(kept) == MAX_ENTRIES or size > MAX_BYTES:
            break
        kept.append(memory)
    return tuple(kept)

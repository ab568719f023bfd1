"""The digest: the few memories that matter most of a user, small enough to be read on every turn."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from keepsake.domain.clearance import Clearance
from keepsake.domain.memories.histories import value_of
from keepsake.domain.memories.values import Memory
from keepsake.domain.text import folded

# Of what is heard under one clearance, and how many of these there are, the open one among them.
MAX_ENTRIES = 40
MAX_BYTES = 12 * 1024
_MOST_HEARINGS = 4
MAX_NAMES = 200
_LONGEST_NAME = 64


@dataclass(frozen=True, slots=True)
class Digest:
    """The memories that matter most, best first, each with its last source only.

    `names` are those that memory knows, folded, with when they were last said. `checked_at_ms` is when the user's documents were
    last compared with what should be there.
    """

    entries: tuple[Memory, ...] = ()
    names: Mapping[str, int] = field(default_factory=dict)
    checked_at_ms: int = 0

    def with_slots(self, slots: Mapping[str, Sequence[Memory]]) -> "Digest":
        """With what holds of these slots now, in place of all that it had of them; names of what is there no more leave it."""
        kept = [memory for memory in self.entries if value_of(memory.memory_id)[0] not in slots]
        there = {memory.memory_id for memories in slots.values() for memory in memories}
        gone = {
            name for memory in self.entries if memory not in kept and memory.memory_id not in there for name in names_of(memory)
        }
        # Also what holds no longer lends its names: whoever learns of its beginning and its end at once knows them, too.
        naming = [*kept, *(memory for memories in slots.values() for memory in memories)]
        for memories in slots.values():
            kept += [replace(memory, sources=memory.sources[-1:]) for memory in _standing(memories)]
        digest = replace(self, entries=_bounded(kept), names={name: at for name, at in self.names.items() if name not in gone})
        return digest.knowing((name, memory.last_said_ms) for memory in naming for name in names_of(memory))

    def knowing(self, names: Iterable[tuple[str, int]]) -> "Digest":
        """With more names that memory knows, of people, places, cases, and when each was said. The longest unsaid leave first."""
        known = dict(self.names)
        for name, at_ms in names:
            if 1 < len(name.strip()) <= _LONGEST_NAME:
                key = folded(name).strip()
                known[key] = max(at_ms, known.get(key, at_ms))
        latest = sorted(known.items(), key=lambda one: (one[1], one[0]))[-MAX_NAMES:]
        return replace(self, names=dict(latest))

    def visible(self, clearance: Clearance) -> "Digest":
        """What a reader of the clearance hears. Names tell that something is known: they are of open memories only."""
        return replace(self, entries=tuple(memory for memory in self.entries if memory.is_for(clearance)))

    def holding(self, at_ms: int) -> "Digest":
        """What holds at that time: the end of something may lie ahead, and its beginning, too."""
        return replace(self, entries=tuple(memory for memory in self.entries if memory.holds_at(at_ms)))


def _standing(memories: Sequence[Memory]) -> list[Memory]:
    """Those of a slot that were not over yet when the last of it was heard."""
    standing = (memory for memory in memories if memory.valid_to_ms is None or memory.valid_to_ms > memory.known_ms)
    return [memory for memory in standing if not memory.denied]


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
    """Those that matter most, best first. What one reader may not see takes no room from what the reader may."""
    by_hearing: defaultdict[Clearance, list[Memory]] = defaultdict(list)
    for memory in sorted(entries, key=_place):
        by_hearing[memory.heard].append(memory)
    groups = sorted(by_hearing.values(), key=lambda group: (not group[0].heard.is_open, _place(group[0])))
    return tuple(sorted((memory for group in groups[:_MOST_HEARINGS] for memory in _first(group)), key=_place))


def _place(memory: Memory) -> tuple[float, str]:
    return -weight(memory), memory.memory_id


def _first(group: list[Memory]) -> list[Memory]:
    kept: list[Memory] = []
    size = 0
    for memory in group:
        size += 200 + len(memory.text.encode()) + len(memory.value.encode())
        if len(kept) == MAX_ENTRIES or size > MAX_BYTES:
            break
        kept.append(memory)
    return kept

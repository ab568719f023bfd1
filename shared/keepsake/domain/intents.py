"""The intent stack: what a session is about right now. At most three topics, each until it was not mentioned for ten turns.

Immutable. A topic keeps one entry for each clearance under which it was mentioned, so that nobody learns from the stack what
was said, or said again, above the own clearance.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from keepsake.domain.clearance import OPEN, Clearance, visible
from keepsake.domain.errors import CorruptItemError
from keepsake.domain.topics import TopicLexicon

_MAX_ENTRIES = 24


@dataclass(frozen=True, slots=True)
class Intent:
    """A topic, the turn that mentioned it last, and the clearance of that mention."""

    topic: str
    turn: int
    clearance: Clearance = OPEN


@dataclass(frozen=True, slots=True)
class IntentStack:
    """Active topics, the least recently mentioned first. Turns are numbered from 1 within the session, by the caller."""

    intents: tuple[Intent, ...] = ()
    max_depth: int = 3
    expiry_turns: int = 10

    def push(self, topic: str, *, turn: int, clearance: Clearance = OPEN) -> "IntentStack":
        """The stack with `topic` on top; beyond the depth the topic at the bottom leaves.

        An older entry of the topic goes when all who may see it may see the new one as well.
        """
        kept = [i for i in self.intents if i.topic != topic or not i.clearance.covers(clearance)]
        return replace(self, intents=self._bounded([*kept, Intent(topic, turn, clearance)]))

    def expired(self, turn: int) -> "IntentStack":
        """The stack after `turn`, without the topics that the last `expiry_turns` turns, this one included, did not mention."""
        return replace(self, intents=tuple(i for i in self.intents if turn - i.turn < self.expiry_turns))

    def cleared_for(self, clearance: Clearance) -> "IntentStack":
        """The stack after a change of topic under `clearance`: without what is seen only by those who heard of the change."""
        return replace(self, intents=tuple(i for i in self.intents if not i.clearance.covers(clearance)))

    def advance(self, text: str, turn: int, lexicon: TopicLexicon, clearance: Clearance = OPEN) -> "IntentStack":
        """The stack after a turn that says `text` under `clearance`.

        An explicit change of topic clears first. A follow-up mentions again what the last turn with a topic mentioned, never
        more openly than that did.
        """
        reading = lexicon.read(text)
        stack = self.cleared_for(clearance) if reading.explicit_change else self.expired(turn - 1)
        mentions = [(topic, clearance) for topic in reading.topics]
        if reading.is_follow_up:
            mentions = [(i.topic, i.clearance.joined(clearance)) for i in _last_mentioned(stack.intents)]
        for topic, seen_by in mentions:
            stack = stack.push(topic, turn=turn, clearance=seen_by)
        return stack.expired(turn)

    @property
    def topics(self) -> tuple[str, ...]:
        """All topics, whoever may see them, each once, the least recently mentioned first."""
        return _latest_last(self.intents)

    def visible_topics(self, clearance: Clearance) -> tuple[str, ...]:
        """The topics that a principal of `clearance` may see, the least recently mentioned first."""
        return _latest_last(visible(clearance, self.intents))[-self.max_depth :]

    def context_line(self, clearance: Clearance = OPEN) -> str:
        """What stands in the context window; empty when there is no topic to see."""
        topics = self.visible_topics(clearance)
        return f"Active conversation topics: {', '.join(topics)}" if topics else ""

    def to_record(self) -> list[dict[str, object]]:
        """The intents as plain lists and values, for JSON."""
        return [
            {"topic": i.topic, "turn": i.turn, "level": i.clearance.level, "compartments": sorted(i.clearance.compartments)}
            for i in self.intents
        ]

    @classmethod
    def from_record(cls, record: object) -> "IntentStack":
        """The stack that `to_record` wrote. Raises CorruptItemError for anything else."""
        if not isinstance(record, Sequence) or isinstance(record, str | bytes):
            raise CorruptItemError("the intents are no list")
        return cls(tuple(_intent(entry) for entry in record))

    def _bounded(self, intents: list[Intent]) -> tuple[Intent, ...]:
        """Those that are among the deepest for somebody: nobody's topics may be pushed out by what others alone can see."""
        stack = tuple(intents[-_MAX_ENTRIES:])
        views = {
            clearance: _latest_last(visible(clearance, stack))[-self.max_depth :]
            for clearance in {intent.clearance for intent in stack}
        }
        return tuple(intent for intent in stack if intent.topic in views[intent.clearance])


def _last_mentioned(intents: tuple[Intent, ...]) -> tuple[Intent, ...]:
    last = max((i.turn for i in intents), default=0)
    return tuple(i for i in intents if i.turn == last)


def _latest_last(intents: tuple[Intent, ...]) -> tuple[str, ...]:
    return tuple(reversed(dict.fromkeys(i.topic for i in reversed(intents))))


def _intent(entry: object) -> Intent:
    match entry:
        case {"topic": str(topic), "turn": int(turn), "level": int(level), "compartments": list(names)} if topic and level >= 0:
            return Intent(topic, turn, Clearance(level, _compartments(names)))
        case _:
            raise CorruptItemError("an intent lacks a part or has a wrong one")


def _compartments(names: Sequence[object]) -> frozenset[str]:
    found = frozenset(name for name in names if isinstance(name, str))
    if len(found) != len(names):
        raise CorruptItemError("an intent's compartments are no set of names")
    return found

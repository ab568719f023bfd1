"""Words of long-term memory: its types, where a memory comes from, what a text states, and what is remembered."""

from dataclasses import dataclass
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance

USER = "user"  # the subject that stands for the owner of the memory


class MemoryType(StrEnum):
    """What a memory is about."""

    FACT = "fact"
    PREFERENCE = "preference"
    RELATIONSHIP = "relationship"
    EVENT = "event"
    THEME = "theme"


class MadeBy(StrEnum):
    """Which way made it."""

    RULES = "rules"
    MODEL = "model"
    USER = "user"


class SourceType(StrEnum):
    """What kind of thing a memory was learned from."""

    CONVERSATION = "conversation"
    STORY = "story"
    RECORDING = "recording"
    EXPLICIT = "explicit"
    IMPORT = "import"
    DOCUMENT = "document"


@dataclass(frozen=True, slots=True)
class Source:
    """Where something was said, and when (`at_ms`, the world's time)."""

    type: SourceType
    at_ms: int
    session_id: str | None = None
    turn_id: str | None = None
    document_id: str | None = None


@dataclass(frozen=True, slots=True)
class Slot:
    """What one thing can be true of at a time: a subject's attribute; of an attribute that holds many values, one of them.

    `subject` is USER or a name as it was said; `value_key` is empty for an attribute that holds one value.
    """

    subject: str
    attribute: str
    value_key: str = ""


@dataclass(frozen=True, slots=True)
class Replaced:
    """What a statement says is no longer so, or never was: a value of a subject's attribute. `value` None: whatever it was."""

    subject: str
    attribute: str
    value: str | None


@dataclass(frozen=True, slots=True)
class Statement:
    """What one turn states, as an extractor found it.

    `subject` is USER or a name; `attribute` a word of the data file, or the extractor's own; `value` the shortest wording, in the
    language of the turn; `text` a sentence that can stand alone. `denied`: that it is not so, or no longer. `valid_from_ms` and
    `valid_to_ms` only where the text says since when and until when; `replaces` only where it corrects something else.
    `confidence` and `importance` lie between 0 and 1.
    """

    turn_id: str
    type: MemoryType
    subject: str
    attribute: str
    value: str
    text: str
    confidence: float
    importance: float
    made_by: MadeBy
    denied: bool = False
    valid_from_ms: int | None = None
    valid_to_ms: int | None = None
    replaces: tuple[Replaced, ...] = ()


@dataclass(frozen=True, slots=True)
class Memory:
    """One lasting item about a user. Values only: a change of what is known makes another memory.

    `valid_from_ms` and `valid_to_ms` (None: until now) are the world's time; `recorded_at_ms` and `last_recorded_ms` are ours,
    when it first and last reached us. `said` counts how often it was said, `last_said_ms` is when last. `superseded_by` is the id
    of the memory that took its place. `confirmed`: by the user. `denied`: it never was so.

    A memory is what one reader hears of its slot: `heard` is the clearance that it takes to hear just that, `unheard` are those
    of what was said of the slot besides. Whoever may hear that too hears another history.
    `known_ms` is when the last of it reached us.
    """

    memory_id: str
    type: MemoryType
    subject: str
    attribute: str
    value: str
    text: str
    confidence: float
    importance: float
    valid_from_ms: int
    valid_to_ms: int | None
    recorded_at_ms: int
    made_by: MadeBy
    sources: tuple[Source, ...]
    said: int
    last_said_ms: int
    last_recorded_ms: int
    confirmed: bool = False
    denied: bool = False
    superseded_by: str | None = None
    clearance: Clearance = OPEN
    known_ms: int = 0
    heard: Clearance = OPEN
    unheard: tuple[Clearance, ...] = ()

    def is_for(self, reader: Clearance) -> bool:
        """Whether this is what a reader hears: nothing above the reader's clearance, and all that is not."""
        return reader.covers(self.clearance.joined(self.heard)) and not any(map(reader.covers, self.unheard))

    @property
    def told(self) -> str:
        """The memory as a sentence, or, where rules made it of a sentence that may say more, as what it is of whom."""
        if self.made_by is not MadeBy.RULES:
            return self.text
        about = "" if self.subject == USER else f"{self.subject}, "
        return f"{about}{self.attribute.replace('_', ' ')}: {self.value}"

    def holds_at(self, at_ms: int) -> bool:
        """Whether it was valid at that time of the world."""
        return self.valid_from_ms <= at_ms and (self.valid_to_ms is None or at_ms < self.valid_to_ms)

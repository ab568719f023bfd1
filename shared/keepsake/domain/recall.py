"""What recall answers: hits, each with where it comes from, how sure it is, and what to ask before it is used."""

from collections.abc import Mapping
from dataclasses import dataclass

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.memories.attributes import AttributePolicy
from keepsake.domain.memories.values import Memory, Source
from keepsake.domain.search import DocumentKind

# Below this a memory is not stated without asking.
SURE = 0.6


@dataclass(frozen=True, slots=True)
class RecallHit:
    """Something of the past that answers a query. `score` is the sum of `parts`. `speaker` is who said it, where somebody did.

    `question` asks for confirmation, and is there exactly when that is needed. `institutional`: it belongs to everybody here.
    """

    kind: DocumentKind
    id: str
    text: str
    score: float
    parts: Mapping[str, float]
    occurred_at_ms: int
    source: Source
    confidence: float
    question: str | None = None
    speaker: str | None = None
    title: str | None = None
    institutional: bool = False
    valid_to_ms: int | None = None
    clearance: Clearance = OPEN

    @property
    def needs_confirmation(self) -> bool:
        """Whether it is to be confirmed before it is used."""
        return self.question is not None


def confirmation_question(memory: Memory, policy: AttributePolicy, now_ms: int) -> str | None:
    """The question to ask before a memory is used: when it is not sure enough, or was last said too long ago. Else None."""
    stale = now_ms - memory.last_said_ms > policy.fresh_ms
    if memory.confidence >= SURE and not stale:
        return None
    about = "" if memory.subject == "user" else memory.subject
    question = policy.question
    return question.replace("{subject}", about).replace("{text}", memory.text).replace("{value}", memory.value)

"""What assembly takes and what it gives. Whatever is in a request is visible to the principal: nothing is hidden from here on.

Counts of a request are by our own vocabulary, and were made when the text was written; sizes of a window are the model's tokens.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum

from keepsake.domain.clearance import OPEN, Clearance
from keepsake.domain.model_profiles import ModelProfile
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.summary import SessionSummary, TurnReader
from keepsake.domain.tiers import Tier
from keepsake.domain.turns import Turn


class Reason(StrEnum):
    """Why something stands in a context window, or does not. The words are stable."""

    SAFETY_CRITICAL = "safety_critical"
    TOPICS = "topics"
    SCRATCH_PAD = "scratch_pad"
    SUMMARY = "summary"
    RECENT_TURN = "recent_turn"
    PROFILE = "profile"
    WELCOME = "welcome"
    RANKED = "ranked"

    OVER_BUDGET = "over_budget"
    LISTED = "listed"  # an artifact that is too large, of which the window says that it exists
    DUPLICATE = "duplicate"


def item_block(text: str, title: str | None = None, *, safety_critical: bool = False) -> str:
    """A context item as it stands in a context window: one block that ends with a newline, the text in it whole."""
    mark = "[safety-critical] " if safety_critical else ""
    heading = f"[{title}] " if title else ""
    return f"- {mark}{heading}{text}\n"


@dataclass(frozen=True, slots=True)
class ContextItem:
    """A piece of text that asks for a place in a tier. `tokens` counts its block; a higher `score` is more relevant."""

    ref: str
    tier: Tier
    text: str
    tokens: int = 0
    title: str | None = None
    score: float = 0.0
    safety_critical: bool = False
    clearance: Clearance = OPEN

    @property
    def block(self) -> str:
        """The item as it stands in a context window."""
        return item_block(self.text, self.title, safety_critical=self.safety_critical)

    def counted(self, count: Callable[[str], int]) -> "ContextItem":
        """The item with the count of its block, where none was stored."""
        return replace(self, tokens=count(self.block))


@dataclass(frozen=True, slots=True)
class AssemblyRequest:
    """All that may go into a context window.

    `budget` (the model's window when absent), `system_prompt_tokens` and `reply_tokens` are the model's tokens; `message_tokens`
    is our count of the posted turn, which the host sends by itself. `turns` are those before it, oldest first; what finds no room
    of them and is not in `summary` yet, `reader` reads.
    """

    model_profile: ModelProfile
    budget: int | None = None
    system_prompt_tokens: int = 0
    reply_tokens: int = 0
    message_tokens: int = 0
    topics: str = ""
    artifacts: tuple[Artifact, ...] = ()
    turns: tuple[Turn, ...] = ()
    summary: SessionSummary = field(default_factory=SessionSummary)
    reader: TurnReader | None = None
    profile_lines: tuple[str, ...] = ()
    welcome: str | None = None
    items: tuple[ContextItem, ...] = ()

    @property
    def whole_budget(self) -> int:
        """The caller's budget, or the model's window."""
        return self.model_profile.window if self.budget is None else self.budget

    @property
    def available(self) -> int:
        """What is left of it for the window, once system prompt, reply and message are taken off; never below 0."""
        taken = self.system_prompt_tokens + self.reply_tokens + self.model_profile.scaled(self.message_tokens)
        return max(0, self.whole_budget - taken)


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the trace. `duplicate_of` is the ref of what says the same."""

    ref: str
    tier: Tier
    tokens: int
    reason: Reason
    duplicate_of: str | None = None


@dataclass(frozen=True, slots=True)
class TierUse:
    """A tier's share of what was available, and what it came to: less, or more where others left something."""

    tier: Tier
    budget: int
    tokens: int


@dataclass(frozen=True, slots=True)
class ContextWindow:
    """The text that goes in front of a model, and the trace of how it came to be. Every candidate is in it exactly once.

    `budget` is the whole one, `available` what of it was left for `text`; `tokens` is never more. The tiers' tokens add up to it.
    """

    text: str
    tokens: int
    budget: int
    available: int
    model_profile: str
    tiers: tuple[TierUse, ...]
    included: tuple[Entry, ...]
    excluded: tuple[Entry, ...]

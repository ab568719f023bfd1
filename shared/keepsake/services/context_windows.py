"""From a session and a caller's wishes to a context window: only what the principal may see goes in."""

from dataclasses import dataclass, field, replace

from keepsake.domain.clearance import Clearance, visible
from keepsake.domain.context import AssemblyRequest, ContextItem, ContextWindow, Tier, assemble
from keepsake.domain.digest import Digest
from keepsake.domain.memories.attributes import Attributes
from keepsake.domain.model_profiles import ModelProfiles
from keepsake.domain.principal import Principal
from keepsake.domain.profile import Profile, profile_lines, welcome_back
from keepsake.domain.recall import RecallHit
from keepsake.domain.remembered import remembered_items
from keepsake.domain.session import SessionBuffer
from keepsake.domain.summary import TurnReader
from keepsake.domain.turns import visible_exchanges
from keepsake.ports.surroundings import Clock
from keepsake.ports.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class HostItem:
    """Something that the caller wants in the context, in the order given."""

    tier: Tier
    text: str
    title: str | None = None
    score: float = 0.0
    safety_critical: bool = False


@dataclass(frozen=True, slots=True)
class WindowWish:
    """For which model the context is, how much room there is, and what else shall go in. Tokens are the model's."""

    model_profile: str = "default"
    budget: int | None = None
    system_prompt_tokens: int = 0
    reply_tokens: int = 0
    items: tuple[HostItem, ...] = ()


@dataclass(frozen=True, slots=True)
class Remembered:
    """What is known of the user anyway, and what recall found for this turn."""

    digest: Digest = field(default_factory=Digest)
    hits: tuple[RecallHit, ...] = ()


@dataclass(frozen=True, slots=True)
class ContextWindows:
    """Assembles contexts."""

    model_profiles: ModelProfiles
    tokens: TokenCounter
    reader: TurnReader
    attributes: Attributes
    clock: Clock

    def assemble(  # noqa: PLR0913 - all that a window is made of
        self,
        principal: Principal,
        wish: WindowWish,
        *,
        buffer: SessionBuffer,
        profile: Profile | None,
        remembered: Remembered,
        message_tokens: int,
        welcome: bool,
    ) -> ContextWindow:
        """The window over a buffer and a profile. Raises UnknownModelProfileError and SafetyMinimumTooLargeError."""
        cleared = principal.clearance
        known = profile or Profile()
        request = AssemblyRequest(
            model_profile=self.model_profiles.get(wish.model_profile),
            budget=wish.budget,
            system_prompt_tokens=wish.system_prompt_tokens,
            reply_tokens=wish.reply_tokens,
            message_tokens=message_tokens,
            topics=buffer.intents.context_line(cleared),
            artifacts=visible(cleared, buffer.scratch_pad.artifacts),
            turns=visible_exchanges(cleared, buffer.turns),
            summary=buffer.summary.visible(cleared),
            reader=self.reader,
            profile_lines=profile_lines(known, self.clock.now_ms()),
            welcome=welcome_back(known) if welcome else None,
            items=(
                *(self._item(number, item) for number, item in enumerate(wish.items)),
                *self._remembered(cleared, remembered),
            ),
        )
        return assemble(request, self.tokens.count)

    def _remembered(self, clearance: Clearance, remembered: Remembered) -> tuple[ContextItem, ...]:
        now_ms = self.clock.now_ms()
        known = remembered.digest.visible(clearance).holding(now_ms)
        kept = tuple(memory for memory in known.entries if self.attributes.of(memory).keeps(memory, now_ms))
        items = remembered_items(replace(known, entries=kept), visible(clearance, remembered.hits))
        return tuple(item.counted(self.tokens.count) for item in items)

    def _item(self, number: int, item: HostItem) -> ContextItem:
        counted = ContextItem(
            ref=f"item:{number}",
            tier=item.tier,
            text=item.text,
            title=item.title,
            score=item.score,
            safety_critical=item.safety_critical,
        )
        return counted.counted(self.tokens.count)

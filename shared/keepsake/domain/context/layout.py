"""Prints the sections of a context window, and adds up exactly what the text costs."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from keepsake.domain.context.blocks import Measure
from keepsake.domain.context.sections import Section
from keepsake.domain.context.values import Entry
from keepsake.domain.model_profiles import ModelProfile
from keepsake.domain.tiers import HEADINGS, PRINTED, Tier


@dataclass(slots=True)
class Page:
    """A text that grows block by block. What each is said to cost is what the total, in the model's tokens, grows by."""

    profile: ModelProfile
    counted: int = 0
    pieces: list[str] = field(default_factory=list)
    tiers: dict[Tier, int] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self.pieces)

    @property
    def tokens(self) -> int:
        """What the text costs the model."""
        return self.profile.scaled(self.counted)

    def add(self, text: str, counted: int) -> int:
        """Adds a piece of text; gives what it costs the model."""
        before = self.tokens
        self.pieces.append(text)
        self.counted += counted
        return self.tokens - before


def printed(sections: Iterable[Section], profile: ModelProfile, measure: Measure) -> Page:
    """The page with those sections that hold something, an empty line between them."""
    page = Page(profile)
    by_tier = {section.tier: section for section in sections if section.placed}
    last = ""
    for tier in (tier for tier in PRINTED if tier in by_tier):
        before = page.tokens
        if last:
            page.add("\n", measure.newline(last))
        page.add(HEADINGS[tier], measure.tokens(HEADINGS[tier]))
        for block in by_tier[tier].in_print():
            tokens = page.add(block.text, block.tokens)
            if block.ref is not None:
                page.entries.append(Entry(block.ref, tier, tokens, block.reason))
        last = page.pieces[-1]
        page.tiers[tier] = page.tokens - before
    return page

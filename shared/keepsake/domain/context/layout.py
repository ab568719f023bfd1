"""Prints the sections of a context window, and adds up exactly what the text costs."""

from collections.abc import Iterable

from keepsake.domain.context.blocks import Measure
from keepsake.domain.context.sections import Section
from keepsake.domain.context.values import Entry
from keepsake.domain.model_profiles import ModelProfile
from keepsake.domain.tiers import HEADINGS, PRINTED, Tier


class Page:
    """A text that grows piece by piece. What each is said to cost is what the whole, in the model's tokens, grows by."""

    def __init__(self, profile: ModelProfile) -> None:
        self._scaled = profile.scaled
        self._counted = 0
        self._pieces: list[str] = []
        self.tokens = 0
        self.tiers: dict[Tier, int] = {}
        self.entries: list[Entry] = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._pieces)

    def add(self, text: str, counted: int) -> int:
        """Adds a piece of text; gives what it costs the model."""
        before = self.tokens
        self._pieces.append(text)
        self._counted += counted
        self.tokens = self._scaled(self._counted)
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
            last = block.text
        page.tiers[tier] = page.tokens - before
    return page

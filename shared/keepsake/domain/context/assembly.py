"""Assembles a context window. Pure: the same request gives the same text, and its price is an exact sum of stored counts.

Each tier is filled within its share, highest priority first; what one leaves unused goes to the next, and what is left at the end
goes once more to those that left something out, again from the top.
"""

from collections import defaultdict

from keepsake.domain.context.blocks import Count, Measure, joined
from keepsake.domain.context.budget import granted, shared_out
from keepsake.domain.context.conversation import fill_conversation
from keepsake.domain.context.duplicates import NearDuplicates
from keepsake.domain.context.items import fill_items, put_safety_critical, ranked
from keepsake.domain.context.layout import Page, printed
from keepsake.domain.context.sections import LeftOut, Section
from keepsake.domain.context.values import AssemblyRequest, ContextItem, ContextWindow, Entry, Reason, TierUse
from keepsake.domain.errors import SafetyMinimumTooLargeError
from keepsake.domain.tiers import PRIORITY, Tier


def assemble(request: AssemblyRequest, count: Count) -> ContextWindow:
    """The context window of a request, and its trace. `count` is the counter that made the request's counts.

    Raises SafetyMinimumTooLargeError when the safety-critical items alone do not fit.
    """
    assembly = _Assembly(request, Measure(count))
    assembly.place_safety_critical()
    assembly.fill()
    return assembly.window()


class _Assembly:
    def __init__(self, request: AssemblyRequest, measure: Measure) -> None:
        self._request = request
        self._measure = measure
        self._profile = request.model_profile
        self._sections = {tier: Section(tier, measure) for tier in PRIORITY}
        self._seen = NearDuplicates()
        self._waiting: dict[Tier, list[ContextItem]] = {}
        self._grants: dict[Tier, int] = {}

    def place_safety_critical(self) -> None:
        """Places what is never left out, shares out the rest, and lines up the other items."""
        by_tier: defaultdict[Tier, list[ContextItem]] = defaultdict(list)
        for item in self._request.items:
            by_tier[item.tier].append(item)
        for tier, section in self._sections.items():
            put_safety_critical(section, (item for item in by_tier[tier] if item.safety_critical), self._seen)
            self._waiting[tier] = ranked(item for item in by_tier[tier] if not item.safety_critical)
        needed = self._printed().tokens
        if needed > self._request.available:
            raise SafetyMinimumTooLargeError(
                f"the safety-critical items need {needed} tokens, and the budget leaves {self._request.available}"
            )
        self._share_out()

    def _share_out(self) -> None:
        shares = shared_out(self._profile.affordable(self._request.available), self._profile.tiers)
        needs = {tier: section.spent for tier, section in self._sections.items()}
        self._grants = granted(shares, needs, self._profile.minimum_share)

    def fill(self) -> None:
        """Fills the tiers in two rounds."""
        left = 0
        for tier, section in self._sections.items():
            section.limit = self._grants[tier] + left
            self._fill(section)
            left = section.limit - section.spent
        for section in self._sections.values():
            if section.wants_more or self._waiting[section.tier]:
                section.limit = section.spent + left
                self._fill(section)
                left = section.limit - section.spent

    def _fill(self, section: Section) -> None:
        if section.tier is Tier.WORKING:
            fill_conversation(section, self._request, self._grants[Tier.WORKING])
        if section.tier is Tier.EPISODIC:
            _fill_profile(section, self._request)
        self._waiting[section.tier] = fill_items(section, self._waiting[section.tier], self._seen)

    def _printed(self) -> Page:
        return printed(self._sections.values(), self._profile, self._measure)

    def window(self) -> ContextWindow:
        """The window as it stands, and the trace."""
        page, available = self._printed(), self._request.available
        shares = shared_out(available, self._profile.tiers)
        return ContextWindow(
            text=page.text,
            tokens=page.tokens,
            budget=self._request.whole_budget,
            available=available,
            model_profile=self._profile.name,
            tiers=tuple(TierUse(tier, shares[tier], page.tiers.get(tier, 0)) for tier in PRIORITY),
            included=tuple(page.entries),
            excluded=tuple(self._excluded(tier, one) for tier in PRIORITY for one in self._left_out(tier)),
        )

    def _left_out(self, tier: Tier) -> list[LeftOut]:
        return [*self._sections[tier].left_out, *(LeftOut(item.ref, item.tokens) for item in self._waiting[tier])]

    def _excluded(self, tier: Tier, one: LeftOut) -> Entry:
        return Entry(one.ref, tier, self._profile.scaled(one.tokens), one.reason, one.duplicate_of)


def _fill_profile(section: Section, request: AssemblyRequest) -> None:
    """Fills the user history's own part anew: the welcome, which is short, and as many lines of the profile as fit."""
    section.clear()
    measure = section.measure
    if request.welcome and request.welcome.strip():
        section.offer_line(1, measure.line(request.welcome, Reason.WELCOME, "welcome"))
    lines = [measure.line(line, Reason.PROFILE, "profile") for line in request.profile_lines if line.strip()]
    if lines:
        kept = section.fitting(lines, section.room)
        section.offer_line(0, joined(*(kept or lines)))

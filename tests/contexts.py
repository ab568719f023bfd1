"""Makes what a context window is assembled from, counted as it would be at write."""

from functools import partial
from typing import Any

from keepsake.adapters.data_files import load_model_profiles, load_summary_wordings, load_topics
from keepsake.adapters.tokens import VendoredTokens
from keepsake.domain.context import AssemblyRequest, ContextItem, ContextWindow, Entry, Tier, assemble
from keepsake.domain.scratch_pad import Artifact
from keepsake.domain.summary import Summarizer, SummaryLine, block_of
from keepsake.domain.turns import Role, Turn, rendered

TOKENS = VendoredTokens()
PROFILES = load_model_profiles()
SUMMARIZER = Summarizer(TOKENS.count, load_topics(), load_summary_wordings())


def make_turn(number: int, text: str = "words", *, role: Role = Role.USER, name: str | None = None) -> Turn:
    return Turn(f"t{number}", role, text, number, number, TOKENS.count(rendered(role, name, text)), name)


def make_artifact(name: str, content: str, *, kind: str = "note", updated_at_ms: int = 0) -> Artifact:
    return Artifact(name, kind, content, 1, updated_at_ms, TOKENS.count(content))


def make_line(text: str) -> SummaryLine:
    return SummaryLine(text, TOKENS.count(block_of(text)), weight=0)


def make_item(ref: str, text: str, tier: Tier = Tier.DOMAIN, **more: Any) -> ContextItem:
    return ContextItem(ref, tier, text, **more).counted(TOKENS.count)


make_critical = partial(make_item, safety_critical=True)


def assembled(model_profile: str = "default", **parts: Any) -> ContextWindow:
    parts.setdefault("reader", SUMMARIZER)
    return assemble(AssemblyRequest(PROFILES.get(model_profile), **parts), TOKENS.count)


def refs(entries: tuple[Entry, ...]) -> list[str]:
    return [entry.ref for entry in entries]

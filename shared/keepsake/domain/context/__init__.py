"""The context window: what of a session, a profile and what was found goes in front of a model, within a budget of tokens."""

from keepsake.domain.context.assembly import assemble
from keepsake.domain.context.values import AssemblyRequest, ContextItem, ContextWindow, Entry, Reason, TierUse, item_block
from keepsake.domain.tiers import Tier

__all__ = ["AssemblyRequest", "ContextItem", "ContextWindow", "Entry", "Reason", "Tier", "TierUse", "assemble", "item_block"]

"""How a number of tokens is shared by the tiers. Whole numbers only; nothing is lost and nothing is made."""

from collections.abc import Mapping
from fractions import Fraction

from keepsake.domain.tiers import PRIORITY, Tier


def shared_out(total: int, weights: Mapping[Tier, int]) -> dict[Tier, int]:
    """`total` in the proportions of `weights`; the parts add up to it."""
    whole = sum(weights[tier] for tier in PRIORITY)
    shares: dict[Tier, int] = {}
    weight = given = 0
    for tier in PRIORITY:
        weight += weights[tier]
        shares[tier] = total * weight // whole - given
        given += shares[tier]
    return shares


def granted(shares: Mapping[Tier, int], needs: Mapping[Tier, int], minimum_share: Fraction) -> dict[Tier, int]:
    """What each tier may spend when it must spend `needs`, which may be more than its share.

    What is missing is taken from the others, lowest priority first: of each at first only what is above its minimum, and what
    is below only when that is not enough. No tier gets less than it needs.
    """
    grants = {tier: max(shares[tier], needs[tier]) for tier in PRIORITY}
    missing = sum(grants.values()) - sum(shares.values())
    minimums = {tier: max(needs[tier], int(shares[tier] * minimum_share)) for tier in PRIORITY}
    for floors in (minimums, needs):
        for tier in reversed(PRIORITY):
            taken = min(missing, grants[tier] - floors[tier])
            grants[tier] -= taken
            missing -= taken
    return grants

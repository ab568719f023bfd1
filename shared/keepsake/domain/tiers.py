"""The tiers of a context window: their priority, and how they stand in print. Wording and order are stable; hosts read them."""

from enum import StrEnum


class Tier(StrEnum):
    """A section of a context window. Declared by priority, highest first."""

    WORKING = "working"
    PAGE = "page"
    LIVE = "live"
    EPISODIC = "episodic"
    DOMAIN = "domain"
    INSTITUTIONAL = "institutional"


PRIORITY = tuple(Tier)
PRINTED = (Tier.WORKING, Tier.PAGE, Tier.EPISODIC, Tier.DOMAIN, Tier.LIVE, Tier.INSTITUTIONAL)
HEADINGS = {
    Tier.WORKING: "## Working Memory\n",
    Tier.PAGE: "## Page Context\n",
    Tier.LIVE: "## Live Database Context\n",
    Tier.EPISODIC: "## User History\n",
    Tier.DOMAIN: "## Domain Knowledge\n",
    Tier.INSTITUTIONAL: "## Institutional Knowledge\n",
}

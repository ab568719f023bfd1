"""Recall: search over long-term memory by meaning. The turn knows this port and nothing of what stands behind it."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol

from keepsake.domain.digest import Digest
from keepsake.domain.pending import PendingSessions
from keepsake.domain.principal import Principal
from keepsake.domain.recall import RecallHit
from keepsake.domain.search import DocumentKind
from keepsake.domain.turns import Role

ALL_KINDS = frozenset(DocumentKind)
MAX_HITS = 50
REPEATED = "repeated_turn"  # why nothing is recalled for a turn that was seen before


class RecallWish(StrEnum):
    """What the caller wants of recall in this turn."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class RecallScene:
    """What is known of the user before recall looks: the epoch that reads obey, the digest, and the sessions that are pending.

    `shown` are documents of turns that stand before the reader's eyes anyway and need not be found again.
    """

    epoch: int = 0
    digest: Digest = field(default_factory=Digest)
    pending: PendingSessions = field(default_factory=PendingSessions)
    shown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What is asked of the past. `at_ms` is when it is asked, `as_of_ms` the day for which it is to be answered (None: now).

    `since_ms` and `until_ms` bound when it was said. `about_me`: what is known of the user as a whole. `before` is what a text
    that says little by itself is read with.
    """

    text: str
    at_ms: int
    limit: int = 10
    kinds: frozenset[DocumentKind] = ALL_KINDS
    as_of_ms: int | None = None
    since_ms: int | None = None
    until_ms: int | None = None
    about_me: bool = False
    before: str = ""


@dataclass(frozen=True, slots=True)
class Recalled:
    """What recall answered. `reason` is a stable word that says why it ran or did not, or why less was searched than could be."""

    ran: bool
    reason: str
    degraded: bool = False
    hits: tuple[RecallHit, ...] = ()


@dataclass(frozen=True, slots=True)
class Asked:
    """The turn, as far as recall minds. `at_ms` is when it was said."""

    session_id: str
    role: Role
    text: str
    wish: RecallWish
    at_ms: int


class Recall(Protocol):
    """Finds what the user's past holds on a text."""

    def recall(self, principal: Principal, request: RecallRequest, scene: RecallScene) -> Recalled:
        """The best hits, best first. A slow or broken index or model makes it `degraded`, never an error.

        Raises StoreUnavailableError.
        """
        ...

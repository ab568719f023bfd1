"""Recall: search over long-term memory by meaning. The turn knows this port and nothing of what stands behind it."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from keepsake.domain.principal import Principal


class RecallWish(StrEnum):
    """What the caller wants of recall in this turn."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class RecallRequest:
    """What a turn asks of the past. `text` is the turn's, `at_ms` its time."""

    text: str
    wish: RecallWish
    at_ms: int


@dataclass(frozen=True, slots=True)
class Recalled:
    """What recall answered. `reason` is a stable word that says why it ran or did not."""

    ran: bool
    reason: str
    degraded: bool = False
    hits: tuple[()] = ()


class Recall(Protocol):
    """Finds what the user's past holds on a turn."""

    def recall(self, principal: Principal, request: RecallRequest) -> Recalled:
        """Never raises for a slow or broken index: it answers `degraded`."""
        ...

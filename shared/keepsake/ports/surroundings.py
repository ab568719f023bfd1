"""Time, ids and chance: what comes into the core from outside, so that each test can state its own."""

from typing import Protocol


class Clock(Protocol):
    """The time, as everyone in this process sees it."""

    def now_ms(self) -> int:
        """Milliseconds since 1970-01-01T00:00:00Z."""
        ...

    def sleep(self, seconds: float) -> None:
        """Wait. Only between retries."""
        ...


class IdFactory(Protocol):
    """Maker of ids that nobody can guess."""

    def new(self) -> str:
        """A fresh id of characters `[A-Za-z0-9_-]`, at least 120 random bits."""
        ...


class Chance(Protocol):
    """Randomness that need not be secret: jitter, and the choice among copies."""

    def fraction(self) -> float:
        """At least 0, below 1."""
        ...


class HashKeys(Protocol):
    """Where the keyed hashes' secret comes from. Fetched when first needed, never at import."""

    def current(self) -> tuple[str, bytes]:
        """The key's version name and its bytes (32 or more). Raises StoreUnavailableError."""
        ...

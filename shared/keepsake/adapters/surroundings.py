"""The real clock, ids and chance."""

import random
import secrets
import time

# The operating system's source: a generator seeded in this process would be copied with every snapshot of a function,
# and all its copies would back off by the same "random" delays.
_DICE = random.SystemRandom()


class SystemClock:
    """Clock of this machine."""

    def now_ms(self) -> int:
        """See Clock."""
        return time.time_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        """See Clock."""
        time.sleep(seconds)


class RandomIds:
    """IdFactory of 128 random bits in 22 characters."""

    def new(self) -> str:
        """See IdFactory."""
        return secrets.token_urlsafe(16)


class SystemChance:
    """Chance from the operating system."""

    def fraction(self) -> float:
        """See Chance."""
        return _DICE.random()

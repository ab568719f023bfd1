"""Trying again after a lost race or an unanswered write: bounded, and jittered so that rivals do not meet again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from keepsake.domain.errors import LostRaceError, StoreUnavailableError
from keepsake.ports.surroundings import Chance, Clock

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Retrying:
    """Calls something that reads first and then writes on condition, until it gets through or the bounds are reached.

    A wait is drawn evenly from 0 to `first_wait` seconds, doubled each time ("full jitter"), at most `longest_wait`.
    """

    clock: Clock
    chance: Chance
    races: int = 6
    outages: int = 2
    first_wait: float = 0.01
    longest_wait: float = 0.25

    def call(self, attempt: Callable[[], T]) -> T:
        """The answer of `attempt`. Raises its last LostRaceError or StoreUnavailableError; everything else at once."""
        races = outages = 0
        while True:
            try:
                return attempt()
            except LostRaceError:
                races += 1
                if races >= self.races:
                    raise
            except StoreUnavailableError:
                outages += 1
                if outages >= self.outages:
                    raise
            self._wait(races + outages)

    def _wait(self, tries: int) -> None:
        longest = min(self.longest_wait, self.first_wait * 2 ** (tries - 1))
        self.clock.sleep(longest * self.chance.fraction())

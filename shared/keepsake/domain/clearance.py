"""What a principal may see, and the one place that filters by it.

Visible is what has a level no higher than the principal's and no compartment that the principal lacks.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Protocol, TypeVar


@dataclass(frozen=True, slots=True)
class Clearance:
    """A level (0 is open to all of the owner's principals) and a set of compartments."""

    level: int = 0
    compartments: frozenset[str] = frozenset()

    def covers(self, other: "Clearance") -> bool:
        """Whether a principal of this clearance may see what has the other."""
        return other.level <= self.level and other.compartments <= self.compartments

    def joined(self, other: "Clearance") -> "Clearance":
        """The clearance of what was derived from both: the higher level, all compartments."""
        return Clearance(max(self.level, other.level), self.compartments | other.compartments)

    @property
    def openness(self) -> tuple[int, int, tuple[str, ...]]:
        """Its place among clearances: the less it takes, the earlier."""
        return self.level, len(self.compartments), tuple(sorted(self.compartments))

    @property
    def is_open(self) -> bool:
        """Whether every principal of the owner may see it."""
        return self.level == 0 and not self.compartments


OPEN = Clearance()


# Beyond so many clearances of one thing, readers are told apart by the most open of them only, and by whether they may see all.
_MOST_TOLD_APART = 4


def hearings(clearances: Iterable[Clearance]) -> tuple[Clearance, ...]:
    """What readers of things of these clearances differ by: each of them, and what any of them make joined."""
    levels = sorted(set(clearances), key=lambda clearance: clearance.openness)
    found = dict.fromkeys(levels[:_MOST_TOLD_APART])
    for clearance in levels[:_MOST_TOLD_APART]:
        found |= dict.fromkeys([clearance.joined(other) for other in found])
    if levels:
        found[reduce(Clearance.joined, levels)] = None
    return tuple(found)


class Cleared(Protocol):
    """Anything that carries a clearance."""

    @property
    def clearance(self) -> Clearance:
        """Its own clearance."""
        ...


T = TypeVar("T", bound=Cleared)


def visible(clearance: Clearance, items: Iterable[T]) -> tuple[T, ...]:
    """Those of `items` that the clearance covers, in their order."""
    return tuple(item for item in items if clearance.covers(item.clearance))

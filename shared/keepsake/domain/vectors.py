"""Directions of texts, as embedders give them: kept as one signed byte a dimension, which costs retrieval nothing."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from struct import pack, unpack

_FULL = 127


@dataclass(frozen=True, slots=True)
class Vector:
    """A direction: `values` holds one signed byte a dimension, the longest of them 127 or -127. Its length says nothing."""

    values: bytes

    @classmethod
    def of(cls, components: Sequence[float]) -> "Vector":
        """The direction of `components`, of any length. Raises ValueError when one of them is not a finite number."""
        longest = max(map(abs, components), default=0.0)
        if not longest < float("inf"):
            raise ValueError("a component of a vector is not finite")
        scale = _FULL / longest if longest else 0.0
        return cls(pack(f"{len(components)}b", *(round(component * scale) for component in components)))

    @property
    def dimensions(self) -> int:
        """How many components it has."""
        return len(self.values)

    @property
    def whole(self) -> tuple[int, ...]:
        """The components, from -127 to 127."""
        return unpack(f"{len(self.values)}b", self.values)

    def cosine(self, other: "Vector") -> float:
        """Cosine of the angle between the two, 0 where one has no direction. Raises ValueError for other dimensions."""
        if len(self.values) != len(other.values):
            raise ValueError("vectors of different dimensions have no angle")
        own, others = self.whole, other.whole
        length = sqrt(_product(own, own) * _product(others, others))
        return _product(own, others) / length if length else 0.0


def _product(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(map(int.__mul__, left, right))

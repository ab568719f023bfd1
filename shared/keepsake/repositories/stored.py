"""What every versioned item has in common: its version, the epoch it was written under, and the fence that hides it."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from keepsake.domain.audit import EMPTY_CHAIN, ChainHead
from keepsake.ports.item_store import Absent, Condition, Item, Key, Put, Value, VersionEquals
from keepsake.repositories.records import text, whole

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Fence:
    """A user's epoch and revision. Absent in the store: 0 and 0."""

    epoch: int = 0
    revision: int = 0

    def hides(self, item: Item) -> bool:
        """Whether the item was written under an older epoch, which an erasure of the whole user has ended."""
        return whole(item, "epoch", 0) < self.epoch


@dataclass(frozen=True, slots=True)
class Stored(Generic[T]):
    """What reads may see of an item (None: nothing), and the version that a write must find (None: no item)."""

    value: T | None = None
    version: int | None = None


def fence_of(item: Item | None) -> Fence:
    """The fence that an item holds."""
    return Fence(whole(item, "epoch", 0), whole(item, "revision", 0)) if item else Fence()


def chain_head_of(item: Item | None) -> Stored[ChainHead]:
    """The head of a user's chain."""
    if item is None:
        return Stored(EMPTY_CHAIN)
    return Stored(ChainHead(whole(item, "sequence"), text(item, "hash")), whole(item, "version"))


def put_versioned(key: Key, attributes: dict[str, Value], replaced: Stored[T], fence: Fence) -> Put:
    """A write of the next version, on the condition that the one that was read still stands."""
    condition: Condition = Absent() if replaced.version is None else VersionEquals(replaced.version)
    version = (replaced.version or 0) + 1
    return Put(Item(key, {**attributes, "version": version, "epoch": fence.epoch}), condition)

"""What every versioned item has in common: its version, the epoch it was written under, and the fence that hides it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from keepsake.domain.audit import EMPTY_CHAIN, ChainHead
from keepsake.domain.errors import LeaseLostError, LostRaceError, SubjectErasedError
from keepsake.ports.item_store import (
    Absent,
    Check,
    Condition,
    ConditionFailedError,
    EpochAtMost,
    Item,
    ItemStore,
    Key,
    Put,
    RevisionAtMost,
    Value,
    VersionEquals,
    Write,
)
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import read, text, whole

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


def stored(item: Item | None, fence: Fence, build: Callable[[Item], T]) -> Stored[T]:
    """What `build` makes of the item, unless the fence hides it."""
    if item is None:
        return Stored()
    return Stored(None if fence.hides(item) else read(build, item), whole(item, "version"))


def head_attributes(head: ChainHead) -> dict[str, Value]:
    """A chain's head."""
    return {"sequence": head.sequence, "hash": head.hash, "proof": head.proof}


def chain_head_of(item: Item | None) -> Stored[ChainHead]:
    """The head of a user's chain. No fence hides it: the chain goes on after an erasure."""
    found = stored(item, Fence(), lambda it: ChainHead(whole(it, "sequence"), text(it, "hash"), text(it, "proof")))
    return found if item else Stored(EMPTY_CHAIN)


def commit(store: ItemStore, keys: Keys, fence: Fence, writes: Sequence[Write], *, background: bool = False) -> None:
    """Do all of the writes, or none, unless the user was erased since the fence was read.

    In the background any erasure, seal or hold counts, also of less than the whole user. Raises LostRaceError when what is
    written has moved since it was read, SubjectErasedError, LeaseLostError when a reindex was begun since the lease that the
    writes name was taken, and StoreUnavailableError.
    """
    unmoved = RevisionAtMost(fence.revision) if background else EpochAtMost(fence.epoch)
    try:
        store.transact([*writes, Check(keys.fence(), unmoved)])
    except ConditionFailedError as failed:
        if keys.reindex_mark() in failed.keys:
            raise LeaseLostError("a reindex was begun while this was under way: start again from the truth") from failed
        if keys.fence() in failed.keys:
            raise SubjectErasedError("the user, or something of theirs, was erased while this was under way") from failed
        raise LostRaceError("others wrote while this was under way", retry_after=1) from failed


def put_versioned(key: Key, attributes: dict[str, Value], replaced: Stored[T], fence: Fence) -> Put:
    """A write of the next version, on the condition that the one that was read still stands."""
    condition: Condition = Absent() if replaced.version is None else VersionEquals(replaced.version)
    version = (replaced.version or 0) + 1
    return Put(Item(key, {**attributes, "version": version, "epoch": fence.epoch}), condition)

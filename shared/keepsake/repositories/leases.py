"""Leases: who may do background work for a user, and until when. Only one at a time, and nobody outlives its own."""

from dataclasses import dataclass, replace

from keepsake.domain.errors import LeaseHeldError, LeaseLostError
from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import (
    Absent,
    AbsentOrExpired,
    Check,
    ConditionFailedError,
    Delete,
    Item,
    ItemStore,
    Put,
    VersionEquals,
)
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import text, whole
from keepsake.repositories.session_records import seconds
from keepsake.repositories.stored import Fence, Stored, fence_of, stored

_NO_REINDEX: Stored[str] = Stored()


@dataclass(frozen=True, slots=True)
class Lease:
    """A lease on a user. `number` tells it from all others; `fence` is what it was taken under.

    `reindex` is the id of the reindex that was begun last when it was taken, with the version of its mark.
    """

    user_id: str
    number: int
    until_ms: int
    fence: Fence
    reindex: Stored[str] = _NO_REINDEX


@dataclass(frozen=True, slots=True)
class Leases:
    """Leases of all users."""

    store: ItemStore
    keyed: KeyedHash

    def take(self, user_id: str, *, now_ms: int, lasting_ms: int) -> Lease:
        """A lease from now on. Raises LeaseHeldError while somebody else has one, and StoreUnavailableError."""
        keys = Keys(user_id, self.keyed)
        found = self.store.get_many([keys.fence(), keys.reindex_mark()])
        reindex = stored(found.get(keys.reindex_mark()), Fence(), lambda item: text(item, "job_id"))
        lease = Lease(user_id, now_ms, now_ms + lasting_ms, fence_of(found.get(keys.fence())), reindex)
        try:
            self.store.transact([Put(self._item(lease), AbsentOrExpired(now_ms // 1000))])
        except ConditionFailedError as failed:
            raise LeaseHeldError("another worker is at this user's memory", retry_after=60) from failed
        return lease

    def renewal(self, lease: Lease, *, now_ms: int, lasting_ms: int) -> Put:
        """The write that makes the lease last longer, if it is still ours: part of each transaction under it."""
        return Put(self._item(replace(lease, until_ms=now_ms + lasting_ms)), VersionEquals(lease.number))

    def unmoved(self, lease: Lease) -> Check:
        """The check that no reindex was begun since the lease was taken: part of each transaction under it.

        Such a job may have read past what the work puts into the old index, and confirmed it would be missing in the new one.
        """
        condition = Absent() if lease.reindex.version is None else VersionEquals(lease.reindex.version)
        return Check(Keys(lease.user_id, self.keyed).reindex_mark(), condition)

    def check(self, lease: Lease, *, now_ms: int, needed_ms: int) -> None:
        """Raises LeaseLostError unless the lease is ours for that long still and nothing was erased, sealed or held since."""
        keys = Keys(lease.user_id, self.keyed)
        found = self.store.get_many([keys.lease(), keys.fence()])
        item = found.get(keys.lease())
        ours = item is not None and whole(item, "version") == lease.number and whole(item, "until") >= now_ms + needed_ms
        if not ours or fence_of(found.get(keys.fence())).revision > lease.fence.revision:
            raise LeaseLostError("the lease is lost, or the world has moved: start again from the truth")

    def release(self, lease: Lease) -> None:
        """Give it back; one that is lost already is left alone. Raises StoreUnavailableError."""
        try:
            self.store.transact([Delete(Keys(lease.user_id, self.keyed).lease(), VersionEquals(lease.number))])
        except ConditionFailedError:
            return

    def _item(self, lease: Lease) -> Item:
        attributes = {
            "version": lease.number,
            "until": lease.until_ms,
            "expires_at": seconds(lease.until_ms),
            "revision": lease.fence.revision,
        }
        return Item(Keys(lease.user_id, self.keyed).lease(), attributes)

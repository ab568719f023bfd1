"""The research profile in the store."""

from dataclasses import dataclass

from keepsake.domain.audit import AuditEvent, ChainHead
from keepsake.domain.errors import LostRaceError, SubjectErasedError
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.profile import Profile
from keepsake.domain.profile_records import from_record, to_record
from keepsake.ports.item_store import Check, ConditionFailedError, EpochAtMost, Item, ItemStore, Value
from keepsake.repositories.audit import user_chain_writes
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import packed, raw, read, unpacked, whole
from keepsake.repositories.stored import Fence, Stored, chain_head_of, fence_of, put_versioned


@dataclass(frozen=True, slots=True)
class ProfileSnapshot:
    """The profile with what a write of it needs."""

    fence: Fence
    profile: Stored[Profile]
    chain: Stored[ChainHead]


@dataclass(frozen=True, slots=True)
class Profiles:
    """Profiles of all users; each method names the one it is for."""

    store: ItemStore
    keyed: KeyedHash

    def load(self, user_id: str) -> ProfileSnapshot:
        """The profile as it stands; an empty one where there is none."""
        keys = Keys(user_id, self.keyed)
        found = self.store.get_many([keys.profile(), keys.fence(), keys.chain_head()])
        fence = fence_of(found.get(keys.fence()))
        return ProfileSnapshot(
            fence, stored_profile(found.get(keys.profile()), fence), chain_head_of(found.get(keys.chain_head()))
        )

    def commit(self, user_id: str, snapshot: ProfileSnapshot, profile: Profile, event: AuditEvent) -> None:
        """Write the profile with its audit entry. Raises LostRaceError, SubjectErasedError or StoreUnavailableError."""
        keys = Keys(user_id, self.keyed)
        try:
            self.store.transact(
                [
                    put_versioned(keys.profile(), profile_attributes(profile), snapshot.profile, snapshot.fence),
                    *user_chain_writes(keys, snapshot.chain, [event], snapshot.fence),
                    Check(keys.fence(), EpochAtMost(snapshot.fence.epoch)),
                ]
            )
        except ConditionFailedError as failed:
            if keys.fence() in failed.keys:
                raise SubjectErasedError("the user was erased while this was under way") from failed
            raise LostRaceError("the profile changed while this was under way", retry_after=1) from failed


def stored_profile(item: Item | None, fence: Fence) -> Stored[Profile]:
    """The profile that an item holds."""
    if item is None:
        return Stored(Profile())
    profile = Profile() if fence.hides(item) else read(_profile_of, item)
    return Stored(profile, whole(item, "version"))


def profile_attributes(profile: Profile) -> dict[str, Value]:
    """A profile as one compressed attribute."""
    return {"body": packed(to_record(profile)), "updated_at": profile.updated_at_ms}


def _profile_of(item: Item) -> Profile:
    return from_record(unpacked(raw(item, "body")))

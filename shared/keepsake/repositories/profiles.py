"""The research profile in the store."""

from dataclasses import dataclass

from keepsake.domain.audit import AuditEvent, ChainHead
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.profile import Profile
from keepsake.domain.profile_records import from_record, to_record
from keepsake.ports.item_store import Item, ItemStore, Value
from keepsake.repositories.audit import user_chain_writes
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import packed, raw, unpacked
from keepsake.repositories.stored import Fence, Stored, chain_head_of, commit, fence_of, put_versioned, stored


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
            fence, stored(found.get(keys.profile()), fence, profile_of), chain_head_of(found.get(keys.chain_head()))
        )

    def commit(self, user_id: str, snapshot: ProfileSnapshot, profile: Profile, event: AuditEvent) -> None:
        """Write the profile with its audit entry. Raises LostRaceError, SubjectErasedError or StoreUnavailableError."""
        keys, fence = Keys(user_id, self.keyed), snapshot.fence
        put = put_versioned(keys.profile(), profile_attributes(profile), snapshot.profile, fence)
        commit(self.store, keys, fence, [put, *user_chain_writes(keys, snapshot.chain, [event], fence)])


def profile_of(item: Item) -> Profile:
    """The profile that an item holds."""
    return from_record(unpacked(raw(item, "body")))


def profile_attributes(profile: Profile) -> dict[str, Value]:
    """A profile as one compressed attribute."""
    return {"body": packed(to_record(profile)), "updated_at": profile.updated_at_ms}

"""Long-term memory in the store: slots of claims, the digest, and the outbox that tells the index of changes."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from keepsake.domain.audit import AuditEvent, ChainHead
from keepsake.domain.digest import Digest
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.memories.claims import Claims
from keepsake.domain.pending import Outbox, PendingSessions
from keepsake.ports.item_store import MAX_GET, Item, ItemStore, PageQuery, Put, Table, Write
from keepsake.repositories.audit import user_chain_writes
from keepsake.repositories.keys import MEMORY_PREFIX, Keys
from keepsake.repositories.memory_records import claims_attributes, claims_of, digest_attributes, digest_of
from keepsake.repositories.pending import outbox_attributes, outbox_of, pending_of
from keepsake.repositories.records import read
from keepsake.repositories.stored import Fence, Stored, chain_head_of, commit, fence_of, put_versioned, stored


@dataclass(frozen=True, slots=True)
class MemoryState:
    """What a change of a user's memory needs to know beside the slots."""

    fence: Fence
    chain: Stored[ChainHead]
    digest: Stored[Digest]
    outbox: Stored[Outbox]


@dataclass(frozen=True, slots=True)
class SlotPage:
    """Slots by their ids; `next` continues after them."""

    slots: tuple[tuple[str, Claims], ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Memories:
    """Memories of all users; each method names the one it is for."""

    store: ItemStore
    keyed: KeyedHash

    def load(self, user_id: str) -> MemoryState:
        """The user's state, in one round trip."""
        keys = Keys(user_id, self.keyed)
        found = self.store.get_many([keys.fence(), keys.chain_head(), keys.digest(), keys.outbox()])
        fence = fence_of(found.get(keys.fence()))
        return MemoryState(
            fence,
            chain_head_of(found.get(keys.chain_head())),
            stored(found.get(keys.digest()), fence, digest_of),
            stored(found.get(keys.outbox()), fence, outbox_of),
        )

    def load_scene(self, user_id: str) -> tuple[Fence, Digest, PendingSessions]:
        """What recall needs to know before it looks, in one round trip."""
        keys = Keys(user_id, self.keyed)
        found = self.store.get_many([keys.fence(), keys.digest(), keys.pending()])
        fence = fence_of(found.get(keys.fence()))
        digest = stored(found.get(keys.digest()), fence, digest_of).value
        pending = stored(found.get(keys.pending()), fence, pending_of).value
        return fence, digest or Digest(), pending or PendingSessions()

    def slots(self, user_id: str, slot_ids: Iterable[str], fence: Fence) -> Mapping[str, Stored[Claims]]:
        """The slots of these ids; for one that is not there, nothing and no version."""
        keys = Keys(user_id, self.keyed)
        wanted = {slot_id: keys.memory(slot_id) for slot_id in slot_ids}
        found: dict[str, Stored[Claims]] = {}
        names = list(wanted)
        for at in range(0, len(names), MAX_GET):
            part = names[at : at + MAX_GET]
            items = self.store.get_many([wanted[name] for name in part])
            found |= {name: stored(items.get(wanted[name]), fence, claims_of) for name in part}
        return found

    def page(self, user_id: str, fence: Fence, *, limit: int, after: str | None = None) -> SlotPage:
        """A page of the user's slots, in the order of their ids."""
        position = MEMORY_PREFIX + after if after is not None else None
        page = self.store.query(PageQuery(Table.LONG_TERM, user_id, limit, prefix=MEMORY_PREFIX, after=position))
        slots = tuple((_slot_id(item), read(claims_of, item)) for item in page.items if not fence.hides(item))
        return SlotPage(slots, str(page.next).removeprefix(MEMORY_PREFIX) if page.next is not None else None)

    def put_slot(self, user_id: str, slot_id: str, claims: Claims, replaced: Stored[Claims], fence: Fence) -> Put:
        """The write of a slot."""
        return put_versioned(Keys(user_id, self.keyed).memory(slot_id), claims_attributes(claims), replaced, fence)

    def put_digest(self, user_id: str, digest: Digest, replaced: Stored[Digest], fence: Fence) -> Put:
        """The write of the digest."""
        return put_versioned(Keys(user_id, self.keyed).digest(), digest_attributes(digest), replaced, fence)

    def put_outbox(self, user_id: str, outbox: Outbox, replaced: Stored[Outbox], fence: Fence) -> Put:
        """The write of the outbox, listed in the pending index while it holds something."""
        keys = Keys(user_id, self.keyed)
        return put_versioned(keys.outbox(), outbox_attributes(outbox, keys.outbox_shard()), replaced, fence)

    def commit(self, user_id: str, state: MemoryState, writes: Sequence[Write], event: AuditEvent) -> None:
        """Write a change with its audit entry. Raises LostRaceError, SubjectErasedError and StoreUnavailableError."""
        keys = Keys(user_id, self.keyed)
        commit(self.store, keys, state.fence, [*writes, *user_chain_writes(keys, state.chain, [event], state.fence)])


def _slot_id(item: Item) -> str:
    return str(item.key.sort).removeprefix(MEMORY_PREFIX)

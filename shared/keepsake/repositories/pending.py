"""Pending sessions and the outbox in the store, and the sharded index that lists who has any."""

from collections.abc import Iterator
from dataclasses import dataclass

from keepsake.domain.hashing import KeyedHash
from keepsake.domain.paging import all_pages
from keepsake.domain.pending import Outbox, PendingSessions
from keepsake.ports.item_store import Index, IndexPosition, Item, ItemStore, Key, Table, Value
from keepsake.repositories.keys import PENDING_SHARDS, SESSION_PREFIX, Keys, pending_shard, session_id_of
from keepsake.repositories.records import packed, raw, unpacked, whole

_PAGE = 200


@dataclass(frozen=True, slots=True)
class PendingIndex:
    """Reads the index. It may lag behind the items."""

    store: ItemStore
    keyed: KeyedHash

    def shards(self) -> tuple[str, ...]:
        """All shards."""
        return tuple(pending_shard(number) for number in range(PENDING_SHARDS))

    def pages(self, shard: str, *, after_ms: int = -1) -> Iterator[tuple[Key, ...]]:
        """The keys of a shard's items, the longest waiting first, page by page; from the first after that time on."""
        first = IndexPosition(after_ms, Key(Table.LONG_TERM, "~", "~")) if after_ms >= 0 else None
        index = Index.PENDING_SESSIONS
        pages = all_pages(lambda after: self.store.query_index(index, shard, limit=_PAGE, after=after), after=first)
        yield from (page.keys for page in pages if page.keys)

    def find(self, ref: str) -> tuple[str, str | None] | None:
        """User and session (None: the outbox) that a message's reference names, None when nothing of that name waits any more.

        Looked for from where it waited when the message was sent, since what waits only ever moves on. Raises ValueError for
        what is no such reference.
        """
        shard, since, name = ref.split(":", 2)
        for keys in self.pages(shard, after_ms=int(since) - 1):
            for key in keys:
                if Keys(key.partition, self.keyed).work_ref(str(key.sort)) == name:
                    return key.partition, session_of(key)
        return None


def work_ref(user: Keys, key: Key, shard: str, since_ms: int) -> str:
    """How a message names a pending item: its shard, since when it waits, and its keyed hash."""
    return f"{shard}:{since_ms}:{user.work_ref(str(key.sort))}"


def session_of(key: Key) -> str | None:
    """The session whose header it is, None for an outbox."""
    return session_id_of(key) if str(key.sort).startswith(SESSION_PREFIX) else None


def pending_attributes(pending: PendingSessions) -> dict[str, Value]:
    """Pending sessions."""
    return {"body": packed(sorted(pending.since_ms.items()))}


def pending_of(item: Item) -> PendingSessions:
    """The pending sessions that an item holds."""
    return PendingSessions({name: int(since) for name, since in unpacked(raw(item, "body"))})


def outbox_attributes(outbox: Outbox, shard: str) -> dict[str, Value]:
    """An outbox. Only one that holds something carries the index's attributes, so that the index lists no other."""
    attributes: dict[str, Value] = {"body": packed(list(outbox.refs)), "since": outbox.since_ms}
    return attributes | ({"pending_shard": shard, "pending_since": outbox.since_ms} if outbox.refs else {})


def outbox_of(item: Item) -> Outbox:
    """The outbox that an item holds."""
    return Outbox(tuple(unpacked(raw(item, "body"))), whole(item, "since"))

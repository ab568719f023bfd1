"""Sessions in the store: one read that a turn needs, one transaction that writes all of it, and the log in pages."""

from dataclasses import dataclass, replace

from keepsake.domain.audit import AuditEvent, ChainHead
from keepsake.domain.digest import Digest
from keepsake.domain.hashing import KeyedHash
from keepsake.domain.header import SessionHeader
from keepsake.domain.pending import PendingSessions
from keepsake.domain.profile import Profile
from keepsake.domain.session import SessionBuffer
from keepsake.domain.turns import Turn
from keepsake.ports.item_store import Absent, Item, ItemStore, Page, PageQuery, Put, Table, Write
from keepsake.repositories.audit import linked_writes, user_chain_writes
from keepsake.repositories.keys import SESSION_PREFIX, Keys, escaped, session_chain
from keepsake.repositories.memory_records import digest_of
from keepsake.repositories.pending import pending_attributes, pending_of
from keepsake.repositories.profiles import profile_attributes, profile_of
from keepsake.repositories.records import read, whole
from keepsake.repositories.session_records import (
    TurnMarker,
    buffer_attributes,
    buffer_of,
    header_attributes,
    header_of,
    marker_attributes,
    marker_of,
    seconds,
    turn_attributes,
    turn_of,
)
from keepsake.repositories.stored import Fence, Stored, chain_head_of, commit, fence_of, put_versioned, stored

# A Lambda answer has 6 MB at most, and JSON within JSON may take seven bytes for one of text.
MAX_PAGE_TEXT_BYTES = 700_000
LOG_LIFETIME_MS = 7 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class SessionSnapshot:
    """All that a turn needs to know, read in one round trip. Values under an older epoch are left out; versions are not."""

    fence: Fence
    buffer: Stored[SessionBuffer]
    header: Stored[SessionHeader]
    profile: Stored[Profile]
    chain: Stored[ChainHead]
    marker: Stored[TurnMarker]
    digest: Stored[Digest]
    pending: Stored[PendingSessions]


@dataclass(frozen=True, slots=True)
class SessionChange:
    """What one transaction writes of a session. `header.chain` is the head before `events`; the repository moves it.

    `others` are writes of other repositories that belong to it. Work in the `background` stops at any erasure.
    """

    at_ms: int
    header: SessionHeader
    events: tuple[AuditEvent, ...]
    buffer: SessionBuffer | None = None
    turn: Turn | None = None
    turn_marker: TurnMarker | None = None
    profile: Profile | None = None
    pending: PendingSessions | None = None
    user_events: tuple[AuditEvent, ...] = ()
    others: tuple[Write, ...] = ()
    background: bool = False


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Turns in the order of the log; `next` continues after them."""

    turns: tuple[Turn, ...]
    next: int | None


@dataclass(frozen=True, slots=True)
class HeaderPage:
    """Headers in the order of their session ids; `next` continues after them."""

    headers: tuple[SessionHeader, ...]
    next: str | None


@dataclass(frozen=True, slots=True)
class Sessions:
    """Sessions of all users; each method names the one it is for."""

    store: ItemStore
    keyed: KeyedHash

    def load(
        self, user_id: str, session_id: str, *, now_ms: int, turn_id: str | None = None, buffer: bool = True
    ) -> SessionSnapshot:
        """The session as it stands; its buffer and a turn's marker only when asked for.

        Reads do not rely on the store's expiry: a marker past its time is none.
        """
        keys = Keys(user_id, self.keyed)
        wanted = [keys.header(session_id), keys.profile(), keys.fence(), keys.chain_head(), keys.digest(), keys.pending()]
        if buffer:
            wanted.append(keys.buffer(session_id))
        marker_key = keys.marker(session_id, turn_id) if turn_id is not None else None
        found = self.store.get_many([*wanted, marker_key] if marker_key else wanted)
        fence = fence_of(found.get(keys.fence()))
        marker = found.get(marker_key) if marker_key else None
        return SessionSnapshot(
            fence=fence,
            buffer=stored(found.get(keys.buffer(session_id)), fence, buffer_of),
            header=stored(found.get(keys.header(session_id)), fence, header_of),
            profile=stored(found.get(keys.profile()), fence, profile_of),
            chain=chain_head_of(found.get(keys.chain_head())),
            marker=_live_marker(stored(marker, fence, marker_of), now_ms),
            digest=stored(found.get(keys.digest()), fence, digest_of),
            pending=stored(found.get(keys.pending()), fence, pending_of),
        )

    def commit(self, user_id: str, session_id: str, snapshot: SessionSnapshot, change: SessionChange) -> None:
        """Write the change, all of it or nothing.

        Raises LostRaceError when the session moved since the snapshot, SubjectErasedError when the user's fence did, and
        StoreUnavailableError.
        """
        keys = Keys(user_id, self.keyed)
        writes = self._writes(keys, session_id, snapshot, change)
        commit(self.store, keys, snapshot.fence, writes, background=change.background)

    def read_log(self, user_id: str, session_id: str, *, after: int | None, limit: int, now_ms: int, fence: Fence) -> TurnPage:
        """A page of the session's log, oldest first. Turns past their lifetime are left out, whatever the store still holds."""
        partition = Keys(user_id, self.keyed).session_log(session_id)
        page = self.store.query(PageQuery(Table.TURNS, partition, limit, after=after))
        alive = [item for item in page.items if whole(item, "hidden_after") > now_ms and not fence.hides(item)]
        return _bounded([read(turn_of, item) for item in alive], _int_position(page))

    def read_tail(self, user_id: str, session_id: str, *, until: int, limit: int, now_ms: int, fence: Fence) -> tuple[Turn, ...]:
        """The last turns of the log up to a place, oldest first. Fewer where some have left the log."""
        partition = Keys(user_id, self.keyed).session_log(session_id)
        page = self.store.query(PageQuery(Table.TURNS, partition, limit, until=until, descending=True))
        alive = [item for item in page.items if whole(item, "hidden_after") > now_ms and not fence.hides(item)]
        return tuple(read(turn_of, item) for item in reversed(alive))

    def list_headers(self, user_id: str, *, after: str | None, limit: int) -> HeaderPage:
        """A page of the user's sessions, by their ids."""
        keys = Keys(user_id, self.keyed)
        position = SESSION_PREFIX + escaped(after) if after is not None else None
        query = PageQuery(Table.LONG_TERM, user_id, limit, prefix=SESSION_PREFIX, after=position)
        page = self.store.query(query)
        fence = fence_of(self.store.get_many([keys.fence()]).get(keys.fence()))
        headers = tuple(read(header_of, item) for item in page.items if not fence.hides(item))
        last = read(header_of, page.items[-1]).session_id if page.next is not None and page.items else None
        return HeaderPage(headers, last)

    def load_header(self, user_id: str, session_id: str) -> tuple[Fence, SessionHeader | None]:
        """The session's header alone, and the fence it was read under."""
        keys = Keys(user_id, self.keyed)
        found = self.store.get_many([keys.header(session_id), keys.fence()])
        fence = fence_of(found.get(keys.fence()))
        return fence, stored(found.get(keys.header(session_id)), fence, header_of).value

    def user_chain_head(self, user_id: str) -> ChainHead:
        """The head of the user's own audit chain."""
        key = Keys(user_id, self.keyed).chain_head()
        return chain_head_of(self.store.get_many([key]).get(key)).value or ChainHead()

    def session_chain_head(self, user_id: str, session_id: str, chain: str) -> ChainHead | None:
        """The head of a session's audit chain, None when its current incarnation has another one."""
        _, header = self.load_header(user_id, session_id)
        return header.chain if header and session_chain(header.incarnation) == chain else None

    def _writes(self, keys: Keys, session_id: str, snapshot: SessionSnapshot, change: SessionChange) -> list[Write]:
        fence = snapshot.fence
        entries, head = linked_writes(session_chain(change.header.incarnation), change.header.chain, change.events, self.keyed)
        header = header_attributes(replace(change.header, chain=head), keys.pending_shard(session_id))
        writes: list[Write] = [
            put_versioned(keys.header(session_id), header, snapshot.header, fence),
            *entries,
            *user_chain_writes(keys, snapshot.chain, change.user_events, fence),
        ]
        if change.buffer:
            writes.append(put_versioned(keys.buffer(session_id), buffer_attributes(change.buffer), snapshot.buffer, fence))
        if change.profile:
            writes.append(put_versioned(keys.profile(), profile_attributes(change.profile), snapshot.profile, fence))
        if change.pending is not None:
            writes.append(put_versioned(keys.pending(), pending_attributes(change.pending), snapshot.pending, fence))
        return [*writes, *change.others, *_turn_writes(keys, session_id, snapshot, change)]


def _turn_writes(keys: Keys, session_id: str, snapshot: SessionSnapshot, change: SessionChange) -> list[Write]:
    turn, marker = change.turn, change.turn_marker
    if turn is None or marker is None:
        return []
    fence = snapshot.fence
    logged = turn_attributes(turn, change.header.incarnation, change.at_ms + LOG_LIFETIME_MS)
    return [
        Put(Item(keys.turn(session_id, turn.timestamp_ms), {**logged, "epoch": fence.epoch}), Absent()),
        put_versioned(keys.marker(session_id, turn.turn_id), marker_attributes(marker), snapshot.marker, fence),
    ]


def turn_marker(turn: Turn, *, content: str, write_id: str, now_ms: int, opened: bool) -> TurnMarker:
    """The marker of a turn: it lives as long as the turn's entry in the log."""
    return TurnMarker(turn.timestamp_ms, content, write_id, seconds(now_ms + LOG_LIFETIME_MS), opened)


def _live_marker(marker: Stored[TurnMarker], now_ms: int) -> Stored[TurnMarker]:
    """The marker; without its value when its time is past, which DynamoDB may take days to notice."""
    expired = marker.value is not None and marker.value.expires_at * 1000 <= now_ms
    return replace(marker, value=None) if expired else marker


def _bounded(turns: list[Turn], following: int | None) -> TurnPage:
    """The page, cut where its text grows beyond what one answer carries: text that lies compressed is larger than its items."""
    size = 0
    for count, turn in enumerate(turns):
        size += turn.size
        if count and size > MAX_PAGE_TEXT_BYTES:
            return TurnPage(tuple(turns[:count]), turns[count - 1].timestamp_ms)
    return TurnPage(tuple(turns), following)


def _int_position(page: Page) -> int | None:
    return int(page.next) if page.next is not None else None

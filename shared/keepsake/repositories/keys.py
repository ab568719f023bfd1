"""The only maker of the stores' keys. Parts are escaped, so that no id can be taken for another or for a prefix of it."""

from dataclasses import dataclass
from functools import cached_property

from keepsake.domain.hashing import KeyedHash
from keepsake.domain.memories.values import Slot
from keepsake.ports.item_store import Key, Table

PENDING_SHARDS = 16
PROFILE = "profile"
FENCE = "fence"
CHAIN_HEAD = "chain"
SESSION_PREFIX = "session#"
MEMORY_PREFIX = "memory#"
ARCHIVE_PREFIX = "archive#"
SUMMARY_PREFIX = "summary#"
DOCUMENT_PREFIX = "document#"
DIGEST = "digest"
PENDING = "pending"
OUTBOX = "outbox"
LEASE = "lease"
JOBS = "jobs"


@dataclass(frozen=True)
class Keys:
    """Keys of everything that one user owns."""

    user_id: str
    keyed: KeyedHash

    def buffer(self, session_id: str) -> Key:
        """The session buffer."""
        return Key(Table.BUFFERS, self.user_id, session_id)

    def session_log(self, session_id: str) -> str:
        """Partition of a session's turns. The session id alone would be anybody's."""
        return f"{escaped(self.user_id)}#{escaped(session_id)}"

    def turn(self, session_id: str, timestamp_ms: int) -> Key:
        """One turn of the log."""
        return Key(Table.TURNS, self.session_log(session_id), timestamp_ms)

    def header(self, session_id: str) -> Key:
        """The session's header."""
        return Key(Table.LONG_TERM, self.user_id, SESSION_PREFIX + escaped(session_id))

    def profile(self) -> Key:
        """The research profile."""
        return self.long_term(PROFILE)

    def digest(self) -> Key:
        """The digest of the most important memories."""
        return self.long_term(DIGEST)

    def pending(self) -> Key:
        """Which of the user's sessions wait for consolidation."""
        return self.long_term(PENDING)

    def outbox(self) -> Key:
        """Which of the user's documents the index has yet to be told of."""
        return self.long_term(OUTBOX)

    def memory(self, slot_id: str) -> Key:
        """All that was said of one slot."""
        return self.long_term(MEMORY_PREFIX + slot_id)

    def summary(self, session_id: str) -> Key:
        """A session's summary."""
        return self.long_term(SUMMARY_PREFIX + escaped(session_id))

    def archive(self, session_id: str, first_place_ms: int) -> Key:
        """A chunk of a consolidated session's turns, by the place of its first."""
        return self.long_term(f"{ARCHIVE_PREFIX}{escaped(session_id)}#{first_place_ms:015d}")

    def document(self, document_id: str) -> Key:
        """A knowledge document."""
        return self.long_term(DOCUMENT_PREFIX + escaped(document_id))

    def long_term(self, sort: str) -> Key:
        """An item of the user's long-term memory by its sort key."""
        return Key(Table.LONG_TERM, self.user_id, sort)

    def pointer(self, document_id: str) -> Key:
        """The pointer of one document of the index."""
        return Key(Table.POINTERS, self.user_id, document_id)

    def turn_document(self, session_id: str, place_ms: int) -> str:
        """The document id of a turn in the index."""
        return "t." + self.keyed.of("turn-document", self.user_id, session_id, str(place_ms))

    def lease(self) -> Key:
        """The lease under which background work writes for the user."""
        return Key(Table.CONTROL, self._control, LEASE)

    def attempts(self, session_id: str) -> Key:
        """How often a session's extraction failed."""
        return Key(Table.CONTROL, self._control, "attempts#" + self.keyed.of("attempts", self.user_id, session_id))

    def slot_id(self, slot: Slot) -> str:
        """Id of a slot of the user's memory."""
        return self.keyed.of("slot", self.user_id, slot.subject, slot.attribute, slot.value_key)

    def work_ref(self, sort: str) -> str:
        """How a queue's message names the pending item with that sort key."""
        return self.keyed.of("work", self.user_id, sort)

    def group(self) -> str:
        """How a queue's message names the user."""
        return self.keyed.of("group", self.user_id)

    def fence(self) -> Key:
        """The user's fence. It outlives an erasure, so it stands under a keyed hash."""
        return Key(Table.CONTROL, self._control, FENCE)

    def chain_head(self) -> Key:
        """The head of the user's audit chain."""
        return Key(Table.CONTROL, self._control, CHAIN_HEAD)

    def marker(self, session_id: str, turn_id: str) -> Key:
        """The mark that a turn id was seen in a session."""
        return Key(Table.CONTROL, self._control, "turn#" + self.keyed.of("turn-marker", self.user_id, session_id, turn_id))

    def user_chain(self) -> str:
        """Name of the user's audit chain."""
        return "user." + self.keyed.of("audit-chain", self.user_id)

    def pending_shard(self, session_id: str) -> str:
        """The shard of the pending index that the session is listed in: two digits."""
        return pending_shard(self.keyed.number("pending-shard", self.user_id, session_id) % PENDING_SHARDS)

    def reindex_mark(self) -> Key:
        """The mark of the reindex that was begun last, as work on the user sees it."""
        return reindex_mark_key(pending_shard(self.keyed.number("reindex-mark", self.user_id) % PENDING_SHARDS))

    def outbox_shard(self) -> str:
        """The shard of the pending index that the user's outbox is listed in."""
        return pending_shard(self.keyed.number("outbox-shard", self.user_id) % PENDING_SHARDS)

    @cached_property
    def _control(self) -> str:
        return "user#" + self.keyed.of("control", self.user_id)


def session_chain(incarnation: str) -> str:
    """Name of the audit chain of one incarnation of a session."""
    return f"session.{incarnation}"


def pending_shard(number: int) -> str:
    """Name of one shard of the pending index."""
    return f"{number:02d}"


def session_id_of(header: Key) -> str:
    """The session id that a header's key was made of."""
    return unescaped(str(header.sort).removeprefix(SESSION_PREFIX))


def escaped(part: str) -> str:
    """`part` without the separator: `%` and `#` as percent escapes, everything else as it is."""
    return part.replace("%", "%25").replace("#", "%23")


def unescaped(part: str) -> str:
    """What `escaped` was given."""
    return part.replace("%23", "#").replace("%25", "%")


def job_key(job_id: str) -> Key:
    """An admin's job over everybody's documents."""
    return Key(Table.CONTROL, JOBS, "job#" + job_id)


def reindex_mark_key(shard: str) -> Key:
    """Which reindex was begun last, once more for each shard of users: else all background work would meet at one item."""
    return Key(Table.CONTROL, f"{JOBS}#{shard}", "reindex")


def running_job_key() -> Key:
    """Which of these jobs is under way: one at a time."""
    return Key(Table.CONTROL, JOBS, "running")

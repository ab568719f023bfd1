"""The only maker of the stores' keys. Parts are escaped, so that no id can be taken for another or for a prefix of it."""

from dataclasses import dataclass
from functools import cached_property

from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import Key, Table

PENDING_SHARDS = 16
PROFILE = "profile"
FENCE = "fence"
CHAIN_HEAD = "chain"
SESSION_PREFIX = "session#"


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
        return Key(Table.LONG_TERM, self.user_id, PROFILE)

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

"""How often a page of a session's turns was kept waiting for a model, and since when."""

from dataclasses import dataclass

from keepsake.domain.hashing import KeyedHash
from keepsake.ports.item_store import Item, ItemStore, Put
from keepsake.repositories.keys import Keys
from keepsake.repositories.records import whole
from keepsake.repositories.session_records import seconds

_KEPT_MS = 2 * 24 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Attempts:
    """Failed attempts: how many, and when the first was."""

    count: int = 0
    first_ms: int = 0


@dataclass(frozen=True, slots=True)
class AttemptLog:
    """Counts attempts. Two workers that count at once may count one: they are counted to end the waiting, not to bill it."""

    store: ItemStore
    keyed: KeyedHash

    def load(self, user_id: str, session_id: str, place_ms: int, *, now_ms: int) -> Attempts:
        """The attempts of late at the turns from that place on; older ones, and those at other turns, count no more."""
        key = Keys(user_id, self.keyed).attempts(session_id)
        item = self.store.get_many([key]).get(key)
        if item is None or whole(item, "expires_at") * 1000 <= now_ms or whole(item, "place") != place_ms:
            return Attempts()
        return Attempts(whole(item, "count"), whole(item, "first"))

    def failed(self, user_id: str, session_id: str, place_ms: int, before: Attempts, *, now_ms: int) -> None:
        """Count one more."""
        attributes = {
            "count": before.count + 1,
            "place": place_ms,
            "first": before.first_ms or now_ms,
            "expires_at": seconds(now_ms + _KEPT_MS),
        }
        self.store.transact([Put(Item(Keys(user_id, self.keyed).attempts(session_id), dict(attributes)))])

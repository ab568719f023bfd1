"""Is the service there, and are the things it stands on?"""

from collections.abc import Callable
from dataclasses import dataclass

from keepsake.domain.errors import StoreError
from keepsake.ports.item_store import ItemStore, Key, Table
from keepsake.ports.surroundings import HashKeys
from keepsake.ports.tokens import TokenCounter

# A key that no user can have: what is asked for is only whether the store answers.
_PROBE = Key(Table.CONTROL, "health", "probe")


@dataclass(frozen=True, slots=True)
class DependencyHealth:
    """One dependency: whether it did its part, and what is worth knowing of it."""

    name: str
    ok: bool
    detail: str


@dataclass(frozen=True, slots=True)
class Health:
    """Asks the dependencies, each by the cheapest call that shows it works."""

    store: ItemStore
    store_kind: str
    hash_keys: HashKeys
    tokens: TokenCounter

    def dependencies(self) -> tuple[DependencyHealth, ...]:
        """Every dependency in turn; a broken one is reported, never raised."""
        exact = self.tokens.exact
        return (
            _asked("store", self.store_kind, lambda: self.store.get_many([_PROBE])),
            _asked("hash_keys", "keyed hashes", self.hash_keys.current),
            DependencyHealth("tokens", exact, "cl100k_base" if exact else "estimated upwards"),
        )


def _asked(name: str, detail: str, ask: Callable[[], object]) -> DependencyHealth:
    try:
        ask()
    except StoreError as error:
        return DependencyHealth(name, ok=False, detail=error.code)
    return DependencyHealth(name, ok=True, detail=detail)

"""Each function does its work with what its role allows, and no role allows what its function never does."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.ports.item_store import (
    INDEXES,
    Check,
    Delete,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    ItemStore,
    Key,
    Page,
    PageQuery,
    Put,
    Write,
)
from local.template import read_template
from tests.architecture.template_reading import grants
from tests.fakes import FakeClock
from tests.world import World, load_event

ACTIONS = {Put: "dynamodb:PutItem", Delete: "dynamodb:DeleteItem", Check: "dynamodb:ConditionCheckItem"}
CALLS = {
    "turn": ["turn"],
    "sessions": [
        "sessions_list",
        "sessions_read",
        "sessions_turns",
        "scratchpad_write",
        "scratchpad_read",
        "scratchpad_remove",
    ],
    "profile": ["profile_write", "profile_read", "profile_reset"],
    "audit": ["audit_verify"],
    "health": ["health"],
}
Used = set[tuple[str, str]]


@dataclass
class GuardedStore:
    """A store as a role sees it: it refuses what the role does not allow, and remembers what was used."""

    store: ItemStore
    allowed: Used
    used: Used = field(default_factory=set)

    def _ask(self, action: str, target: str) -> None:
        assert (action, target) in self.allowed, f"{action} on {target} is not allowed"
        self.used.add((action, target))

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        for key in keys:
            self._ask("dynamodb:BatchGetItem", key.table)
        return self.store.get_many(keys)

    def query(self, query: PageQuery) -> Page:
        self._ask("dynamodb:Query", query.table)
        return self.store.query(query)

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        self._ask("dynamodb:Query", f"{INDEXES[index].table}/index/{index}")
        return self.store.query_index(index, partition, limit=limit, after=after)

    def transact(self, writes: Sequence[Write]) -> None:
        for write in writes:
            self._ask(ACTIONS[type(write)], write.key.table)
        self.store.transact(writes)


@pytest.fixture
def guarded(tmp_path: Path) -> Iterator[dict[str, World]]:
    store, clock = SqliteItemStore(tmp_path / "keepsake.db"), FakeClock()
    yield {name: World(GuardedStore(store, allowed_to(name)), clock) for name in (*CALLS, "consolidation")}
    store.close()


def allowed_to(function: str) -> Used:
    role = f"{function.capitalize()}Role"
    mine = [grant for grant in grants(read_template()) if grant.role == role]
    return {(action, target) for grant in mine for action in grant.actions for target in grant.targets if "dynamodb" in action}


def test_roles_allow_what_their_functions_do_and_nothing_more(guarded: dict[str, World]) -> None:
    statuses = {event: guarded[name].invoke(name, load_event(event)).status for name, events in CALLS.items() for event in events}
    assert {event: status for event, status in statuses.items() if status not in (200, 201, 204)} == {}
    assert guarded["consolidation"].consolidate()["sessions"] == 1
    for name, world in guarded.items():
        assert isinstance(world.store, GuardedStore)
        assert world.store.used == world.store.allowed, name

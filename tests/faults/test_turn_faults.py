"""Each store call of each kind of write fails once, before or after it took effect: it happens once, or is refused clearly."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.domain.errors import StoreUnavailableError
from keepsake.ports.item_store import (
    ConditionFailedError,
    Index,
    IndexPage,
    IndexPosition,
    Item,
    ItemStore,
    Key,
    Page,
    PageQuery,
    Write,
)
from tests.fakes import FakeClock
from tests.world import Answer, World

T = TypeVar("T")


class FailingStore:
    """A real store of which one call fails: `before` or `after` it took effect, or as if others had been faster."""

    def __init__(self, store: ItemStore) -> None:
        self._store = store
        self.calls = 0
        self.fail_at: Mapping[int, str] = {}

    def get_many(self, keys: Sequence[Key]) -> Mapping[Key, Item]:
        return self._called(lambda: self._store.get_many(keys))

    def query(self, query: PageQuery) -> Page:
        return self._called(lambda: self._store.query(query))

    def fetch(self, keys: Sequence[Key], pages: Sequence[PageQuery]) -> tuple[Mapping[Key, Item], tuple[Page, ...]]:
        return self._called(lambda: self._store.fetch(keys, pages))

    def query_index(self, index: Index, partition: str, *, limit: int, after: IndexPosition | None = None) -> IndexPage:
        return self._called(lambda: self._store.query_index(index, partition, limit=limit, after=after))

    def transact(self, writes: Sequence[Write]) -> None:
        if self.fail_at.get(self.calls) == "race":
            self.calls += 1
            raise ConditionFailedError((writes[0].key,))
        self._called(lambda: self._store.transact(writes))

    def _called(self, call: Callable[[], T]) -> T:
        fault = self.fail_at.get(self.calls)
        self.calls += 1
        if fault == "before":
            raise StoreUnavailableError("not now")
        answer = call()
        if fault == "after":
            raise StoreUnavailableError("no answer")
        return answer


@pytest.fixture
def failing(tmp_path: Path) -> FailingStore:
    return FailingStore(SqliteItemStore(tmp_path / "keepsake.db"))


@pytest.fixture
def world(failing: FailingStore) -> World:
    return World(failing, FakeClock())


def said(world: World) -> list[str]:
    return [turn["content"] for turn in world.log().json["turns"]]


FAULTS = [{at: fault} for at in range(3) for fault in ("before", "after", "race")]


@pytest.mark.parametrize("fault", FAULTS, ids=str)
@pytest.mark.parametrize("turn_id", [None, "chosen"])
@pytest.mark.parametrize("first", [True, False])
def test_a_turn_is_written_once_whichever_call_fails(
    world: World, failing: FailingStore, fault: Mapping[int, str], turn_id: str | None, first: bool
) -> None:
    earlier = [] if first else ["earlier"]
    for text in earlier:
        world.turn(content=text)
    failing.calls, failing.fail_at = 0, fault
    answer = world.turn(content="words", turn_id=turn_id)
    failing.fail_at = {}
    assert answer.status == 200
    assert answer.json["turn"]["replayed"] is False
    assert said(world) == [*earlier, "words"]
    assert world.verify().json["valid"] is True


@pytest.mark.parametrize("fault", ["before", "after"])
def test_a_store_that_stays_away_is_a_503_and_a_repetition_writes_once(world: World, failing: FailingStore, fault: str) -> None:
    failing.fail_at = dict.fromkeys(range(20), fault)
    refused = world.turn(content="words", turn_id="chosen")
    assert (refused.status, refused.json["code"]) == (503, "store_unavailable")
    assert refused.headers["retry-after"] == "1"
    failing.fail_at = {}
    assert world.turn(content="words", turn_id="chosen").status == 200
    assert said(world) == ["words"]


def test_a_race_lost_again_and_again_is_a_409_and_has_written_nothing(world: World, failing: FailingStore) -> None:
    world.turn(content="earlier")
    failing.fail_at = dict.fromkeys(range(100), "race")
    refused = world.turn(content="words", turn_id="chosen")
    failing.fail_at = {}
    assert (refused.status, refused.json["code"]) == (409, "lost_race")
    assert refused.headers["retry-after"] == "1"
    assert said(world) == ["earlier"]
    assert world.turn(content="words", turn_id="chosen").json["turn"]["replayed"] is False


def put_artifact(world: World) -> Answer:
    return world.artifact("PUT", body={"content": "SELECT 1"})


def edit_profile(world: World) -> Answer:
    return world.call("PUT /v1/profile", body={"interests": [{"name": "oncology"}]})


def delete_artifact(world: World) -> Answer:
    return world.artifact("DELETE")


def reset_profile(world: World) -> Answer:
    return world.call("POST /v1/profile/reset")


@pytest.mark.parametrize("write", [put_artifact, edit_profile, delete_artifact, reset_profile])
@pytest.mark.parametrize("fault", [{at: fault} for at in range(4) for fault in ("before", "after", "race")], ids=str)
def test_other_writes_take_effect_whichever_call_fails(
    world: World, failing: FailingStore, write: Callable[[World], Answer], fault: Mapping[int, str]
) -> None:
    world.turn()
    if write is delete_artifact:
        put_artifact(world)
    if write is reset_profile:
        edit_profile(world)
    failing.calls, failing.fail_at = 0, fault
    answer = write(world)
    # A single read is not tried again: it changes nothing, and its caller can.
    if answer.status == 503:
        assert write is delete_artifact
        failing.fail_at = {}
        answer = write(world)
    failing.fail_at = {}
    assert answer.status in (200, 204)
    assert world.artifact("GET").status == (200 if write is put_artifact else 404)
    assert bool(world.call("GET /v1/profile").json["interests"]) is (write is edit_profile)
    assert world.verify().json["valid"] is True

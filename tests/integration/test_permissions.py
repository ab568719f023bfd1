"""Each function does its work with what its role allows, and no role allows what its function never does."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.adapters.sqlite_store import SqliteItemStore
from keepsake.ports.embedding import EmbeddingModel
from keepsake.ports.item_store import Delete, Item, Key, PageQuery, Put, Table
from local.template import read_template
from tests.architecture.built import logical_name
from tests.architecture.template_reading import grants
from tests.fakes import FakeClock
from tests.integration.guards import (
    GuardedEmbedder,
    GuardedIndex,
    GuardedModel,
    GuardedQueue,
    GuardedStore,
    guard_of,
)
from tests.model_answers import ToldModel, answer_text
from tests.world import World, load_event

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.integration.guards import Guard

FUNCTIONS = (
    "turn",
    "sessions",
    "profile",
    "memories",
    "recall",
    "documents",
    "index_admin",
    "audit",
    "health",
    "consolidation_planner",
    "consolidation",
)


class OtherEmbedder(HashingEmbedder):
    """The hashing embedder under another name, as after a change of the model."""

    @property
    def model(self) -> EmbeddingModel:
        return EmbeddingModel("other-384", 384)


class GuardedWorld(World):
    """A world in which every function is held to its role; the functions share what they work on."""

    def __init__(self, store: SqliteItemStore, clock: FakeClock) -> None:
        super().__init__(store, clock)
        self._store = store
        self.guards: dict[str, Guard] = {}
        self._runtimes: dict[str, Any] = {}
        model = ToldModel(None, *[answer_text()] * 20)  # no answer at first, and then that there is nothing to learn
        for name in FUNCTIONS:
            role = logical_name(name).removesuffix("Function") + "Role"
            guard = guard_of([grant for grant in grants(read_template()) if grant.role == role])
            guarded = World(
                GuardedStore(store, guard),
                clock,
                index=GuardedIndex(self.index, guard),
                embedder=GuardedEmbedder(self.embedder, guard),
                model=GuardedModel(model, guard),
            )
            guarded.queue = GuardedQueue(self.queue, guard)  # type: ignore[assignment]  # functions only send
            self.guards[name], self._runtimes[name] = guard, guarded.runtime

    def invoke(self, function: str, event: Any) -> Any:
        self.runtime = self._runtimes[function]
        return super().invoke(function, event)

    def event(self, name: str, **path: str) -> Any:
        """Send a canonical event; its status is one of success."""
        event = load_event(name)
        event["pathParameters"] = event.get("pathParameters", {}) | path
        function = next(one for one in FUNCTIONS if name.startswith(one) or _ELSEWHERE.get(name.split("_", maxsplit=1)[0]) == one)
        answer = self.invoke(function, event)
        assert answer.status in (200, 201, 202, 204), (name, answer.text)
        return json.loads(answer.text or "{}")

    def consolidate(self) -> int:
        self.runtime = self._runtimes["consolidation_planner"]
        self.plan()
        self.runtime = self._runtimes["consolidation"]
        return self.work()

    def turns_and_recalls(self) -> None:
        for name in ("turn", "sessions_list", "sessions_read", "sessions_turns"):
            self.event(name)
        for name in ("scratchpad_write", "scratchpad_read", "scratchpad_remove"):
            self.event(name)
        assert self.consolidate() == 1
        self.clock.advance(minutes=1)
        assert self.consolidate() == 0
        session = load_event("turn")["pathParameters"]["session_id"]
        assert self.turn(session, "My sister Mary lives in Bergen.", user=USER).status == 200  # waits for consolidation
        assert self.turn("another", "Where does my sister live?", recall="always", user=USER).status == 200
        self.event("recall")
        assert self.consolidate() == 0  # the windows of turns indexed before reach into the new ones

    def repairs(self) -> None:
        """Drift of each kind: a document without its pointer, a pointer without its document, a pointer to nothing."""
        page = self.index.list_owned(USER, limit=10)
        first, second = page.documents[:2]
        pointers = {str(item.key.sort): item for item in self._store.query(PageQuery(Table.POINTERS, USER, 100)).items}
        nothing = Item(Key(Table.POINTERS, USER, "nothing"), pointers[first.document_id].attributes)
        self._store.transact([Delete(pointers[first.document_id].key), Put(nothing)])
        assert self.index.delete([second.location]) == (True,)
        assert self.event("drift_check")["repaired"] >= 3

    def reindexes(self) -> None:
        """A reindex that is interrupted, taken up again by the planner, and done."""
        self.embed_by_another_model()
        job = self.event("reindex_start")["job_id"]
        self.runtime = self._runtimes["consolidation"]
        assert self.work(remaining_ms=10_000) == 0
        self.clock.advance(minutes=11)
        assert self.consolidate() == 0
        assert self.event("reindex_read", job_id=job)["status"] == "complete"

    def loses_its_index(self) -> None:
        """Whoever looks after it makes a new one."""
        current = self.index.current()
        assert current
        self.index.drop(current.name)
        self.clock.advance(minutes=1)
        self.event("drift_check")

    def embed_by_another_model(self) -> None:
        for runtime, guard in zip(self._runtimes.values(), self.guards.values(), strict=True):
            for cached in ("embedder", "background_embedder", "learning", "turns", "asking"):
                runtime.__dict__.pop(cached, None)
            embedder = GuardedEmbedder(OtherEmbedder(), guard)
            runtime.__dict__.update(embedder=embedder, background_embedder=embedder)


USER = load_event("turn")["requestContext"]["authorizer"]["jwt"]["claims"]["sub"]
_ELSEWHERE = {"scratchpad": "sessions", "reindex": "index_admin", "drift": "index_admin"}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GuardedWorld]:
    store = SqliteItemStore(tmp_path / "keepsake.db")
    yield GuardedWorld(store, FakeClock())
    store.close()


def test_roles_allow_what_their_functions_do_and_nothing_more(world: GuardedWorld) -> None:
    world.turns_and_recalls()
    for name in ("profile_write", "profile_read", "profile_reset", "health", "audit_verify"):
        world.event(name)
    told = world.event("memories_tell")["memory_id"]
    world.event("memories_list")
    for name in ("memories_read", "memories_history", "memories_confirm", "memories_correct", "memories_forget"):
        world.event(name, memory_id=told)
    world.event("documents_put")
    assert world.consolidate() == 0
    world.event("documents_read")
    world.event("documents_remove")
    assert world.consolidate() == 0
    world.repairs()
    world.reindexes()
    world.loses_its_index()
    faults = [line for name, guard in world.guards.items() for line in guard.faults(name)]
    assert not faults, "\n".join(faults)

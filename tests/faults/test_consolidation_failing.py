"""Consolidation while a model, the index or the queue does not do its part: nothing is lost, and nothing is made up."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from keepsake.api.scheduled import RunFailedError
from keepsake.domain import pending
from keepsake.domain.errors import IndexUnavailableError, ModelUnavailableError, QueueUnavailableError
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.search import Found, IndexDocument, IndexQuery
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Purpose
from keepsake.ports.language_model import LanguageModel, ModelAnswer, ModelTask
from keepsake.ports.search_index import IndexedPage, Location, NotIndexed, PhysicalIndex
from keepsake.ports.work_queue import WorkMessage
from tests.fakes import DictItemStore, FakeClock
from tests.fakes_index import DictSearchIndex
from tests.fakes_queue import FakeWorkQueue
from tests.model_answers import ToldModel, answer_text, item
from tests.processes import SmallEmbedder
from tests.world import World

HOME = answer_text(item("facts", "Oslo is where I live.", attribute="home", value="Oslo"))
ADMIN = {"cognito:groups": "[keepsake-admins]"}


def world_with(model: LanguageModel | None = None, **more: Any) -> World:
    return World(DictItemStore(), FakeClock(), model=model, **more)


def made(world: World) -> list[tuple[str, str]]:
    return [(memory["value"], memory["made_by"]) for memory in world.memories()]


def run(world: World) -> int:
    """What a run an hour later does; 1 when anything failed. What failed comes again beside what is planned anew."""
    world.clock.advance(minutes=60)
    world.queue.release_all()
    return min(1, world.consolidate())


# ---- The model


def test_a_model_that_does_not_answer_is_waited_for_twice_and_then_the_rules_take_over() -> None:
    world = world_with(ToldModel(None, None, None))
    world.turn(content="I live in Oslo.")
    for _ in range(2):
        assert run(world) == 1
        assert made(world) == []
        assert world.recall("Where do I live? Oslo").json["hits"][0]["text"] == "I live in Oslo."
    assert run(world) == 0
    assert made(world) == [("Oslo", "rules")]


def test_a_model_that_answers_in_time_teaches_what_was_kept_waiting() -> None:
    world = world_with(ToldModel(None, HOME))
    world.turn(content="I live in Oslo.")
    assert run(world) == 1
    assert run(world) == 0
    assert made(world) == [("Oslo", "model")]


def test_after_a_day_of_waiting_the_rules_take_over_at_the_next_failure() -> None:
    world = world_with(ToldModel(None, None))
    world.turn(content="I live in Oslo.")
    assert run(world) == 1
    world.clock.advance(minutes=24 * 60)
    assert run(world) == 0
    assert made(world) == [("Oslo", "rules")]


def test_what_was_waited_for_before_does_not_shorten_the_patience_with_later_turns() -> None:
    world = world_with(ToldModel(None, None, HOME, None, HOME))
    world.turn(content="I live in Oslo.")
    assert [run(world), run(world), run(world)] == [1, 1, 0]
    world.turn(content="I live in Oslo, as ever.")
    assert run(world) == 1
    assert run(world) == 0
    assert made(world) == [("Oslo", "model")]


class RefusedRequestError(ModelUnavailableError):
    retryable = False


class Refusing:
    """A model that refuses the request itself, whenever it is sent."""

    def __init__(self) -> None:
        self.calls = 0

    def answer(self, task: ModelTask) -> ModelAnswer:  # noqa: ARG002 - the same for every task
        self.calls += 1
        raise RefusedRequestError("a model refused the request")


def test_a_request_that_will_be_refused_again_is_not_waited_for() -> None:
    model = Refusing()
    world = world_with(model)
    world.turn(content="I live in Oslo.")
    assert run(world) == 0
    assert made(world) == [("Oslo", "rules")]
    assert model.calls <= 2


@pytest.mark.parametrize(
    "model",
    [
        lambda: ToldModel("I'm sorry, but I cannot help with that.", "I really cannot."),
        lambda: ToldModel(HOME, HOME, cut=[1, 2]),
        lambda: ToldModel("", "", refused=[1, 2]),
        lambda: ToldModel(answer_text(), answer_text()),
        lambda: ToldModel("", ""),
        lambda: ToldModel("[]", json.dumps({"facts": "none"})),
        lambda: ToldModel(HOME.replace('"turn": 1', '"turn": 9'), HOME.replace("Oslo", "Atlantis")),
    ],
)
def test_an_answer_of_no_use_is_never_taken_for_nothing(model: Callable[[], ToldModel]) -> None:
    told = model()
    world = world_with(told)
    world.turn(content="I live in Oslo.")
    assert run(world) == 0
    assert made(world) == [("Oslo", "rules")]
    assert len(told.asked) == 2


def test_candidates_that_are_not_there_are_dropped_and_counted(capsys: pytest.CaptureFixture[str]) -> None:
    second = item("facts", "Rome is where I live.", attribute="home", value="Rome", replaces=[1, 7, -1, 0])
    world = world_with(ToldModel(HOME, answer_text(second)))
    world.turn(content="Oslo is where I live.")
    run(world)
    world.turn(content="Rome is where I live.")
    run(world)
    assert '"dropped":[3.0]' in capsys.readouterr().out
    assert made(world) == [("Rome", "model")]
    (oslo, rome) = world.memories(past="true")
    assert oslo["superseded_by"] == rome["memory_id"]


# ---- The index


class FailingIndex(DictSearchIndex):
    """Raises when it is `down`; takes documents as `outcomes` say, in turn, while there are any."""

    def __init__(self) -> None:
        super().__init__()
        self.down = False
        self.outcomes: list[NotIndexed | None] = []

    def _check(self) -> None:
        if self.down:
            raise IndexUnavailableError("not now", retry_after=30)

    def current(self) -> PhysicalIndex | None:
        self._check()
        return super().current()

    def search(self, query: IndexQuery) -> Found:
        self._check()
        return super().search(query)

    def delete(self, locations: Sequence[Location]) -> tuple[bool, ...]:
        self._check()
        return super().delete(locations)

    def list_owned(self, owner: str, *, limit: int, after: str | None = None) -> IndexedPage:
        self._check()
        return super().list_owned(owner, limit=limit, after=after)

    def put(self, documents: Sequence[IndexDocument], *, index: str) -> tuple[Location | NotIndexed, ...]:
        self._check()
        taken: list[Location | NotIndexed] = []
        for document in documents:
            outcome = self.outcomes.pop(0) if self.outcomes else None
            taken.append(outcome or super().put([document], index=index)[0])
        return tuple(taken)


def drift(world: World, *, repair: bool = False) -> dict[str, int]:
    answer = world.call("POST /v1/admin/drift", body={"user_id": "ada", "repair": repair}, claims=ADMIN)
    assert answer.status == 200, answer.text
    found: dict[str, int] = answer.json
    return found


NO_DRIFT = {
    "documents_without_pointer": 0,
    "pointers_without_document": 0,
    "memories_without_document": 0,
    "documents_without_truth": 0,
}


def indexed(index: DictSearchIndex) -> set[str]:
    return {document.document_id for document in index.list_owned("ada", limit=500).documents}


def test_while_the_index_is_down_turns_go_on_and_say_so_and_afterwards_it_heals() -> None:
    index = FailingIndex()
    world = world_with(index=index)
    world.turn(content="I live in Oslo.")
    index.down = True
    turn = world.turn(content="Where did I say that I live?", recall="always")
    assert (turn.status, turn.json["recall"]["degraded"]) == (200, True)
    assert "I live in Oslo." in turn.json["context"]["text"]
    recalled = world.recall("Where do I live?").json
    assert (recalled["degraded"], recalled["reason"]) == (True, "index_unavailable")
    assert "I live in Oslo." in [hit["text"] for hit in recalled["hits"]]
    with pytest.raises(RunFailedError, match="index_unavailable"):
        world.plan()  # and yet it was planned
    assert world.work() == 1
    assert ("Oslo", "rules") in made(world)
    index.down = False
    assert run(world) == 0
    assert ("Oslo", "rules") in made(world)
    assert world.recall("Where do I live?").json["degraded"] is False
    assert NO_DRIFT.items() <= drift(world).items()


def test_what_an_index_that_is_down_for_longer_than_the_log_lasts_is_not_told_is_learned_and_found_when_it_is_back() -> None:
    index = FailingIndex()
    world = world_with(index=index)
    world.turn(content="I live in Oslo. My sister is called Vera.")
    index.down = True
    for _ in range(9):
        world.clock.advance(minutes=24 * 60)
        world.queue.release_all()
        world.consolidate()
    assert {("Oslo", "rules"), ("Vera", "rules")} <= set(made(world))
    assert world.log().json["turns"] == []
    index.down = False
    assert run(world) == 0
    texts = [hit["text"] for hit in world.recall("Is Vera in Oslo?", kinds=["turn", "summary", "memory"]).json["hits"]]
    assert "I live in Oslo. My sister is called Vera." in texts
    assert "home: Oslo" in texts
    assert NO_DRIFT.items() <= drift(world).items()
    assert world.plan()["sent"] == 0


def test_a_full_outbox_keeps_no_turns_from_being_dealt_with(monkeypatch: pytest.MonkeyPatch) -> None:
    index = FailingIndex()
    world = world_with(index=index)
    world.turn(content="I live in Oslo.")
    index.down = True
    monkeypatch.setattr(pending, "MAX_OUTBOX", 0)
    world.clock.advance(minutes=6 * 24 * 60)
    assert world.consolidate() == 0
    assert made(world) == [("Oslo", "rules")]
    index.down = False
    assert drift(world, repair=True)["repaired"] >= 2
    assert "I live in Oslo." in [hit["text"] for hit in world.recall("Oslo", kinds=["turn"]).json["hits"]]


@pytest.mark.parametrize("failing", [0, 1, 3])
def test_a_document_that_was_throttled_is_tried_again_with_the_rest(failing: int) -> None:
    index, undisturbed = FailingIndex(), DictSearchIndex()
    for each in (index, undisturbed):
        world = world_with(index=each)
        world.turn(content="I live in Oslo.")
        world.turn(content="My sister is called Anna.")
        if isinstance(each, FailingIndex):
            each.outcomes = [*([None] * failing), NotIndexed("throttled", retryable=True)]
            assert run(world) == 1
            assert world.recall("Oslo", kinds=["turn"]).json["hits"] != []
        assert run(world) == 0
        assert NO_DRIFT.items() <= drift(world).items()
    assert indexed(index) == indexed(undisturbed) != set()


def test_a_document_that_is_refused_for_good_keeps_nothing_waiting_and_is_seen_by_the_drift_check() -> None:
    index = FailingIndex()
    world = world_with(index=index)
    world.turn(content="I live in Oslo.")
    index.outcomes = [NotIndexed("refused", retryable=False)]
    assert run(world) == 0
    assert world.plan()["sent"] == 0
    assert drift(world)["pointers_without_document"] == 1
    assert drift(world, repair=True)["repaired"] == 1
    assert NO_DRIFT.items() <= drift(world).items()


def test_a_worker_that_remembers_an_index_that_a_reindex_replaced_asks_anew() -> None:
    index = FailingIndex()
    world = world_with(index=index)
    world.turn(content="I live in Oslo.")
    assert run(world) == 0
    world.turn(content="My sister is called Anna.")
    world.plan()
    remembered = world.runtime.learning.consolidation.learning.indexing
    assert remembered is not None
    name = remembered.current.for_writing().name
    index.create("another", world.embedder.model)
    index.switch("another")
    index.drop(name)
    assert world.work() == 1
    world.queue.release_all()
    assert world.work() == 0
    assert any(one.document_id.startswith("m.") for one in index.list_owned("ada", limit=99).documents)


@pytest.mark.parametrize("gone", ["memory#", "archive#", "summary#"])
def test_the_drift_check_removes_what_leads_to_nothing(gone: str) -> None:
    store, index = DictItemStore(), DictSearchIndex()
    world = World(store, FakeClock(), index=index)
    world.turn(content="I live in Oslo.")
    run(world)
    before = indexed(index)
    store._items = {key: one for key, one in store._items.items() if not str(key.sort).startswith(gone)}
    assert drift(world)["documents_without_truth"] == 1
    assert indexed(index) == before
    assert drift(world, repair=True)["repaired"] == 1
    assert NO_DRIFT.items() <= drift(world).items()
    assert before - indexed(index) == {
        one for one in before if one.startswith({"memory#": "m.", "archive#": "t."}.get(gone, "s."))
    }


@pytest.mark.parametrize("amiss", ["stray", "lost", "unindexed", "dead stray"])
def test_the_drift_check_counts_and_repairs(amiss: str) -> None:
    store, index = DictItemStore(), DictSearchIndex()
    world = World(store, FakeClock(), index=index)
    world.turn(content="I live in Oslo.")
    run(world)
    sound, before = drift(world), indexed(index)
    assert NO_DRIFT.items() <= sound.items()
    assert (sound["documents"], sound["pointers"]) == (len(before), len(before))
    memory = next(name for name in sorted(before) if name.startswith("m."))
    pointer = next(key for key in store._items if key.sort == memory)
    documents = next(iter(index._indexes.values())).documents
    if amiss == "dead stray":  # a document whose truth is gone
        slot = next(key for key in store._items if str(key.sort).startswith("memory#"))
        store._items = {key: one for key, one in store._items.items() if key != slot and not str(key.sort).startswith("m.")}
    if amiss in ("stray", "unindexed"):
        del store._items[pointer]
    if amiss in ("lost", "unindexed"):
        del documents[("ada", memory)]
    named = {"stray": "documents_without_pointer", "lost": "pointers_without_document", "unindexed": "memories_without_document"}
    found = drift(world)
    assert found[named[amiss.rsplit(maxsplit=1)[-1]]] >= 1
    assert drift(world)["repaired"] == 0
    assert drift(world, repair=True)["repaired"] >= 1
    assert NO_DRIFT.items() <= drift(world).items()
    assert (indexed(index) == before) is (amiss != "dead stray")


# ---- Embedder and queue


class FailingEmbedder(SmallEmbedder):
    down = False

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        if self.down:
            raise ModelUnavailableError("no vectors now")
        return super().embed(texts, purpose)


def test_without_an_embedder_words_alone_are_searched_and_sessions_wait() -> None:
    embedder = FailingEmbedder()
    world = world_with(embedder=embedder)
    world.turn(content="I live in Oslo.")
    run(world)
    embedder.down = True
    found = world.recall("Oslo").json
    assert (found["degraded"], found["reason"]) == (True, "model_unavailable")
    assert found["hits"]
    world.turn(content="My sister is called Anna.")
    assert run(world) == 1
    embedder.down = False
    assert run(world) == 0
    assert "Anna" in [value for value, _ in made(world)]
    assert NO_DRIFT.items() <= drift(world).items()


class FailingQueue(FakeWorkQueue):
    down = True

    def send(self, messages: Sequence[WorkMessage]) -> int:
        if self.down:
            raise QueueUnavailableError("no messages now")
        return super().send(messages)


def test_without_a_queue_what_is_told_is_kept_and_the_planner_finds_it_later() -> None:
    world = world_with()
    queue = FailingQueue(world.clock)
    world.queue = queue
    body = {"type": "fact", "attribute": "home", "value": "Oslo"}
    assert world.call("POST /v1/memories", body=body).status == 201
    assert world.plan()["complete"] is False
    assert world.recall("home Oslo", kinds=["memory"]).json["hits"] != []
    queue.down = False
    assert run(world) == 0
    assert drift(world)["documents"] == 1

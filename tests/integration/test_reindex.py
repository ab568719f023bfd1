"""Another embedding model, or another size of it: nothing is indexed until an admin has a new index filled, and reads go on."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Embedder, EmbeddingModel, Purpose
from keepsake.repositories.jobs import JobStatus
from tests.fakes import DictItemStore, FakeClock
from tests.world import Answer, World

ADMIN: Any = {"claims": {"cognito:groups": "keepsake-admins"}, "user": "root"}
LONG = " ".join(f"Sentence {number} tells of the harbour." for number in range(120))


class OtherEmbedder:
    """Hashing under another name, or with fewer dimensions."""

    def __init__(self, name: str, dimensions: int) -> None:
        self.model = EmbeddingModel(name, dimensions, weak_below=0.1, strong_above=0.6)
        self.embedded = 0

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        self.embedded += len(texts)
        made = HashingEmbedder().embed(texts, purpose)
        return tuple(Vector(vector.values[: self.model.dimensions]) for vector in made)


OTHERS = {"another model": ("other-384", 384), "another size": ("hashing-384", 256)}


@pytest.fixture(params=OTHERS)
def other(request: pytest.FixtureRequest) -> OtherEmbedder:
    return OtherEmbedder(*OTHERS[request.param])


@pytest.fixture
def world() -> World:
    """With data of two users and of the institution, all of it indexed."""
    world = World(DictItemStore(), FakeClock())
    for user in ("ada", "bob"):
        for number in range(25):
            world.turn("boats", f"Boat {number} of {user} is moored in Kirkwall.", user=user, turn_id=f"t{number}")
        world.turn("home", f"My sister Anna lives in Bergen. I am {user}.", user=user, turn_id="home")
        put(world, LONG, user=user)
    put(world, "The library closes at nine.", institutional=True, document_id="library", **ADMIN)
    assert world.consolidate() == 0
    return world


def put(world: World, text: str, **more: Any) -> None:
    user, claims = more.pop("user", "ada"), more.pop("claims", None)
    body = {"title": "A document", "text": text, "document_id": "d", **more}
    assert world.call("POST /v1/documents", body=body, user=user, claims=claims).status in (200, 201)


def restarted(world: World, embedder: Embedder) -> World:
    """The same stores, index and queue, another setting."""
    again = World(world.store, world.clock, index=world.index, embedder=embedder)
    again.queue = world.queue
    return again


def start(world: World, **more: Any) -> Answer:
    return world.call("POST /v1/admin/reindex", **(ADMIN | more))


def job(world: World, job_id: str, **more: Any) -> Answer:
    return world.call("GET /v1/admin/reindex/{job_id}", {"job_id": job_id}, **(ADMIN | more))


def current(world: World) -> tuple[str, str, int, int]:
    physical = world.index.current()
    assert physical
    return physical.name, physical.model.name, physical.model.dimensions, physical.documents


def found(world: World, user: str = "ada") -> dict[str, Any]:
    """What recall says of all that there is, and how it says it."""
    answers = {
        query: world.recall(query, user=user, limit=50).json for query in ("boat in Kirkwall", "sister", "harbour", "library")
    }
    texts = {query: sorted(hit["text"] for hit in answer["hits"]) for query, answer in answers.items()}
    return {"texts": texts, "how": {(answer["degraded"], answer["reason"]) for answer in answers.values()}}


def test_another_model_stops_indexing_and_not_reading_until_a_reindex(world: World, other: OtherEmbedder) -> None:
    index = current(world)
    again = restarted(world, other)
    assert again.plan() == {"sent": 0, "waiting": 0, "complete": True, "needs_reindex": True}
    reading = found(again)
    assert reading["how"] == {(True, "reindex_needed")}
    assert "Boat 7 of ada is moored in Kirkwall." in reading["texts"]["boat in Kirkwall"]
    assert "The library closes at nine." in reading["texts"]["library"]
    assert other.embedded == 0
    taken = again.turn("after", "My cat is called Minka.", turn_id="cat", recall="always")
    assert (taken.status, taken.json["recall"]["degraded"]) == (200, True)
    assert [hit["text"] for hit in again.recall("What is my cat called?", kinds=["turn"]).json["hits"]][:1] == [
        "My cat is called Minka."
    ]
    put(again, "The museum opens at ten.", document_id="museum")
    told = again.call("POST /v1/memories", body={"type": "fact", "attribute": "pet", "value": "Minka"})
    assert told.status == 201
    again.plan()
    assert again.work() == 0
    assert current(again) == index
    assert "Minka" in again.recall("Minka the pet", kinds=["memory"]).text


def test_what_is_said_is_learned_while_a_reindex_is_needed_for_longer_than_the_log_lasts(
    world: World, other: OtherEmbedder
) -> None:
    index = current(world)
    again = restarted(world, other)
    again.turn("after", "My cat is called Minka.", turn_id="cat")
    for _ in range(9):
        again.clock.advance(minutes=24 * 60)
        assert again.plan()["needs_reindex"] is True
        assert again.work() == 0
    assert [memory["value"] for memory in again.memories(attribute="pet")] == ["Minka"]
    assert again.log("after").json["turns"] == []
    assert current(again) == index
    start(again)
    again.clock.advance(minutes=1)
    assert again.work() == 0
    assert again.consolidate() == 0
    for kind, text in (("turn", "My cat is called Minka."), ("memory", "pet: Minka")):
        assert text in [hit["text"] for hit in again.recall("Minka the cat", kinds=[kind]).json["hits"]]


class Interrupting(OtherEmbedder):
    """The model of before; once, something is done before it answers."""

    def __init__(self, doing: Callable[[], object]) -> None:
        super().__init__("hashing-384", 384)
        self.model = HashingEmbedder().model
        self.doing: Callable[[], object] | None = doing

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        doing, self.doing = self.doing, None
        if doing:
            doing()
        return super().embed(texts, purpose)


@pytest.mark.parametrize("told", ["session", "outbox"])
def test_what_was_under_way_when_a_reindex_began_is_told_to_the_new_index(world: World, told: str) -> None:
    def begin() -> None:
        job_id = start(again).json["job_id"]
        found = again.runtime.learning.reindexing.run(job_id, until_ms=again.clock.now_ms() + 1)
        while found and found.status is JobStatus.RUNNING:
            found = again.runtime.learning.reindexing.run(job_id, until_ms=again.clock.now_ms())

    world.turn("other", "I play the viola.", user="eve", turn_id="viola")
    assert world.consolidate() == 0
    again = restarted(world, Interrupting(lambda: None))
    if told == "session":
        again.turn("after", "My cat is called Minka.", user="zoe", turn_id="cat")
    else:
        put(again, "Minka is a cat.", user="zoe")
        again.clock.advance(minutes=1)
    again.plan()
    assert isinstance(again.embedder, Interrupting)
    again.embedder.doing = begin
    assert again.work() >= 1
    for _ in range(4):
        again.clock.advance(minutes=16)
        again.queue.release_all()
        again.consolidate()
    hits = again.recall("Minka the cat", user="zoe", kinds=["turn", "document"]).json["hits"]
    assert ("My cat is called Minka." if told == "session" else "Minka is a cat.") in [hit["text"] for hit in hits]
    drift = again.call("POST /v1/admin/drift", body={"user_id": "zoe"}, **ADMIN).json
    assert (drift["documents"], drift["pointers_without_document"], drift["memories_without_document"]) == (
        drift["pointers"],
        0,
        0,
    )


def test_a_reindex_fills_a_new_index_and_then_everything_is_found_and_learned(world: World, other: OtherEmbedder) -> None:
    before, old = found(world), current(world)
    again = restarted(world, other)
    again.turn("after", "My cat is called Minka.", turn_id="cat")
    put(again, "The museum opens at ten.", document_id="museum")
    again.work()
    begun = start(again)
    assert (begun.status, begun.json["status"]) == (202, "running")
    assert (begun.json["from_index"], begun.json["progress"]["total"]) == (old[0], old[3])
    assert again.work() == 0
    done = job(again, begun.json["job_id"]).json
    assert (done["status"], done["progress"]) == ("complete", {"done": old[3], "total": old[3], "dropped": 0})
    assert done["completed_at"] is not None
    name, model, dimensions, documents = current(again)
    assert (model, dimensions, documents) == (other.model.name, other.model.dimensions, old[3])
    assert name == done["to_index"] != old[0]
    assert again.index.list_all(old[0], limit=10).documents == ()
    after = found(again)
    assert after["how"] == {(False, "searched")}
    for query, texts in before["texts"].items():
        assert set(texts) <= set(after["texts"][query]), query
    report = again.plan()
    assert (report["needs_reindex"], report["sent"] > 0) == (False, True)
    assert again.work() == 0
    assert [memory["value"] for memory in again.memories(attribute="pet")] == ["Minka"]
    assert again.recall("When does the museum open?", kinds=["document"]).json["hits"][0]["text"] == "The museum opens at ten."
    drift = again.call("POST /v1/admin/drift", body={"user_id": "ada"}, **ADMIN).json
    assert drift["documents"] == drift["pointers"]
    assert (drift["documents_without_pointer"], drift["pointers_without_document"], drift["memories_without_document"]) == (
        0,
        0,
        0,
    )


def test_a_rebuild_with_the_same_model_gives_the_same_answers(world: World) -> None:
    before, names = found(world), [current(world)[0]]
    for _ in range(3):
        begun = start(world)
        assert begun.status == 202
        assert world.work() == 0
        assert job(world, begun.json["job_id"]).json["status"] == "complete"
        names.append(current(world)[0])
        world.clock.advance(minutes=1)
    assert found(world) == before
    assert names[0] == names[2] != names[1] == names[3]


def test_one_runs_at_a_time_and_only_admins_may_start_or_watch_it(world: World) -> None:
    assert (start(world, user="ada", claims=None).status, start(world, claims={"scope": "admin"}).status) == (403, 403)
    begun = start(world).json["job_id"]
    refused = start(world)
    assert (refused.status, refused.json["code"]) == (409, "reindex_running")
    assert job(world, begun, user="ada", claims=None).json["code"] == "access_denied"
    assert job(world, begun).json["status"] == "running"
    assert job(world, "no-such-job").json["code"] == "job_not_found"
    world.work()
    assert start(world).status == 202


def test_what_comes_while_it_runs_waits_and_is_found(world: World) -> None:
    begun = start(world).json["job_id"]
    world.turn("after", "My cat is called Minka.", turn_id="cat")
    assert world.plan()["needs_reindex"] is True
    (hit, *_) = world.recall("What is my cat called?", kinds=["turn"]).json["hits"]
    assert hit["id"] == "cat"
    world.work()
    assert job(world, begun).json["status"] == "complete"
    assert world.consolidate() == 0
    assert world.memories(attribute="pet")[0]["value"] == "Minka"


def test_one_that_runs_out_of_time_goes_on_with_the_next_message(world: World) -> None:
    begun = start(world).json["job_id"]
    steps: list[int] = []
    while batch := world.queue.receive(1):
        assert not world.deliver(batch, 10_000)  # no more than is kept back for the last transaction
        world.queue.delete(batch[0].receipt)
        world.clock.advance(seconds=1)
        steps.append(job(world, begun).json["progress"]["done"])
        assert len(steps) < 20
    assert job(world, begun).json["status"] == "complete"
    assert steps == sorted(steps)
    assert len(steps) > 2


def test_an_abandoned_job_is_taken_up_again_by_the_planner(world: World, other: OtherEmbedder) -> None:
    again = restarted(world, other)
    begun = start(again).json["job_id"]
    (lost,) = again.queue.receive(1)
    again.queue.delete(lost.receipt)
    assert again.plan()["sent"] == 0
    again.clock.advance(minutes=11)
    assert again.plan() == {"sent": 1, "waiting": 0, "complete": True, "needs_reindex": True}
    assert again.work() == 0
    assert job(again, begun).json["status"] == "complete"
    assert found(again)["how"] == {(False, "searched")}


def test_a_job_that_nobody_worked_at_for_an_hour_may_be_started_anew_and_the_old_one_does_nothing_more(world: World) -> None:
    old = start(world).json["job_id"]
    (late,) = world.queue.receive(1)
    world.clock.advance(minutes=61)
    new = start(world)
    assert new.status == 202
    assert world.work() == 0
    index = current(world)
    assert world.deliver([late]) == frozenset()
    assert current(world) == index
    assert job(world, old).json["status"] == "running"
    assert job(world, new.json["job_id"]).json["status"] == "complete"
    assert index[3] > 0


def test_without_any_index_there_is_nothing_to_do_and_it_is_done() -> None:
    world = World(DictItemStore(), FakeClock())
    begun = start(world).json
    assert (begun["status"], begun["progress"]) == ("complete", {"done": 0, "total": 0, "dropped": 0})
    world.turn("s1", "My cat is called Minka.")
    assert world.consolidate() == 0
    assert world.recall("cat").json["degraded"] is False


def test_what_has_no_truth_any_more_is_left_behind_and_counted(world: World) -> None:
    world.clock.advance(minutes=370 * 24 * 60)  # the archive is kept for a year
    begun = start(world).json["job_id"]
    assert world.work() == 0
    progress = job(world, begun).json["progress"]
    assert progress["dropped"] >= 50
    assert current(world)[3] == progress["done"] - progress["dropped"]


def test_no_word_of_a_user_stands_in_a_job(world: World) -> None:
    begun = start(world)
    world.work()
    for answer in (begun, job(world, begun.json["job_id"])):
        assert not any(word in answer.text for word in ("ada", "bob", "boats", "Kirkwall"))

"""A worker or planner that dies at any single call leaves nothing that the next one would not bring to the same end.

Nor does it matter how often, and in which order, its messages come.
"""

from collections.abc import Callable
from random import Random

import pytest

from keepsake.ports.language_model import ModelAnswer, ModelTask
from tests.model_answers import answer_text, item
from tests.processes import KilledError, Life, Machine, SmallEmbedder, difference
from tests.world import World, in_path

Scene = Callable[[], Machine]
ADMIN = {"cognito:groups": "[keepsake-admins]"}
LONG = "The garden is watered in the evening, and never at noon.\n\n" * 60


def say(world: World, session: str, *texts: str, **more: object) -> None:
    for text in texts:
        world.clock.advance(seconds=20)
        assert world.turn(session, text, **more).status == 200


def a_long_and_a_short_session() -> Machine:
    """One user's; more turns than a page has, and what supersedes, corrects and ends."""
    machine = Machine()
    world = machine.process()
    say(world, "s1", "I live in Oslo.", "My sister is called Anna.", "I love jazz.", user="user1")
    for number in range(30):
        say(world, "s1", f"Noted {number}.", user="user1", role="assistant")
    say(world, "s1", "I moved to Lima.", user="user1")
    say(
        world,
        "s2",
        "No, my sister is called Berta, not Anna.",
        "I moved to Rome.",
        "I don't like jazz anymore.",
        "I study diabetes.",
        user="user1",
    )
    return machine


def two_users_whose_ids_begin_alike() -> Machine:
    machine = Machine()
    world = machine.process()
    say(world, "s1", "I live in Oslo.", "My sister is called Anna.", "I study asthma.", user="user1")
    say(world, "s2", "I live in Rome.", "My brother is called Bob.", user="user1")
    say(world, "s1", "I live in Lima.", user="user10")
    return machine


def a_page_of_more_than_one_transaction() -> Machine:
    machine = Machine()
    world = machine.process()
    for number in range(16):
        say(world, "s1", f"I love game{number}a, game{number}b and game{number}c.")
    return machine


def what_was_told_forgotten_and_replaced() -> Machine:
    """An outbox: tells, a correction, something forgotten after it was indexed, a document that became shorter, another gone."""
    machine = Machine()
    world = machine.process()
    memories = [tell(world, "likes", value) for value in ("tea", "chess")]
    put(world, "d1", LONG)
    put(world, "d2", LONG)
    world.work()
    machine.clock.advance(minutes=10)
    tell(world, "home", "Oslo")
    tell(world, "home", "Rome")
    path = {"memory_id": in_path(memories[0])}
    assert world.call("PATCH /v1/memories/{memory_id}", path, {"value": "green tea"}).status == 200
    path = {"memory_id": in_path(memories[1])}
    assert world.call("DELETE /v1/memories/{memory_id}", path).status == 204
    put(world, "d1", "The garden is watered in the evening.")
    assert world.call("DELETE /v1/documents/{document_id}", {"document_id": "d2"}).status == 204
    machine.queue.release_all()
    return machine


def tell(world: World, attribute: str, value: str) -> str:
    answer = world.call("POST /v1/memories", body={"type": "fact", "attribute": attribute, "value": value})
    assert answer.status == 201
    return str(answer.json["memory_id"])


def put(world: World, name: str, text: str) -> None:
    assert world.call("POST /v1/documents", body={"document_id": name, "title": "Garden", "text": text}).status in (200, 201)


class TownModel:
    """A model that knows what it reads of towns, and takes each for the end of the one before."""

    def answer(self, task: ModelTask) -> ModelAnswer:
        items = []
        for number in (1, 2, 3, 4):
            for town in ("Oslo", "Rome", "Lima"):
                line = next((line for line in task.prompt.data.splitlines() if line.startswith(f"[{number}] 2")), "")
                if f"now {town}" in line:
                    items.append(item("facts", line.split("User: ")[1], turn=number, attribute="home", value=town, replaces=[1]))
        return ModelAnswer(answer_text(*items), cut=False, refused=False, input_tokens=9, output_tokens=9, model="towns")


def what_a_model_reads() -> Machine:
    machine = Machine(model=TownModel())
    world = machine.process()
    say(world, "s1", "It is now Oslo that I call home.", "Good to know, is it not?")
    say(world, "s2", "And now Rome it is.", "What a day.")
    return machine


def a_new_embedding_model() -> Machine:
    """A reindex under way, with one session that waits for it."""
    machine = Machine()
    world = machine.process()
    say(world, "s1", "I live in Oslo.", "My sister is called Anna.")
    put(world, "d1", 15 * LONG)
    machine.settled()
    machine.embedder = SmallEmbedder("other", 6)
    world = machine.process()
    say(world, "s3", "I live in Lima.", user="user10")
    assert world.call("POST /v1/admin/reindex", body={}, claims=ADMIN).status == 202
    return machine


def work(world: World) -> None:
    world.plan()
    world.work()


def deaths(life: Life) -> list[tuple[int, str]]:
    """All moments that the outside can tell apart: after one call took effect is before the next one did."""
    return [(0, "before"), *((at, "after") for at in range(life.calls))]


def failed_ends(scene: Scene) -> tuple[list[object], list[str]]:
    """Kills at each call of planning and working, both ways; what then ended otherwise, and the calls."""
    machine = scene()
    machine.clock.advance(minutes=61)
    undisturbed, life = machine.copied(), Life()
    work(undisturbed.process(life))
    undisturbed.settled()
    expected = undisturbed.hash()
    failed: list[object] = []
    for at, when in deaths(life):
        other = machine.copied()
        with pytest.raises(KilledError):
            work(other.process(Life(at, when)))
        assert other.strays() == []
        other.settled()
        if other.hash() != expected:
            failed.append((at, when, life.names[at], difference(undisturbed, other)))
    return failed, life.names


SCENES = {
    a_long_and_a_short_session: {"get_many", "query", "query_index", "transact", "send", "current", "put", "embed"},
    two_users_whose_ids_begin_alike: {"get_many", "query", "query_index", "transact", "send", "put", "embed"},
    a_page_of_more_than_one_transaction: {"get_many", "transact", "put", "embed"},
    what_was_told_forgotten_and_replaced: {"get_many", "query", "transact", "send", "put", "delete", "embed"},
    what_a_model_reads: {"get_many", "transact", "put", "embed", "answer"},
    a_new_embedding_model: {"get_many", "transact", "put", "embed", "list_all", "switch", "drop"},
}


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_work_killed_at_any_call_ends_as_if_it_had_not_been(scene: Scene) -> None:
    failed, calls = failed_ends(scene)
    assert failed == []
    assert SCENES[scene] <= {name.rpartition(".")[2] for name in calls}
    assert 30 < len(calls) < 150


@pytest.mark.parametrize("scene", list(SCENES)[1:5], ids=lambda scene: scene.__name__)
def test_work_of_which_any_call_fails_ends_as_if_it_had_not(scene: Scene) -> None:
    """Other than after a death, the same process goes on with what it knows, right or wrong."""
    machine = scene()
    machine.clock.advance(minutes=61)
    undisturbed, life = machine.copied(), Life()
    work(undisturbed.process(life))
    undisturbed.settled()
    for at, name in enumerate(life.names):
        if "transact" in name or "put" in name:
            other = machine.copied()
            work(other.process(Life(at, "after", spared=True)))
            other.settled()
            assert difference(undisturbed, other) == {}, (at, name)


@pytest.mark.parametrize("scene", list(SCENES)[:4], ids=lambda scene: scene.__name__)
def test_messages_may_come_three_times_in_any_order_and_stale(scene: Scene) -> None:
    machine = scene()
    machine.clock.advance(minutes=61)
    undisturbed = machine.copied()
    undisturbed.settled()
    for seed in range(8):
        other, chance = machine.copied(), Random(seed)
        world = other.process()
        world.plan()
        messages = 3 * [*other.queue.receive(100)]
        chance.shuffle(messages)
        for place, message in enumerate(messages):
            world.deliver([message])
            if place % 3 == 0:
                world.plan()  # newer messages, so that those that follow are stale
                messages += other.queue.receive(100)
        other.settled()
        assert difference(undisturbed, other) == {}, seed


def test_what_was_said_is_found_at_every_moment_of_its_consolidation() -> None:
    machine = Machine()
    world = machine.process()
    say(world, "s1", "The parcel is in locker 4711.", "I live in Oslo.")
    machine.clock.advance(minutes=61)
    life = Life()
    work(machine.copied().process(life))
    for at, when in deaths(life):
        other = machine.copied()
        with pytest.raises(KilledError):
            work(other.process(Life(at, when)))
        hits = other.process().recall("Which locker is the parcel in?").json["hits"]
        assert "The parcel is in locker 4711." in [hit["text"] for hit in hits if hit["kind"] == "turn"], (at, when)

from dataclasses import replace

import pytest

from keepsake.api.scheduled import RunFailedError
from keepsake.ports.item_store import Put
from keepsake.repositories.keys import Keys
from tests.world import World


def test_consolidation_folds_what_was_said_into_the_profile(world: World) -> None:
    for text in ("I study diabetes.", "Just give me the SQL for the diabetes cohort.", "And cardiovascular outcomes?"):
        world.turn(content=text)
    assert world.consolidate() == 0
    profile = world.call("GET /v1/profile").json
    assert "diabetes" in [interest["name"] for interest in profile["interests"]]
    world.clock.advance(minutes=60)
    text = world.turn("s2", "Hello again").json["context"]["text"]
    assert "## User History\n" in text
    assert "Research interests: diabetes" in text
    assert "terse" in text
    assert "Welcome back" in text


def test_consolidating_again_changes_nothing(world: World) -> None:
    world.turn(content="I study diabetes.")
    world.consolidate()
    once = world.call("GET /v1/profile").json
    assert world.plan() == {"sent": 0, "waiting": 0, "complete": True, "needs_reindex": False}
    assert world.work() == 0
    assert world.call("GET /v1/profile").json == once


def test_only_turns_since_the_last_run_are_folded_in(world: World) -> None:
    world.turn(content="I study diabetes.")
    world.consolidate()
    once = weights(world)
    world.turn(content="I study asthma.")
    world.consolidate()
    assert weights(world)["diabetes"] == once["diabetes"]
    assert set(weights(world)) > set(once)


def weights(world: World) -> dict[str, float]:
    return {interest["name"]: interest["weight"] for interest in world.call("GET /v1/profile").json["interests"]}


def test_what_the_assistant_and_tools_said_is_not_learned(world: World) -> None:
    world.turn(role="assistant", content="I study diabetes.")
    world.turn(role="tool", content="diabetes diabetes diabetes")
    world.consolidate()
    assert world.call("GET /v1/profile").json["interests"] == []


def test_restricted_turns_are_not_learned(world: World) -> None:
    world.turn(content="I study diabetes.", clearance=1, claims={"clearance": "1"})
    world.consolidate()
    assert world.call("GET /v1/profile").json["interests"] == []


def test_a_profile_is_edited_and_reset_by_its_owner(world: World) -> None:
    edited = world.call("PUT /v1/profile", body={"interests": [{"name": "oncology"}], "version": 0})
    assert edited.status == 200
    assert [interest["name"] for interest in edited.json["interests"]] == ["oncology"]
    assert world.call("GET /v1/profile").json == edited.json
    stale = world.call("PUT /v1/profile", body={"interests": [], "version": 0})
    assert (stale.status, stale.json["code"]) == (409, "stale_version")
    reset = world.call("POST /v1/profile/reset")
    assert (reset.status, reset.json["interests"]) == (200, [])
    assert world.call("GET /v1/profile", user="bob").json["interests"] == []


def test_a_run_that_is_out_of_time_leaves_the_rest_pending(world: World) -> None:
    world.turn(content="I study diabetes.")
    assert world.plan(remaining_ms=0) == {"sent": 0, "waiting": 0, "complete": False, "needs_reindex": False}
    world.plan()
    assert world.work(remaining_ms=0) == 0  # begun and not done: no failure of the message
    assert world.call("GET /v1/profile").json["interests"] == []
    world.clock.advance(minutes=6)
    world.consolidate()
    assert world.call("GET /v1/profile").json["interests"] != []


@pytest.mark.parametrize("everything", [True, False])
def test_a_session_that_cannot_be_read_keeps_no_other_waiting_and_is_not_passed_over(world: World, everything: bool) -> None:
    for user in ("ada", "bob", "cyd"):
        world.turn(content="I study diabetes.", user=user)
    header = Keys("bob", world.runtime.keyed).header("s1")
    broken = world.store.get_many([header])[header]
    world.store.transact([Put(replace(broken, attributes={**broken.attributes, "watermark": "junk"}))])
    world.clock.advance(minutes=60)
    assert world.plan(everything=everything)["sent"] == 3
    assert world.work() == 1
    learned = {user: bool(world.call("GET /v1/profile", user=user).json["interests"]) for user in ("ada", "bob", "cyd")}
    assert learned == {"ada": True, "bob": False, "cyd": True}


def test_a_run_that_breaks_tells_its_kind_and_place_and_no_words(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.turn(content="canary words")
    with pytest.raises(RunFailedError) as failed:
        world.plan(remaining_ms="canary")  # type: ignore[arg-type]
    assert str(failed.value).startswith("TypeError at ")
    assert failed.value.__cause__ is None
    assert "canary" not in str(failed.value) + capsys.readouterr().out


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
def test_long_sessions_are_folded_page_by_page(world: World) -> None:
    for number in range(230):
        world.turn(content=f"diabetes number {number}")
    world.plan()
    assert (len(world.queue.sent), world.work()) == (1, 0)
    assert world.plan() == {"sent": 0, "waiting": 0, "complete": True, "needs_reindex": False}
    assert weights(world)["diabetes"] > 100

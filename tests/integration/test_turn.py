import json
from random import Random
from time import process_time

import pytest

from keepsake.domain.turns import MAX_TURN_BYTES
from keepsake.ports.item_store import Item, Put
from keepsake.repositories.keys import Keys
from tests.world import World


def contents(answer_json: dict[str, list[dict[str, str]]]) -> list[str]:
    return [turn["content"] for turn in answer_json["turns"]]


def test_a_turn_is_written_down_and_the_next_one_knows_it(world: World) -> None:
    first = world.turn(content="I study diabetes in Hamburg.")
    assert first.status == 200
    assert first.json["session"] == {
        "session_id": "s1",
        "is_new": True,
        "previous_expired": False,
        "turn_count": 1,
        "expires_at": first.json["session"]["expires_at"],
    }
    assert "Hamburg" not in first.json["context"]["text"]
    second = world.turn(content="What about metformin?")
    assert second.json["session"]["is_new"] is False
    assert "User: I study diabetes in Hamburg.\n" in second.json["context"]["text"]
    assert "metformin?" not in second.json["context"]["text"]
    assert "Active conversation topics: diabetes, metformin" in second.json["context"]["text"]
    assert second.json["topics"] == ["diabetes", "metformin"]


def test_log_and_buffer_hold_every_turn_in_order(world: World) -> None:
    said = [f"message number {number}" for number in range(12)]
    for text in said:
        assert world.turn(content=text).status == 200
    assert contents(world.session().json) == said
    assert contents(world.log().json) == said


def test_turns_within_a_millisecond_keep_their_order(world: World) -> None:
    places = [world.turn(content=f"number {number}").json["turn"]["timestamp_ms"] for number in range(5)]
    assert places == sorted(set(places))


def test_a_clock_that_goes_back_does_not_reorder_the_log(world: World) -> None:
    world.turn(content="first")
    world.clock.advance(minutes=-5)
    world.turn(content="second")
    assert contents(world.log().json) == ["first", "second"]


def test_a_turn_id_repeated_gives_the_first_answers_ids_and_writes_nothing(world: World) -> None:
    first = world.turn(turn_id="t/1", content="once")
    again = world.turn(turn_id="t/1", content="once")
    assert again.status == 200
    assert again.json["turn"] == {**first.json["turn"], "replayed": True}
    assert first.json["turn"]["replayed"] is False
    assert contents(world.log().json) == ["once"]


def test_a_turn_id_reused_for_other_content_is_refused(world: World) -> None:
    world.turn(turn_id="t1", content="once")
    again = world.turn(turn_id="t1", content="something else")
    assert (again.status, again.json["code"]) == (409, "turn_id_reused")
    assert contents(world.log().json) == ["once"]


def test_a_turn_id_may_be_used_in_another_session_and_by_another_user(world: World) -> None:
    world.turn("s1", turn_id="t1", content="one")
    assert world.turn("s2", turn_id="t1", content="two").json["turn"]["replayed"] is False
    assert world.turn("s1", turn_id="t1", content="three", user="bob").json["turn"]["replayed"] is False


def test_a_marker_past_its_time_no_longer_counts_even_while_the_store_holds_it(world: World) -> None:
    world.turn(turn_id="t1", content="once")
    world.clock.advance(minutes=7 * 24 * 60)
    again = world.turn(turn_id="t1", content="other words")
    assert (again.status, again.json["turn"]["replayed"]) == (200, False)


def test_a_turn_id_from_before_an_erasure_can_be_used_again_while_its_marker_is_still_there(world: World) -> None:
    world.turn(turn_id="t1", content="once")
    fence = Keys("ada", world.runtime.keyed).fence()
    world.store.transact([Put(Item(fence, {"epoch": 1, "revision": 1}))])
    again = world.turn(turn_id="t1", content="other words")
    assert (again.status, again.json["turn"]["replayed"]) == (200, False)
    assert contents(world.log().json) == ["other words"]


def test_the_year_1970_is_a_time_like_any_other(world: World) -> None:
    world.turn(turn_id="t1", content="once", occurred_at="1970-01-01T00:00:00Z")
    assert world.log().json["turns"][0]["occurred_at"] == "1970-01-01T00:00:00Z"
    assert world.turn(turn_id="t1", content="once").json["code"] == "turn_id_reused"


@pytest.mark.parametrize("letters", ["".join(map(chr, range(1, 32))), '"\\', "".join(map(chr, range(1, 127))), "漢字かな"])
def test_the_largest_call_result_and_scratch_pad_of_hardly_compressible_text_fit_together(world: World, letters: str) -> None:
    dice = Random(7)

    def text(size: int) -> str:
        drawn = "".join(dice.choices(letters, k=size))
        return drawn.encode()[:size].decode(errors="ignore")

    world.turn()
    for name in ("a", "b"):
        assert world.artifact("PUT", name, {"content": text(32 * 1024)}).status == 200
    call, result = "call" + text(MAX_TURN_BYTES - 4), "result" + text(MAX_TURN_BYTES - 6)
    for number in range(26):
        world.turn(content=f"turn {number} " + text(400), name="x" + "🙂" * 100)
    assert world.turn(role="assistant", content=call).status == 200
    assert world.turn(role="tool", content=result).status == 200
    assert contents(world.log(query={"limit": "200"}).json)[-1] == result or world.log().json["next"]
    assert contents(world.session().json)[-1] == result
    assert world.turn().status == 200


def test_a_page_of_the_log_fits_what_a_function_may_return(world: World) -> None:
    for _ in range(20):
        world.turn(content="x" + "\x01" * 50_000)
    read, position = 0, None
    while True:
        page = world.log(query={"limit": "200"} | ({"next": position} if position else {}))
        assert len(json.dumps({"body": page.text}).encode()) < 6_000_000
        read, position = read + len(page.json["turns"]), page.json["next"]
        if position is None:
            break
    assert read == 20


def test_long_items_are_compared_in_no_time(world: World) -> None:
    text = "".join(chr(0x4E00 + number % 20_000) for number in range(100_000))
    items = [
        {"tier": "domain", "text": text, "score": 2},
        {"tier": "domain", "text": text},
        {"tier": "domain", "text": text + "x"},
    ]
    began = process_time()
    context = world.turn(context_items=items, budget=2_000_000).json["context"]
    assert process_time() - began < 5
    assert [(entry["ref"], entry["reason"]) for entry in context["excluded"]] == [("item:1", "duplicate")]


def test_an_idle_session_starts_new_and_says_so_while_the_store_still_holds_its_buffer(world: World) -> None:
    world.turn(content="before the break")
    world.clock.advance(minutes=45)
    assert world.session().json["code"] == "session_expired"
    after = world.turn(content="after the break")
    assert after.json["session"]["is_new"] is True
    assert after.json["session"]["previous_expired"] is True
    assert after.json["session"]["turn_count"] == 1
    assert "before the break" not in after.json["context"]["text"]
    assert contents(world.session().json) == ["after the break"]
    assert contents(world.log().json) == ["before the break", "after the break"]


def test_every_write_slides_the_expiry(world: World) -> None:
    for _ in range(5):
        world.turn()
        world.clock.advance(minutes=44)
    world.artifact("PUT", body={"content": "SELECT 1"})
    world.clock.advance(minutes=44)
    assert world.turn().json["session"]["is_new"] is False


def test_a_turn_leaves_the_log_after_seven_days_from_arrival_also_when_it_was_said_years_ago(world: World) -> None:
    world.turn(content="said in 2023", occurred_at="2023-05-08T13:56:00Z")
    world.clock.advance(minutes=7 * 24 * 60 - 1)
    assert world.log().json["turns"][0]["occurred_at"] == "2023-05-08T13:56:00Z"
    world.clock.advance(minutes=1)
    assert world.log().json["turns"] == []


def test_an_assistants_reply_and_a_tools_result_are_turns(world: World) -> None:
    world.turn(turn_id="q")
    world.turn(
        role="assistant", content=[{"type": "text", "text": "Let me look."}, {"type": "tool_use", "id": "x"}], in_reply_to="q"
    )
    world.turn(role="tool", name="sql", content="3 rows")
    turns = world.session().json["turns"]
    assert [turn["role"] for turn in turns] == ["user", "assistant", "tool"]
    assert turns[1]["content"] == "Let me look.\n[tool_use]"
    assert turns[1]["in_reply_to"] == "q"
    assert turns[2]["name"] == "sql"


def test_a_log_is_read_in_pages(world: World) -> None:
    for number in range(7):
        world.turn(content=f"number {number}")
    read, position = [], None
    while True:
        page = world.log(query={"limit": "3"} | ({"next": position} if position else {})).json
        read += contents(page)
        position = page["next"]
        if position is None:
            break
    assert read == [f"number {number}" for number in range(7)]


def test_sessions_are_listed_in_pages(world: World) -> None:
    names = ["a", "b#1", "b", "ผู้", "z/ z"]
    for name in names:
        world.turn(name)
    listed, position = [], None
    while True:
        page = world.call("GET /v1/sessions", query={"limit": "2"} | ({"next": position} if position else {})).json
        listed += [session["session_id"] for session in page["sessions"]]
        position = page["next"]
        if position is None:
            break
    assert sorted(listed) == sorted(names)


def test_a_turn_above_the_readers_clearance_is_nowhere_to_be_seen(world: World) -> None:
    high = {"clearance": "3", "compartments": "alpha beta"}
    world.turn(content="open words", turn_id="t1")
    world.turn(content="secret words", clearance={"level": 2, "compartments": ["alpha"]}, claims=high)
    for claims in ({}, {"clearance": "1", "compartments": "alpha"}, {"clearance": "3"}):
        assert contents(world.session(claims=claims).json) == ["open words"]
        assert contents(world.log(claims=claims).json) == ["open words"]
        assert "secret" not in world.turn("s1", "open words", turn_id="t1", claims=claims).json["context"]["text"]
    assert "secret words" in contents(world.session(claims=high).json)
    assert "secret words" in world.turn(content="and now?", claims=high).json["context"]["text"]


def test_nobody_writes_above_their_own_clearance(world: World) -> None:
    refused = world.turn(clearance=2, claims={"clearance": "1"})
    assert (refused.status, refused.json["code"]) == (403, "clearance_exceeded")
    assert world.log().status == 404


def test_safety_critical_items_that_do_not_fit_refuse_the_turn_before_anything_is_written(world: World) -> None:
    items = [{"tier": "live", "text": "never drop this " * 400, "safety_critical": True}]
    refused = world.turn(context_items=items, budget=300)
    assert (refused.status, refused.json["code"]) == (422, "safety_minimum_too_large")
    assert world.log().status == 404


def test_an_unknown_model_profile_and_a_reply_without_a_model_are_refused(world: World) -> None:
    assert world.turn(model_profile="nobody").json["code"] == "unknown_model_profile"
    assert world.turn(mode="reply").json["code"] == "model_not_configured"
    assert world.log().status == 404


def test_recall_is_asked_for_and_says_why_it_did_not_run(world: World) -> None:
    assert world.turn().json["recall"]["ran"] is False
    assert world.turn(recall="always").json["recall"] == {"ran": True, "reason": "asked_by_caller", "degraded": False, "hits": []}
    assert world.turn(recall="never").json["recall"]["reason"] == "declined_by_caller"


def test_a_message_larger_than_the_budget_is_written_and_gets_an_empty_context(world: World) -> None:
    world.turn(content="before")
    answer = world.turn(content="word " * 12_000)
    assert answer.status == 200
    assert answer.json["context"]["text"] == ""
    assert len(contents(world.log().json)) == 2

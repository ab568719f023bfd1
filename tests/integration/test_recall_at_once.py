"""What was just said, what is over, and what is yet to come: recall and contexts before consolidation, and after expiry."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fakes import DictItemStore, FakeClock
from tests.world import World


@pytest.fixture
def world() -> World:
    return World(DictItemStore(), FakeClock())


def texts(found: Any) -> list[str]:
    return [hit["text"] for hit in found["hits"]]


def test_what_do_you_know_about_me_tells_what_was_said_a_moment_ago_in_another_session(world: World) -> None:
    world.turn("one", "My name is Jane and I live in Oslo.")
    world.turn("one", "How are you today, my dear friend?")
    world.turn("one", "I am fine, thank you very much for asking.", role="assistant")
    world.clock.advance(minutes=2)
    assert texts(world.recall("What do you know about me?").json) == ["My name is Jane and I live in Oslo."]
    assert texts(world.turn("two", "What do you know about me?").json["recall"]) == ["My name is Jane and I live in Oslo."]


def test_a_session_that_waits_is_read_beside_many_others(world: World) -> None:
    world.turn("first", "My dog is called Bello.")
    for number in range(20):
        world.turn(f"other {number}", "The weather is rather fine today.")
    found = world.recall("What is my dog called?").json
    assert "My dog is called Bello." in texts(found)
    assert found["degraded"] is False


@pytest.mark.parametrize(("turns", "whole"), [(140, True), (160, False)])
def test_where_more_waits_than_is_read_the_answer_says_so(world: World, turns: int, whole: bool) -> None:
    world.turn("long", "My dog is called Bello.")
    for number in range(turns):
        world.turn("long", f"The weather of day {number} is fine.")
    found = world.recall("What is my dog called?", kinds=["turn"]).json
    assert ("My dog is called Bello." in texts(found)) is whole
    assert found["degraded"] is not whole


def test_what_asks_the_same_answers_nothing(world: World) -> None:
    world.turn("one", "I live in Oslo.")
    for session in ("two", "three"):
        world.turn(session, "Where do I live?")
    assert texts(world.recall("Where do I live?", kinds=["turn"]).json) == ["I live in Oslo."]


def test_a_memory_past_its_time_leaves_contexts_as_it_leaves_lists(world: World) -> None:
    body = {"type": "preference", "attribute": "likes", "value": "sailing"}
    world.call("POST /v1/memories", body=body)
    assert "likes: sailing" in world.turn("one", "Good morning.").json["context"]["text"]
    world.clock.advance(minutes=1826 * 24 * 60)
    assert world.memories() == []
    assert "sailing" not in world.turn("two", "Good morning.").json["context"]["text"]
    assert texts(world.recall("What do you know about me?").json) == []


def test_a_document_of_later_is_not_known_on_a_past_day(world: World) -> None:
    body = {"title": "Garden", "text": "The roses are watered at dawn.", "occurred_at": "2026-03-01T00:00:00Z"}
    world.call("POST /v1/documents", body=body)
    world.work()
    assert texts(world.recall("When are the roses watered?").json) == ["The roses are watered at dawn."]
    assert texts(world.recall("When are the roses watered?", as_of="2026-02-01T00:00:00Z").json) == []


def test_questions_that_were_asked_before_do_not_stand_before_their_answer(world: World) -> None:
    world.turn("one", "I live in Oslo.")
    for session in ("two", "three", "four"):
        world.turn(session, "Where do I live?")
    world.consolidate()
    found = world.recall("Where do I live?").json
    assert {"I live in Oslo.", "home: Oslo"} <= set(texts(found)[:3])
    assert not [text for text in texts(found)[:3] if text.endswith("?")]


def test_what_a_question_about_oneself_names_comes_first(world: World) -> None:
    for value in ("sailing", "opera", "cilantro"):
        world.call("POST /v1/memories", body={"type": "preference", "attribute": "likes", "value": value})
    assert texts(world.recall("Do I like cilantro?").json)[0] == "likes: cilantro"
    assert texts(world.turn("one", "Do I like cilantro?").json["recall"])[0] == "likes: cilantro"

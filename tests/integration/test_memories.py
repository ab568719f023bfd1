"""Memories through their handlers: told, listed, read, corrected, confirmed, denied and forgotten by their owner alone."""

from collections.abc import Mapping
from typing import Any

import pytest

from tests.world import Answer, World, in_path

on_sqlite = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
Memory = dict[str, Any]


def told(world: World, attribute: str = "home", value: str = "Oslo", **more: Any) -> Memory:
    user, claims = more.pop("user", "ada"), more.pop("claims", None)
    body = {"type": "fact", "attribute": attribute, "value": value, **more}
    answer = world.call("POST /v1/memories", body=body, user=user, claims=claims)
    assert answer.status == 201, answer.text
    memory: Memory = answer.json
    return memory


def one(world: World, memory: Memory | str, call: str = "GET", body: object = None, **more: Any) -> Answer:
    """A call on one memory: a method, with what stands after the id."""
    method, _, rest = call.partition(" ")
    memory_id = memory if isinstance(memory, str) else memory["memory_id"]
    return world.call(f"{method} /v1/memories/{{memory_id}}{rest}", {"memory_id": in_path(memory_id)}, body, **more)


def values(memories: list[Memory]) -> list[str]:
    return [memory["value"] for memory in memories]


def history_of(world: World, memory: Memory, **more: Any) -> list[Memory]:
    found: list[Memory] = one(world, memory, "GET /history", **more).json["memories"]
    return found


def all_pages(world: World, limit: int, **query: str) -> list[list[Memory]]:
    pages: list[list[Memory]] = []
    after: Mapping[str, str] = {}
    while True:
        page = world.call("GET /v1/memories", query={"limit": str(limit), **query, **after}).json
        pages.append(page["memories"])
        if page["next"] is None:
            return pages
        after = {"next": page["next"]}


# ---- Telling, reading, listing


def test_what_is_told_is_read_and_listed_as_it_was_told(world: World) -> None:
    memory = told(world, "sister", "Anna", type="relationship", text="Anna is my sister.", valid_from="1990-05-01T00:00:00Z")
    assert memory == one(world, memory).json
    assert world.memories() == [memory]
    expected = {
        "type": "relationship",
        "subject": "user",
        "attribute": "sister",
        "value": "Anna",
        "text": "Anna is my sister.",
        "valid_from": "1990-05-01T00:00:00Z",
        "valid_to": None,
        "recorded_at": "2026-09-21T14:13:20Z",
        "made_by": "user",
        "confirmed": True,
        "denied": False,
        "superseded_by": None,
        "reference_count": 1,
    }
    assert expected.items() <= memory.items()
    assert memory["sources"][0]["type"] == "explicit"
    assert memory["confidence"] > 0.9


@on_sqlite
@pytest.mark.parametrize("source", ["explicit", "story", "recording"])
def test_a_memory_says_what_it_was_told_from(world: World, source: str) -> None:
    assert told(world, source=source)["sources"][0]["type"] == source


@on_sqlite
def test_telling_the_same_twice_counts_and_does_not_double(world: World) -> None:
    first = told(world)
    world.clock.advance(minutes=1)
    again = told(world, value="oslo ")
    assert again["memory_id"] == first["memory_id"]
    assert again["reference_count"] == 2
    assert len(world.memories(past="true")) == 1


def test_a_newer_home_takes_the_place_of_the_older_one_and_both_stand_in_the_history(world: World) -> None:
    told(world, value="Oslo", valid_from="2026-01-10T00:00:00Z")
    world.clock.advance(minutes=1)
    rome = told(world, value="Rome", valid_from="2026-03-05T00:00:00Z")
    assert values(world.memories()) == ["Rome"]
    oslo, latest = history_of(world, rome)
    assert latest == rome
    assert (oslo["value"], oslo["valid_from"], oslo["valid_to"]) == ("Oslo", "2026-01-10T00:00:00Z", "2026-03-05T00:00:00Z")
    assert oslo["superseded_by"] == rome["memory_id"]
    assert one(world, oslo).json == oslo
    assert history_of(world, oslo) == [oslo, latest]
    assert [source["occurred_at"] for memory in (oslo, latest) for source in memory["sources"]] == [
        "2026-09-21T14:13:20Z",
        "2026-09-21T14:14:20Z",
    ]


@on_sqlite
def test_a_past_day_or_time_is_answered_for_as_it_was_then(world: World) -> None:
    told(world, value="Oslo", valid_from="2026-01-10T00:00:00Z")
    world.clock.advance(minutes=1)
    told(world, value="Rome", valid_from="2026-03-05T12:00:00Z")
    expected = {
        "2026-01-09": [],
        "2026-01-10": ["Oslo"],
        "2026-02-01": ["Oslo"],
        "2026-03-05T11:59:59Z": ["Oslo"],
        "2026-03-05T12:00:00Z": ["Rome"],
        "2026-03-05T12:00:00+02:00": ["Oslo"],
        "2026-03-05T13:30:00 01:00": ["Rome"],
        "2026-03-05": ["Rome"],
        "2031-01-01": ["Rome"],
    }
    assert {as_of: values(world.memories(as_of=as_of)) for as_of in expected} == expected


@on_sqlite
def test_an_attribute_of_many_values_keeps_all_of_them(world: World) -> None:
    for value in ("tea", "coffee", "milk"):
        told(world, "likes", value, type="preference")
    assert sorted(values(world.memories())) == ["coffee", "milk", "tea"]


@on_sqlite
def test_a_memory_that_is_over_is_listed_only_among_the_past(world: World) -> None:
    told(world, "employer", "Acme", valid_from="2020-01-01T00:00:00Z", valid_to="2022-01-01T00:00:00Z")
    assert world.memories() == []
    assert values(world.memories(past="true")) == ["Acme"]
    assert values(world.memories(as_of="2021-06-01")) == ["Acme"]


@on_sqlite
def test_each_filter_and_all_of_them_together(world: World) -> None:
    told(world, "home", "Oslo")
    told(world, "home", "Bergen", subject="Anna")
    told(world, "likes", "tea", type="preference")
    told(world, "likes", "snow", type="preference", subject="Anna")
    assert sorted(values(world.memories(type="preference"))) == ["snow", "tea"]
    assert sorted(values(world.memories(subject="anna"))) == ["Bergen", "snow"]
    assert values(world.memories(subject="user", attribute="home")) == ["Oslo"]
    assert values(world.memories(type="preference", subject="Anna", attribute="likes")) == ["snow"]
    assert world.memories(type="theme") == world.memories(subject="Bob") == world.memories(attribute="age") == []


@on_sqlite
def test_an_attribute_is_asked_for_by_each_of_its_names(world: World) -> None:
    told(world, "lives in", "Oslo")
    assert [memory["attribute"] for memory in world.memories()] == ["home"]
    for name in ("home", "residence", "lives_in", "lives in"):
        assert values(world.memories(attribute=name)) == ["Oslo"], name


@on_sqlite
@pytest.mark.parametrize("limit", [1, 2, 7, 200])
def test_many_memories_come_in_pages_each_once(world: World, limit: int) -> None:
    wanted = [f"thing {number}" for number in range(23)]
    for value in wanted:
        told(world, "owns", value)
    pages = all_pages(world, limit)
    assert sorted(value for page in pages for value in values(page)) == sorted(wanted)
    assert all(len(page) <= limit for page in pages)


@on_sqlite
@pytest.mark.parametrize("limit", [1, 2, 3])
def test_a_page_has_no_more_than_its_limit_though_one_thing_has_a_long_history(world: World, limit: int) -> None:
    cities = ["Oslo", "Rome", "Paris", "Lima", "Quito"]
    for city in cities:
        world.clock.advance(minutes=1)
        told(world, value=city)
        told(world, value=city, subject="Anna")
    pages = all_pages(world, limit, past="true")
    assert all(len(page) <= limit for page in pages)
    listed = [(memory["subject"], memory["value"]) for page in pages for memory in page]
    assert sorted(listed) == sorted([(subject, city) for city in cities for subject in ("user", "Anna")])


@on_sqlite
def test_a_page_of_a_filtered_list_is_not_empty_while_there_is_something_to_list(world: World) -> None:
    for number in range(30):
        told(world, "owns", f"thing {number}")
    told(world, "home", "Oslo")
    pages = all_pages(world, 1, attribute="home")
    assert values(pages[0]) == ["Oslo"]
    assert [memory for page in pages[1:] for memory in page] == []
    assert len(pages) <= 2


# ---- Correcting, confirming, denying


@on_sqlite
def test_a_corrected_value_takes_the_place_and_the_wrong_one_never_was(world: World) -> None:
    wrong = told(world, value="Oslo", valid_from="2026-01-10T00:00:00Z")
    world.clock.advance(minutes=1)
    right = one(world, wrong, "PATCH", {"value": "Bergen"}).json
    assert (right["value"], right["valid_from"], right["confirmed"]) == ("Bergen", "2026-01-10T00:00:00Z", True)
    assert values(world.memories()) == ["Bergen"]
    assert values(world.memories(as_of="2026-02-01")) == ["Bergen"]
    denied = next(memory for memory in history_of(world, right) if memory["value"] == "Oslo")
    assert denied["denied"] is True


def test_a_correction_among_many_values_leaves_the_others(world: World) -> None:
    wrong = told(world, "likes", "tee", type="preference")
    told(world, "likes", "coffee", type="preference")
    world.clock.advance(minutes=1)
    right = one(world, wrong, "PATCH", {"value": "tea"}).json
    assert (right["type"], right["value"], right["text"]) == ("preference", "tea", "likes: tea")
    assert sorted(values(world.memories())) == ["coffee", "tea"]
    assert one(world, wrong).json["denied"] is True


@on_sqlite
def test_a_correction_of_one_part_leaves_the_others_as_they_were(world: World) -> None:
    memory = told(world, "home", "Oslo", text="I live in Oslo.", valid_from="2026-01-10T00:00:00Z")
    world.clock.advance(minutes=1)
    assert one(world, memory, "PATCH", {"text": "I live by the sea in Oslo."}).json["text"] == "I live by the sea in Oslo."
    world.clock.advance(minutes=1)
    moved = one(world, memory, "PATCH", {"valid_from": "2025-12-01T00:00:00Z"}).json
    assert (moved["valid_from"], moved["value"], moved["text"]) == ("2025-12-01T00:00:00Z", "Oslo", "I live by the sea in Oslo.")
    world.clock.advance(minutes=1)
    later = one(world, memory, "PATCH", {"valid_from": "2026-02-01T00:00:00Z"}).json
    assert later["valid_from"] == "2026-02-01T00:00:00Z"
    world.clock.advance(minutes=1)
    ended = one(world, memory, "PATCH", {"valid_to": "2026-06-01T00:00:00Z"}).json
    assert (ended["memory_id"], ended["valid_to"]) == (memory["memory_id"], "2026-06-01T00:00:00Z")
    assert world.memories() == []
    assert values(world.memories(as_of="2026-05-31")) == ["Oslo"]


@on_sqlite
def test_a_correction_repeated_changes_nothing_more(world: World) -> None:
    wrong = told(world)
    world.clock.advance(minutes=1)
    first = one(world, wrong, "PATCH", {"value": "Bergen"}).json
    world.clock.advance(minutes=1)
    again = one(world, wrong, "PATCH", {"value": "Bergen"}).json
    assert again["memory_id"] == first["memory_id"]
    assert values(world.memories()) == ["Bergen"]
    assert len(world.memories(past="true")) == 2


@on_sqlite
def test_a_correction_stays_a_correction_of_what_a_conversation_says_later(world: World) -> None:
    world.turn(content="I live in Oslo.")
    world.consolidate()
    (learned,) = world.memories(attribute="home")
    assert learned["made_by"] == "rules"
    world.clock.advance(minutes=1)
    assert one(world, learned, "PATCH", {"value": "Bergen"}).status == 200
    assert values(world.memories()) == ["Bergen"]
    world.consolidate()
    assert values(world.memories()) == ["Bergen"]


def test_a_confirmed_memory_is_sure_and_a_denied_one_is_gone_from_all_but_the_history(world: World) -> None:
    world.turn(content="I live in Oslo.")
    world.consolidate()
    (learned,) = world.memories(attribute="home")
    world.clock.advance(minutes=1)
    sure = one(world, learned, "POST /confirm", {"confirmed": True}).json
    assert sure["memory_id"] == learned["memory_id"]
    assert (sure["confirmed"], sure["made_by"], sure["value"]) == (True, "user", "Oslo")
    assert sure["confidence"] > learned["confidence"]
    assert sure["valid_from"] == learned["valid_from"]
    world.clock.advance(minutes=1)
    denied = one(world, learned, "POST /confirm", {"confirmed": False}).json
    assert denied["denied"] is True
    assert world.memories() == []
    world.work()
    assert world.recall("Where do I live?", kinds=["memory"]).json["hits"] == []
    assert world.memories(as_of="2026-12-01") == []
    assert values(history_of(world, learned)) == ["Oslo"]


@on_sqlite
@pytest.mark.parametrize("confirmed", [True, False])
def test_confirming_or_denying_twice_is_as_good_as_once(world: World, confirmed: bool) -> None:
    memory = told(world)
    answers = []
    for _ in range(3):
        world.clock.advance(minutes=1)
        answers.append(one(world, memory, "POST /confirm", {"confirmed": confirmed}))
    assert {answer.status for answer in answers} == {200}
    assert {answer.json["denied"] for answer in answers} == {not confirmed}
    assert len(history_of(world, memory)) == 1


@on_sqlite
def test_what_was_denied_holds_again_when_its_owner_confirms_it(world: World) -> None:
    memory = told(world)
    world.clock.advance(minutes=1)
    one(world, memory, "POST /confirm", {"confirmed": False})
    world.clock.advance(minutes=1)
    held = one(world, memory, "POST /confirm", {"confirmed": True}).json
    assert held["denied"] is False
    assert values(world.memories()) == ["Oslo"]


# ---- Forgetting


def test_a_forgotten_memory_is_gone_from_every_answer_and_is_not_learned_again(world: World) -> None:
    world.turn(content="I live in Oslo.")
    world.consolidate()
    (memory,) = world.memories(attribute="home")
    assert one(world, memory, "DELETE").status == 204
    for call in ("GET", "GET /history", "DELETE"):
        assert one(world, memory, call).json["code"] == "memory_not_found"
    assert world.memories(past="true") == []
    assert world.recall("Where do I live?", kinds=["memory"]).json["hits"] == []
    world.work()
    assert world.recall("Where do I live?", kinds=["memory"]).json["hits"] == []
    world.clock.advance(minutes=1)
    world.turn("s2", content="I live in Oslo.")
    world.consolidate()
    assert world.memories(past="true") == []


@on_sqlite
def test_a_forgotten_memory_is_welcome_again_when_its_owner_tells_it(world: World) -> None:
    memory = told(world)
    one(world, memory, "DELETE")
    assert values([told(world)]) == values(world.memories()) == ["Oslo"]


@on_sqlite
def test_who_forgets_takes_nothing_from_those_who_may_see_more(world: World) -> None:
    secret = {"clearance": "3"}
    hidden = told(world, text="The safe house is in Oslo.", clearance={"level": 3}, claims=secret)
    world.clock.advance(minutes=1)
    memory = told(world)
    assert one(world, memory, "DELETE").status == 204
    assert world.memories() == []
    assert [known["text"] for known in world.memories(claims=secret)] == [hidden["text"]]
    world.turn("s1", "I live in Oslo.")
    world.turn("s1", "I live in Oslo, as I said.", clearance={"level": 3}, claims=secret)
    assert world.consolidate() == 0
    assert world.memories(past="true") == []
    assert world.memories(claims=secret)[0]["reference_count"] == 2


@on_sqlite
def test_a_value_that_held_twice_is_forgotten_with_both_its_times(world: World) -> None:
    first = told(world, value="Oslo")
    for value in ("Rome", "Oslo"):
        world.clock.advance(minutes=1)
        told(world, value=value)
    world.work()
    assert values(world.memories(past="true")) == ["Oslo", "Rome", "Oslo"]
    world.clock.advance(minutes=1)
    assert one(world, first, "DELETE").status == 204
    assert values(world.memories(past="true")) == ["Rome"]
    for _ in range(2):
        hits = world.recall("Where do I live?", kinds=["memory"]).json["hits"]
        assert [hit["text"] for hit in hits] == ["home: Rome"]
        assert "Oslo" not in world.turn("new", content="Good morning").json["context"]["text"]
        world.work()


# ---- Nobody else's


@on_sqlite
@pytest.mark.parametrize("stranger", ["bob", "ada0", "ad", "ADA", "ada "])
def test_foreign_unknown_and_odd_ids_are_the_same_404(world: World, stranger: str) -> None:
    memory = told(world)
    told(world, user=stranger, value="Rome")
    calls: list[tuple[str, object]] = [
        ("GET", None),
        ("GET /history", None),
        ("PATCH", {"value": "Rome"}),
        ("POST /confirm", {"confirmed": False}),
        ("DELETE", None),
    ]
    odd = [memory["memory_id"], "nothing", ".", "..", "a.b", "#/|=&* ", "漢字", memory["memory_id"] + "-2", "v1.x." + "y" * 200]
    for call, body in calls:
        answers = [one(world, memory_id, call, body, user=stranger) for memory_id in odd]
        assert {(answer.status, answer.json["code"], answer.json["detail"]) for answer in answers} == {
            (404, "memory_not_found", "there is no such memory")
        }, call
    assert one(world, memory).json == memory
    assert values(world.memories(user=stranger)) == ["Rome"]


@on_sqlite
def test_user1_and_user10_keep_their_own_memories(world: World) -> None:
    told(world, value="Oslo", user="user1")
    told(world, value="Rome", user="user10")
    assert values(world.memories(user="user1")) == ["Oslo"]
    assert values(world.memories(user="user10")) == ["Rome"]
    assert world.memories(user="user") == world.memories(user="user100") == []


@on_sqlite
def test_a_cursor_of_another_user_shows_nothing_of_theirs(world: World) -> None:
    for value in ("a thing", "another thing"):
        told(world, "owns", value)
        told(world, "owns", f"bob's {value}", user="bob")
    cursor = world.call("GET /v1/memories", query={"limit": "1"}).json["next"]
    listed = world.call("GET /v1/memories", query={"next": cursor}, user="bob").json["memories"]
    assert all(memory["value"].startswith("bob's") for memory in listed)

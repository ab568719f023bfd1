"""Recall through its handler: what is found of one's past, with where it comes from, and what is never found."""

from typing import Any

import pytest

from tests.fakes import DictItemStore, FakeClock
from tests.world import World

on_sqlite = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
Hit = dict[str, Any]


def hits(world: World, query: str, *kinds: str, **more: Any) -> list[Hit]:
    answer = world.recall(query, **({"kinds": list(kinds)} if kinds else {}), **more)
    assert answer.status == 200, answer.text
    assert answer.json["degraded"] is False
    found: list[Hit] = answer.json["hits"]
    return found


def texts(found: list[Hit]) -> list[str]:
    return [hit["text"] for hit in found]


def tell(world: World, attribute: str, value: str, **more: Any) -> dict[str, Any]:
    user, claims = more.pop("user", "ada"), more.pop("claims", None)
    body = {"type": "fact", "attribute": attribute, "value": value, **more}
    answer = world.call("POST /v1/memories", body=body, user=user, claims=claims)
    assert answer.status == 201, answer.text
    memory: dict[str, Any] = answer.json
    return memory


# ---- What is found


def test_what_was_said_is_found_before_and_after_consolidation_with_where_it_comes_from(world: World) -> None:
    said = world.turn("boats", "My boat is moored in Kirkwall.", turn_id="t1", occurred_at="2026-05-01T10:00:00Z")
    assert said.status == 200
    for _ in range(2):
        (hit,) = hits(world, "Where is the boat moored?", "turn")
        assert (hit["kind"], hit["id"], hit["text"], hit["speaker"]) == ("turn", "t1", "My boat is moored in Kirkwall.", "user")
        assert hit["occurred_at"] == "2026-05-01T10:00:00Z"
        assert hit["source"] == {"type": "conversation", "session_id": "boats", "turn_ids": ["t1"], "document_id": None}
        assert (hit["confidence"], hit["needs_confirmation"], hit["question"]) == (1.0, False, None)
        assert world.consolidate() == 0
    world.clock.advance(minutes=8 * 24 * 60)
    assert texts(hits(world, "Where is the boat moored?", "turn")) == ["My boat is moored in Kirkwall."]


def test_each_kind_is_found_and_only_the_kinds_that_were_asked_for(world: World) -> None:
    world.turn("boats", "My sister Anna sails a boat in Kirkwall.", turn_id="t1")
    world.call("POST /v1/documents", body={"title": "Boats", "text": "A boat wants paint each spring.", "document_id": "d1"})
    world.consolidate()
    kinds = {"turn", "summary", "memory", "document"}
    assert {hit["kind"] for hit in hits(world, "Anna's boat in Kirkwall")} == kinds
    for kind in kinds:
        assert {hit["kind"] for hit in hits(world, "Anna's boat in Kirkwall", kind)} == {kind}
    assert {hit["kind"] for hit in hits(world, "Anna's boat in Kirkwall", "turn", "document")} == {"turn", "document"}


@on_sqlite
def test_a_score_is_the_sum_of_its_parts_and_hits_come_best_first_within_the_limit(world: World) -> None:
    for number in range(12):
        world.turn(
            "boats", f"Boat number {number} is {'red' if number % 2 else 'blue and moored in Kirkwall'}.", turn_id=f"t{number}"
        )
    world.consolidate()
    for limit in (1, 3, 10, 50):
        found = hits(world, "Which boat is moored in Kirkwall?", limit=limit)
        scores = [hit["score"] for hit in found]
        assert len(found) <= limit
        assert scores == sorted(scores, reverse=True)
        for hit in found:
            assert hit["score"] == pytest.approx(sum(hit["parts"].values()), abs=0.0005)
    assert len(hits(world, "Which boat is moored in Kirkwall?", "turn", limit=50)) == 12


@on_sqlite
def test_since_and_until_bound_when_it_was_said_before_and_after_consolidation(world: World) -> None:
    for day in (1, 2, 3):
        world.turn(f"s{day}", f"The boat was painted, coat {day}.", occurred_at=f"2026-05-0{day}T12:00:00Z")
    for _ in range(2):
        assert min(texts(hits(world, "painted boat", "turn", since="2026-05-02T12:00:00Z"))).endswith("2.")
        between = hits(world, "painted boat", "turn", since="2026-05-02T00:00:00Z", until="2026-05-02T23:59:59Z")
        assert texts(between) == ["The boat was painted, coat 2."]
        assert len(hits(world, "painted boat", "turn", until="2026-05-02T12:00:00Z")) == 2
        assert hits(world, "painted boat", "turn", since="2026-05-04T00:00:00Z") == []
        world.consolidate()


def test_oslo_in_january_and_rome_in_march(world: World) -> None:
    world.turn("winter", "I live in Oslo.", turn_id="t1", occurred_at="2026-01-10T10:00:00Z")
    world.turn("spring", "I moved to Rome. I live in Rome now.", turn_id="t2", occurred_at="2026-03-05T10:00:00Z")
    world.consolidate()
    now = hits(world, "Where do I live?", "memory")[0]
    assert now["text"] == "home: Rome"
    assert (now["source"]["session_id"], now["source"]["turn_ids"]) == ("spring", ["t2"])
    (then,) = hits(world, "Where do I live?", "memory", as_of="2026-02-01T00:00:00Z")
    assert "Oslo" in then["text"]
    assert (then["source"]["session_id"], then["source"]["turn_ids"]) == ("winter", ["t1"])
    assert then["valid_to"] == "2026-03-05T10:00:00Z"
    assert hits(world, "Where do I live?", "memory", as_of="2025-12-31T00:00:00Z") == []
    assert "Rome" not in "".join(texts(hits(world, "Rome or Oslo", as_of="2026-02-01T00:00:00Z")))
    history = world.call("GET /v1/memories/{memory_id}/history", {"memory_id": now["id"]}).json["memories"]
    assert [(memory["value"], memory["sources"][-1]["turn_id"]) for memory in history] == [("Oslo", "t1"), ("Rome", "t2")]


@on_sqlite
def test_what_is_yet_to_come_is_not_told_as_if_it_were_so_and_what_ends_one_day_is_until_then(world: World) -> None:
    tell(world, "home", "Oslo")
    world.clock.advance(minutes=1)
    tell(world, "home", "Rome", valid_from="2026-12-01T00:00:00Z")
    tell(world, "employer", "Acme", valid_to="2026-12-01T00:00:00Z")
    for days, home, left in ((1, "Oslo", "Rome"), (90, "Rome", "Oslo")):
        world.clock.advance(minutes=days * 24 * 60)
        for _ in range(2):
            told = world.turn(f"after {days}", "Good morning.").json["context"]["text"]
            assert f"home: {home}" in told
            assert f"home: {left}" not in told
            assert ("employer: Acme" in told) == (home == "Oslo")
            assert texts(hits(world, "Where do I live?", "memory"))[:1] == [f"home: {home}"]
            known = texts(hits(world, "What do you know about me?"))
            assert sorted(known) == (["employer: Acme", "home: Oslo"] if home == "Oslo" else ["home: Rome"])
            world.work()


@on_sqlite
def test_what_is_old_or_unsure_comes_with_a_question_and_what_is_neither_without(world: World) -> None:
    tell(world, "home", "Oslo")
    (fresh,) = hits(world, "Where do I live?", "memory")
    assert (fresh["needs_confirmation"], fresh["question"]) == (False, None)
    world.clock.advance(minutes=400 * 24 * 60)
    (old,) = hits(world, "Where do I live?", "memory")
    assert (old["needs_confirmation"], old["question"]) == (True, "Do you still live in Oslo?")
    confirmed = world.call("POST /v1/memories/{memory_id}/confirm", {"memory_id": old["id"]}, {"confirmed": True})
    assert confirmed.status == 200
    (again,) = hits(world, "Where do I live?", "memory")
    assert (again["needs_confirmation"], again["question"]) == (False, None)


@on_sqlite
@pytest.mark.parametrize(
    "query",
    [
        "What do you know about me?",
        "what do you remember about me",
        "Was weißt du über mich?",
        "Que sais-tu de moi ?",
        "¿Qué sabes de mí?",
        "你知道关于我的什么？",
        "私について何を知っていますか？",
        "คุณรู้อะไรเกี่ยวกับฉันบ้าง",
        "ماذا تعرف عني؟",
    ],
)
def test_what_is_known_of_somebody_is_answered_from_memory_in_many_languages(world: World, query: str) -> None:
    tell(world, "home", "Oslo", text="Lives in Oslo.")
    tell(world, "sister", "Anna", type="relationship", text="Anna is the sister.")
    tell(world, "likes", "tea", type="preference", text="Likes tea.")
    world.turn("noise", "The tea is on the table, said Anna of Oslo.")
    for _ in range(2):
        found = hits(world, query)
        assert set(texts(found)) >= {"Lives in Oslo.", "Anna is the sister.", "Likes tea."}
        assert len(hits(world, query, limit=2)) == 2
        world.consolidate()
    assert hits(world, query, user="bob") == []


@on_sqlite
def test_nothing_known_is_no_hit_and_nothing_invented(world: World) -> None:
    assert world.recall("What do you know about me?").json == {"hits": [], "degraded": False, "reason": "searched"}
    assert world.recall("Where is my boat?").json == {"hits": [], "degraded": False, "reason": "searched"}


# ---- Any script


SAID = {
    "chinese": ("我的船停在上海的码头。", "船在哪个码头"),
    "japanese": ("姉は京都で着物を売っています。", "着物を売っているのは誰"),
    "thai": ("เรือของฉันจอดอยู่ที่ท่าเรือเชียงใหม่", "เรือจอดอยู่ที่ไหน"),
    "arabic": ("قاربي راسٍ في ميناء الإسكندرية.", "أين ميناء القارب"),
    "german compound": (
        "Die Donaudampfschifffahrtsgesellschaft hat meinen Fahrschein verloren.",
        "Donaudampfschifffahrtsgesellschaft",
    ),
    "german fold": ("Meine Straße heißt Größenweg.", "grossenweg strasse"),
    "emoji": ("🦄🌈 ist mein Zeichen.", "🦄"),
    "korean": ("제 배는 부산 항구에 있습니다.", "부산 항구"),
    "greek": ("Το σκάφος μου είναι στον Πειραιά.", "ΣΚΆΦΟΣ ΠΕΙΡΑΙΆ"),
}


@on_sqlite
@pytest.mark.parametrize("name", SAID)
def test_every_script_is_stored_found_by_its_words_and_answered_in_them(world: World, name: str) -> None:
    said, query = SAID[name]
    world.turn("s1", said)
    world.turn("s2", "Something else altogether was said here.")
    world.turn("s2", "別の話です。อย่างอื่น شيء آخر")
    for _ in range(2):
        best = hits(world, query, "turn")[0]
        assert best["text"] == said
        assert sum(best["parts"].get(part, 0) for part in ("words", "window")) > 0
        assert world.consolidate() == 0


@on_sqlite
@pytest.mark.parametrize("name", SAID)
def test_a_memory_told_in_any_script_is_found_and_read_as_it_was_told(world: World, name: str) -> None:
    said, query = SAID[name]
    memory = tell(world, "note", said, text=said)
    assert (memory["value"], memory["text"]) == (said, said)
    for _ in range(2):
        assert texts(hits(world, query, "memory")) == [said]
        world.work()


# ---- Nobody else's, and nothing above one's clearance


@on_sqlite
@pytest.mark.parametrize("stranger", ["bob", "ada0", "ad", "ADA", "ada "])
def test_no_stranger_finds_anything_however_they_ask(world: World, stranger: str) -> None:
    world.turn("boats", "My locker number is 4711.")
    tell(world, "locker", "4711")
    world.call("POST /v1/documents", body={"title": "Locker", "text": "The locker number is 4711.", "document_id": "d1"})
    for _ in range(2):
        for query in ("What is my locker number?", "4711", "What do you know about me?"):
            assert hits(world, query, user=stranger) == []
        world.consolidate()
    assert "4711" not in world.turn("boats", "What is my locker number?", user=stranger, recall="always").text


ABOVE = {"clearance": "1", "compartments": "red"}
HIDDEN_BY = {"level": 1, "compartments": ["red"]}
QUERIES = ("Where do I live?", "What do you know about me?", "boat in Kirkwall", "sister", "tea", "Rome")


def hide_turn(world: World, session: str, text: str) -> None:
    assert world.turn(session, text, clearance=HIDDEN_BY, claims=ABOVE).status == 200


def hide_memory(world: World, attribute: str, value: str) -> None:
    tell(world, attribute, value, clearance=HIDDEN_BY, claims=ABOVE)


def hide_document(world: World) -> None:
    body = {"title": "Boat", "text": "A boat in Kirkwall, in Rome, with tea.", "clearance": HIDDEN_BY, "document_id": "hidden"}
    assert world.call("POST /v1/documents", body=body, claims=ABOVE).status == 201


def hide_many(world: World) -> None:
    for number in range(60):
        hide_memory(world, "owns", f"boat {number} in Kirkwall with tea")


HIDDEN: dict[str, Any] = {
    "a memory of another thing": lambda world: hide_memory(world, "pet", "Rex"),
    "a memory of another value": lambda world: hide_memory(world, "home", "Rome"),
    "a memory of the same value": lambda world: hide_memory(world, "home", "Oslo"),
    "many memories": hide_many,
    "a turn in a session of its own": lambda world: hide_turn(
        world, "hidden", "The boat in Kirkwall: tea in Rome. I live in Rome."
    ),
    "a turn in a session that others see": lambda world: hide_turn(world, "boats", "I live in Rome. My sister is Eva. No tea."),
    "a document": hide_document,
}


def seen(world: World) -> list[Any]:
    """All that a reader without clearance is answered, but for what is told of every session: how many turns it has."""
    listed = world.memories()
    histories = [world.call("GET /v1/memories/{memory_id}/history", {"memory_id": memory["memory_id"]}).json for memory in listed]
    found = [world.recall(query).json for query in QUERIES]
    turn = world.turn("next", "Where do I live, and where is the boat?", turn_id="next", recall="always").json
    return [listed, world.memories(past="true"), histories, found, turn["context"], turn["recall"], turn["topics"]]


@pytest.mark.parametrize("name", HIDDEN)
@pytest.mark.parametrize("consolidated", [False, True])
def test_what_is_above_ones_clearance_moves_nothing_that_one_sees(name: str, consolidated: bool) -> None:
    worlds = [World(DictItemStore(), FakeClock()) for _ in range(2)]
    for world, hides in zip(worlds, (False, True), strict=True):
        tell(world, "home", "Oslo")
        world.turn("boats", "The boat in Kirkwall is mine. My sister Anna likes tea.", turn_id="t1")
        world.turn("boats", "I like tea too.", turn_id="t2")
        world.clock.advance(minutes=1)
        if consolidated:
            world.consolidate()
        if hides:
            HIDDEN[name](world)
        world.clock.advance(minutes=1)
        if consolidated:
            world.consolidate()
    plain, hiding = (seen(world) for world in worlds)
    assert hiding == plain


@pytest.mark.parametrize("name", HIDDEN)
def test_what_is_above_others_clearance_is_there_for_those_who_may_see_it(name: str) -> None:
    world = World(DictItemStore(), FakeClock())
    tell(world, "home", "Oslo")
    HIDDEN[name](world)
    world.clock.advance(minutes=1)
    world.work()
    for _ in range(2):
        answers = [world.recall(query, claims=ABOVE, limit=50).json["hits"] for query in (*QUERIES, "Rex the pet")]
        assert any(hit.get("clearance") == HIDDEN_BY for found in answers for hit in found)
        assert not any("clearance" in hit for query in QUERIES for hit in world.recall(query).json["hits"])
        world.consolidate()


def test_one_memory_id_is_one_hit_though_each_reader_hears_it_otherwise() -> None:
    world = World(DictItemStore(), FakeClock())
    tell(world, "home", "Oslo")
    world.clock.advance(minutes=1)
    hide_memory(world, "home", "Oslo")
    for _ in range(2):
        for claims in (None, ABOVE):
            assert len(hits(world, "Where do I live?", "memory", claims=claims)) == 1
        world.work()


def test_a_restricted_move_is_known_to_those_who_may_know_it_and_to_nobody_else() -> None:
    world = World(DictItemStore(), FakeClock())
    tell(world, "home", "Oslo")
    world.clock.advance(minutes=1)
    hide_memory(world, "home", "Rome")
    for _ in range(2):
        assert texts(hits(world, "Where do I live?", "memory")) == ["home: Oslo"]
        assert texts(hits(world, "Where do I live?", "memory", claims=ABOVE)) == ["home: Rome"]
        assert texts(hits(world, "What do you know about me?")) == ["home: Oslo"]
        assert texts(hits(world, "What do you know about me?", claims=ABOVE)) == ["home: Rome"]
        assert "Oslo" in world.turn("a", "hello").json["context"]["text"]
        above = world.turn("b", "hello", claims=ABOVE).json["context"]["text"]
        assert "Rome" in above
        assert "home: Oslo" not in above
        world.work()

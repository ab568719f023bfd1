"""From what is said to what is known, through the handlers."""

import pytest

from keepsake.config import Settings
from keepsake.ports.language_model import LanguageModel, ModelAnswer, ModelTask
from tests.fakes import DictItemStore, FakeClock
from tests.fakes_index import DictSearchIndex
from tests.model_answers import answer_text, item
from tests.world import World, in_path

on_sqlite = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
DAY_MINUTES = 24 * 60


@pytest.fixture
def own() -> World:
    """A world in dictionaries, for what does not depend on the store."""
    return World(DictItemStore(), FakeClock())


def values(memories: list[dict[str, object]]) -> list[object]:
    return [memory["value"] for memory in memories]


# ---- When a session is due


def test_sessions_are_due_by_idleness_or_by_count_and_others_wait(own: World) -> None:
    for _ in range(12):
        own.clock.advance(minutes=4)
        own.turn("never ends", "Tell me about metformin.")
    own.turn("just begun", "Tell me about asthma.")
    assert own.plan(everything=False) == {"sent": 1, "waiting": 1, "complete": True, "needs_reindex": False}
    own.work()
    own.clock.advance(minutes=9)
    assert own.plan(everything=False)["sent"] == 0
    own.clock.advance(minutes=1)
    assert own.plan(everything=False) == {"sent": 1, "waiting": 0, "complete": True, "needs_reindex": False}
    assert own.work() == 0
    assert own.plan()["sent"] == 0


def test_a_turn_that_comes_while_its_session_is_consolidated_waits_for_the_next_run(own: World) -> None:
    own.turn("s1", "I live in Oslo.")
    own.plan()
    own.clock.advance(seconds=1)
    own.turn("s1", "My sister is called Anna.")  # after the message, before the work
    assert own.work() == 0
    assert {"Oslo", "Anna"} <= set(values(own.memories()))
    own.clock.advance(seconds=1)
    own.turn("s1", "I work at Acme.")
    assert own.plan()["sent"] == 1
    own.work()
    assert "Acme" in values(own.memories())


# ---- Oslo in January, Rome in March


def test_what_held_on_a_past_day_is_answered_for_that_day(world: World) -> None:
    world.turn("s1", "I live in Oslo.", turn_id="t1", occurred_at="2026-01-10T12:00:00Z")
    world.turn("s2", "I moved to Rome.", turn_id="t2", occurred_at="2026-03-05T12:00:00Z")
    assert world.consolidate() == 0
    (rome,) = world.memories(attribute="home")
    assert (rome["value"], rome["valid_from"], rome["valid_to"]) == ("Rome", "2026-03-05T12:00:00Z", None)
    (oslo,) = world.memories(attribute="home", as_of="2026-02-10")
    assert (oslo["value"], oslo["valid_to"], oslo["superseded_by"]) == ("Oslo", rome["valid_from"], rome["memory_id"])
    assert world.memories(attribute="home", as_of="2026-01-09") == []
    path = {"memory_id": in_path(rome["memory_id"])}
    told = world.call("GET /v1/memories/{memory_id}/history", path).json["memories"]
    assert [(one["value"], one["valid_from"]) for one in told] == [
        ("Oslo", "2026-01-10T12:00:00Z"),
        ("Rome", "2026-03-05T12:00:00Z"),
    ]
    sources = [(source["session_id"], source["turn_id"], source["occurred_at"]) for one in told for source in one["sources"]]
    assert sources == [("s1", "t1", "2026-01-10T12:00:00Z"), ("s2", "t2", "2026-03-05T12:00:00Z")]
    for more, expected in (({}, "Rome"), ({"as_of": "2026-02-10T00:00:00Z"}, "Oslo")):
        hits = world.recall("Where do I live?", kinds=["memory"], **more).json["hits"]
        assert {hit["text"].rpartition(" ")[2].strip(".") for hit in hits} == {expected}


def test_the_order_of_arrival_does_not_matter(own: World) -> None:
    own.turn("s2", "I moved to Rome.", occurred_at="2026-03-05T12:00:00Z")
    own.consolidate()
    own.turn("s1", "I live in Oslo.", occurred_at="2026-01-10T12:00:00Z")
    own.consolidate()
    assert values(own.memories(attribute="home")) == ["Rome"]
    assert values(own.memories(attribute="home", as_of="2026-02-10")) == ["Oslo"]
    text = own.turn("s3", "Good morning").json["context"]["text"]
    assert "Rome" in text
    assert "Oslo" not in text


# ---- What was said a moment ago


def test_what_was_said_two_minutes_ago_in_another_session_is_found_before_it_is_consolidated(world: World) -> None:
    world.turn("s1", "The parcel for Berta is in locker 4711.", turn_id="t1")
    world.clock.advance(minutes=2)
    (hit, *_) = world.recall("Which locker is Berta's parcel in?").json["hits"]
    assert (hit["kind"], hit["id"], hit["source"]["session_id"]) == ("turn", "t1", "s1")
    turn = world.turn("s2", "Which locker did I say Berta's parcel is in?", recall="always").json
    assert turn["recall"]["hits"][0]["id"] == "t1"
    assert "locker 4711" in turn["context"]["text"]
    assert world.recall("Which locker is Berta's parcel in?", user="bob").json["hits"] == []


# ---- Nothing recalled is learned again


def test_replaying_what_quotes_memories_never_makes_more_of_them(own: World) -> None:
    own.turn("origin", "My sister Anna lives in Bergen and I work at Acme as a welder.")
    own.turn("origin", "I love jazz, and I live in Oslo.")
    own.clock.advance(minutes=60)
    own.consolidate()
    known = own.memories(past="true")
    assert len(known) >= 4
    window = own.turn("look", "What do you know about me?", recall="always").json["context"]["text"]
    hits = own.recall("What do you know about me?").json["hits"]
    assert hits
    assert "Oslo" in window
    pasted = [
        window,
        f"<system-reminder>\n{window}\n</system-reminder>",
        "Here is what you told me:\n" + "\n".join(f"> {hit['text']}" for hit in hits),
        "Relevant memories:\n" + "\n".join(f"- {hit['text']}" for hit in hits),
        'You said: "' + " ".join(memory["text"] for memory in known) + '"',
        "Summary of our conversation:\n" + "\n".join(hit["text"] for hit in hits if hit["kind"] == "summary"),
        "```\n" + "\n".join(memory["text"] for memory in known) + "\n```",
    ]
    for number in range(50):
        text = pasted[number % len(pasted)]
        own.turn(f"replay {number}", text)
        own.turn(
            f"replay {number}", "You live in Oslo, and your sister Anna is in Bergen. You also love chess.", role="assistant"
        )
        own.turn(f"replay {number}", window, role="tool")
        own.clock.advance(minutes=60)
        assert own.consolidate() == 0
    after = own.memories(past="true")
    assert [(one["memory_id"], one["reference_count"]) for one in after] == [
        (one["memory_id"], one["reference_count"]) for one in known
    ]


# ---- What is hidden from a reader

SECRET = {"clearance": "3"}
HIDDEN_AND_OPEN = [
    (["My sister is called Vera."], ["She lives in Oslo. Her birthday is on 3 May."]),
    (["I live in Oslo."], ["Actually, not Oslo, I live in Rome.", "No, I meant Lima."]),
    (["The suspect is called Vera."], ["Yes, exactly, I agree with that one."]),
    (["I live in Lima."], ["I live in Rome, which my sister Anna likes.", "She works as a teacher."]),
]


class GossipModel:
    """States of each turn whatever it was shown at all, and takes it for the end of all that is known."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def answer(self, task: ModelTask) -> ModelAnswer:
        data = task.prompt.data
        self.shown.append(data)
        items = [
            item("facts", f"It is all about {name}.", turn=number, attribute="suspect", value=name, replaces=[1])
            for number in range(1, 9)
            for name in ("Vera", "Oslo", "Lima", "Anna")
            if name in data and f"[{number}] 2" in data
        ]
        return ModelAnswer(answer_text(*items), cut=False, refused=False, input_tokens=9, output_tokens=9, model="gossip")


def what_open_readers_know(
    hidden: list[str], spoken: list[str], model: LanguageModel | None, *, between: bool, say_hidden: bool
) -> list[dict[str, object]]:
    world = World(DictItemStore(), FakeClock(), model=model)
    for text in hidden:
        if say_hidden:
            assert world.turn("s1", text, claims=SECRET, clearance={"level": 3}).status == 200
        world.clock.advance(minutes=1)
    if between:
        assert world.consolidate() == 0
    for number, text in enumerate(spoken):
        world.clock.advance(minutes=1)
        world.turn("s1", text, turn_id=f"t{number}")
    assert world.consolidate() == 0
    found: list[dict[str, object]] = world.memories(past="true")
    return found


@pytest.mark.parametrize(("hidden", "spoken"), HIDDEN_AND_OPEN)
@pytest.mark.parametrize("between", [False, True], ids=["one page", "two pages"])
@pytest.mark.parametrize("modelled", [False, True], ids=["rules", "model"])
def test_what_open_turns_teach_is_the_same_whether_or_not_hidden_ones_were_said(
    hidden: list[str], spoken: list[str], between: bool, modelled: bool
) -> None:
    model = GossipModel() if modelled else None
    known = what_open_readers_know(hidden, spoken, model, between=between, say_hidden=True)
    assert known == what_open_readers_know(hidden, spoken, GossipModel() if modelled else None, between=between, say_hidden=False)
    if model:
        assert any(hidden[0] in shown for shown in model.shown)
        assert hidden[0] not in model.shown[-1]


def test_a_hidden_turn_is_read_with_what_open_ones_say_and_teaches_hidden_memories(own: World) -> None:
    own.turn("s1", "My sister is called Vera.")
    own.turn("s1", "She lives in Oslo.", claims=SECRET, clearance={"level": 3})
    own.turn("s1", "I work at Acme.")
    own.consolidate()
    assert set(values(own.memories())) == {"Vera", "Acme"}
    assert set(values(own.memories(claims=SECRET))) == {"Vera", "Acme", "Oslo"}


# ---- Archive and time


def test_without_an_archive_memories_and_summaries_are_still_found() -> None:
    world = World(DictItemStore(), FakeClock(), settings=Settings(store_kind="test", archive_days=0))
    for text in ("I live in Oslo.", "We decided to water the garden on Mondays."):
        world.turn("s1", text)
    world.consolidate()
    world.clock.advance(minutes=60)
    index = world.index
    assert isinstance(index, DictSearchIndex)
    assert {document.kind for document in index.list_owned("ada", limit=100).documents} == {"summary", "memory"}
    assert not [key for key in world.store._items if str(key.sort).startswith("archive#")]  # type: ignore[attr-defined]
    found = {hit["kind"] for hit in world.recall("Where do I live, and when is the garden watered? Oslo").json["hits"]}
    assert found == {"summary", "memory"}


def test_archived_turns_and_memories_are_silent_when_their_time_is_over(own: World) -> None:
    own.turn("s1", "I love jazz, above all Coltrane.")
    own.consolidate()
    assert {hit["kind"] for hit in own.recall("jazz by Coltrane").json["hits"]} >= {"turn", "memory"}
    own.clock.advance(minutes=364 * DAY_MINUTES)
    assert "turn" in {hit["kind"] for hit in own.recall("jazz by Coltrane").json["hits"]}
    own.clock.advance(minutes=2 * DAY_MINUTES)
    assert "turn" not in {hit["kind"] for hit in own.recall("jazz by Coltrane").json["hits"]}
    assert "jazz" in " ".join(map(str, values(own.memories())))
    own.clock.advance(minutes=1825 * DAY_MINUTES)
    assert own.memories(past="true") == []
    assert own.recall("jazz by Coltrane", kinds=["memory"]).json["hits"] == []


@on_sqlite
def test_what_the_log_has_lost_before_it_was_consolidated_is_no_longer_waited_for(world: World) -> None:
    world.turn("s1", "I live in Oslo.")
    world.clock.advance(minutes=8 * DAY_MINUTES)
    assert world.consolidate() == 0
    assert world.memories() == []
    assert world.plan()["sent"] == 0

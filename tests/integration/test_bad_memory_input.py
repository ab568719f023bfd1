"""Input to memories, recall, documents and the index that nobody should send: refused clearly, or taken sensibly; never a 500."""

import json
from typing import Any

import pytest

from keepsake.domain.knowledge import MAX_DOCUMENT_BYTES, MAX_TITLE_CHARACTERS
from local.openapi import routes
from tests.fakes import DictItemStore, FakeClock
from tests.world import Answer, World, in_path

ADMIN = {"cognito:groups": "keepsake-admins"}
TELL, RECALL, PUT = "POST /v1/memories", "POST /v1/recall", "POST /v1/documents"
PATCH, CONFIRM = "PATCH /v1/memories/{memory_id}", "POST /v1/memories/{memory_id}/confirm"
REINDEX, DRIFT = "POST /v1/admin/reindex", "POST /v1/admin/drift"
FITTING: dict[str, dict[str, object]] = {
    TELL: {"type": "fact", "attribute": "home", "value": "Oslo"},
    RECALL: {"query": "Where do I live?"},
    PUT: {"title": "A title", "text": "A text."},
    PATCH: {"value": "Rome"},
    CONFIRM: {"confirmed": True},
    REINDEX: {},
    DRIFT: {},
}
NO_TEXTS: list[object] = ["", " ", "\n\t ", "\u200b", "\u2060", "\x00", "a\x00b", 7, True, [], {}, ["a"], {"text": "a"}]
NO_TIMES: list[object] = [
    "yesterday",
    "2023-05-08",
    "2023-05-08T13:56:00",
    "20230101T000000Z",
    "2023-W01-1T00:00:00Z",
    "0001-01-01T00:00:00+14:00",
    "9999-12-31T23:59:59-14:00",
    "2023-02-30T00:00:00Z",
    "",
    1683554160,
    True,
    [],
]
NO_CLEARANCES: list[object] = [-1, "9", 1.5, {"level": 1, "owner": "bob"}, {"compartments": ["a b"]}, [1], 10**9]
NO_IDS: list[object] = [7, [], True]


@pytest.fixture
def world() -> World:
    world = World(DictItemStore(), FakeClock())
    assert world.call(TELL, body=FITTING[TELL]).status == 201
    return world


def call(world: World, key: str, body: object, **more: Any) -> Answer:
    (memory,) = world.memories(past="true")
    return world.call(key, {"memory_id": in_path(memory["memory_id"])}, body, claims=ADMIN, **more)


def assert_refused(answer: Answer, status: int = 400, code: str = "invalid_request") -> None:
    problem = answer.json
    assert (answer.status, problem["code"]) == (status, code), answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "correlation_id"} <= problem.keys()


def state(world: World) -> list[object]:
    """All that a refused call must not have changed."""
    return [world.memories(past="true"), world.queue.counts(), world.index.current()]


def with_each(key: str, field: str, values: list[object]) -> list[tuple[str, object]]:
    return [(key, {**FITTING[key], field: value}) for value in values]


BAD: list[tuple[str, object]] = [
    *[(key, body) for key in FITTING for body in ("{", "null" if key != REINDEX else "[]", "[]", '"text"', "7", "[" * 100_000)],
    *[(key, {**FITTING[key], "unknown": 1}) for key in FITTING],
    *[(key, {**FITTING[key], "sub": "bob"}) for key in FITTING],
    *[(key, {**FITTING[key], "owner": "bob"}) for key in FITTING],
    *[(key, {name: value for name, value in FITTING[key].items() if name != left}) for key in FITTING for left in FITTING[key]],
    *with_each(TELL, "type", ["unknown", "Fact", "", 7, ["fact"]]),
    *with_each(TELL, "attribute", [*NO_TEXTS, "x" * 129, "two\nlines", "\u2028"]),
    *with_each(TELL, "subject", [*NO_TEXTS, "x" * 129, "two\nlines"]),
    *with_each(TELL, "value", [*NO_TEXTS, "x" * 301, "x" * 60_000]),
    *with_each(TELL, "text", [*NO_TEXTS, "x" * 601, "x" * 60_000]),
    *with_each(TELL, "valid_from", NO_TIMES),
    *with_each(TELL, "valid_to", NO_TIMES),
    *with_each(TELL, "source", ["import", "conversation", "document", "hearsay", 7]),
    *with_each(TELL, "clearance", NO_CLEARANCES),
    (TELL, {**FITTING[TELL], "valid_from": "2026-02-01T00:00:00Z", "valid_to": "2026-01-01T00:00:00Z"}),
    (TELL, {**FITTING[TELL], "made_by": "model"}),
    (TELL, {**FITTING[TELL], "memory_id": "x"}),
    *with_each(PATCH, "value", [*NO_TEXTS, "x" * 301, "x" * 60_000]),
    *with_each(PATCH, "text", [*NO_TEXTS, "x" * 601]),
    *with_each(PATCH, "valid_from", NO_TIMES),
    *with_each(PATCH, "valid_to", [*NO_TIMES, "1999-01-01T00:00:00Z"]),
    (PATCH, {"type": "event"}),
    (PATCH, {"clearance": 1}),
    (PATCH, {"value": None}),
    *with_each(CONFIRM, "confirmed", ["true", 1, 0, "yes", [], {}]),
    *with_each(RECALL, "query", [*NO_TEXTS, "x" * 4_001, "漢" * 60_000]),
    *with_each(RECALL, "limit", [0, -1, 51, 10**30, "10", 1.5, True, []]),
    *with_each(RECALL, "kinds", [[], ["nothing"], "turn", [7], ["turn"] * 9, {"turn": True}]),
    *[case for field in ("as_of", "since", "until") for case in with_each(RECALL, field, NO_TIMES)],
    (RECALL, {**FITTING[RECALL], "since": "2026-02-01T00:00:00Z", "until": "2026-01-01T00:00:00Z"}),
    *with_each(PUT, "title", [*NO_TEXTS, "x" * (MAX_TITLE_CHARACTERS + 1), "two\nlines"]),
    *with_each(PUT, "text", NO_TEXTS),
    *with_each(PUT, "kind", ["novel", "", 7]),
    *with_each(PUT, "document_id", NO_IDS),
    *with_each(PUT, "occurred_at", NO_TIMES),
    *with_each(PUT, "institutional", ["true", 1]),
    *with_each(PUT, "clearance", NO_CLEARANCES),
    *with_each(DRIFT, "user_id", NO_IDS),
    *with_each(DRIFT, "repair", ["true", 1]),
    (DRIFT, {"user_id": "bob", "institutional": True}),
]


@pytest.mark.parametrize("key", FITTING)
def test_a_body_that_does_not_fit_is_refused_and_changes_nothing(world: World, key: str) -> None:
    before = state(world)
    for body in (body for bad, body in BAD if bad == key):
        said = body if isinstance(body, str) else json.dumps(body)
        answer = call(world, key, said)
        assert (answer.status, answer.json["code"]) == (400, "invalid_request"), said[:200]
        assert_refused(answer)
    assert state(world) == before


@pytest.mark.parametrize("key", [TELL, RECALL, PUT])
@pytest.mark.parametrize("text", ["\\ud800", "\\udfff\\ud800"])
def test_half_a_character_is_refused(world: World, key: str, text: str) -> None:
    for field in FITTING[key]:
        assert_refused(call(world, key, json.dumps({**FITTING[key], field: "@"}).replace("@", text)))


def test_a_refusal_names_the_places_and_repeats_no_value(world: World) -> None:
    answer = call(world, TELL, {**FITTING[TELL], "value": 7, "valid_from": "my secret day", "owner": "bob"})
    assert {finding["field"] for finding in answer.json["fields"]} == {"value", "valid_from", "owner"}
    assert "secret" not in answer.text
    assert {finding["field"] for finding in call(world, RECALL, {"query": "x", "limit": 99}).json["fields"]} == {"limit"}


@pytest.mark.parametrize("value", ["!!!", "🤷", "—", "C++", "0", "漢"])
def test_a_value_of_signs_is_kept_or_refused_as_saying_nothing(world: World, value: str) -> None:
    answer = world.call(TELL, body={**FITTING[TELL], "attribute": "likes", "value": value})
    assert answer.status in (201, 400)
    if answer.status == 201:
        assert answer.json["value"] == value


@pytest.mark.parametrize("document_id", ["", " ", "\x00", "a" * 1000, "\u200b", "\x1finstitution"])
def test_document_ids_that_cannot_be_ids_are_refused(world: World, document_id: str) -> None:
    assert_refused(call(world, PUT, {**FITTING[PUT], "document_id": document_id}), 400, "invalid_id")


@pytest.mark.parametrize("user_id", ["", " ", "\x00", "a" * 1000, "\x1finstitution"])
def test_users_that_cannot_be_are_refused(world: World, user_id: str) -> None:
    assert_refused(call(world, DRIFT, {"user_id": user_id}), 400, "invalid_id")


@pytest.mark.parametrize("path", ["a b", "~", "~!!", "~AA", "~_____w", "ผ", "a" * 1000, in_path(" "), in_path("\x00"), "a%"])
def test_ids_in_a_path_that_cannot_be_ids_are_refused_on_every_route(world: World, path: str) -> None:
    for key in _with_an_id():
        name = key[key.rindex("{") + 1 : key.rindex("}")]
        assert_refused(world.call(key, {name: path}, FITTING.get(key), claims=ADMIN), 400, "invalid_id")


def _with_an_id() -> list[str]:
    return [route.key for route in routes() if any(name in route.key for name in ("{memory_id}", "{document_id}", "{job_id}"))]


@pytest.mark.parametrize(
    "query",
    [
        {"type": "unknown"},
        {"type": ""},
        {"type": "Fact"},
        {"past": "yes"},
        {"past": ""},
        {"past": "True"},
        {"as_of": "yesterday"},
        {"as_of": ""},
        {"as_of": "2026-02-30"},
        {"as_of": "2026-13-01"},
        {"as_of": "2026-02-01T12:00:00"},
        {"as_of": "9999-12-31T23:59:59-14:00"},
        {"as_of": "10000-01-01"},
        {"as_of": "1812-01-01"},
        {"as_of": "٢٠٢٦-٠٢-٠١"},
        {"as_of": "1790000000000"},
        {"limit": "0"},
        {"limit": "201"},
        {"limit": "x"},
        {"limit": "٣"},
        {"next": "!"},
        {"next": "bnVsbA"},
        {"next": "WyI"},
        {"next": "MTI"},
    ],
)
def test_filters_and_pages_that_cannot_be_are_refused(world: World, query: dict[str, str]) -> None:
    assert_refused(world.call("GET /v1/memories", query=query))


@pytest.mark.parametrize("name", ["subject", "attribute"])
@pytest.mark.parametrize("text", ["", " ", "x" * 10_000, "\x00", "漢" * 5_000, "#/|=&* ", "%", "\u200b"])
def test_a_filter_of_any_text_finds_what_there_is_and_breaks_nothing(world: World, name: str, text: str) -> None:
    answer = world.call("GET /v1/memories", query={name: text})
    assert answer.status == 200
    assert answer.json["memories"] == []


@pytest.mark.parametrize("position", ["zzz", "+", "a+b", "a+" + "b" * 200, "v1.x+v1.x.y", "\U0001f642", "漢" * 200])
def test_a_cursor_that_no_list_gave_shows_ones_own_at_most(world: World, position: str) -> None:
    from base64 import urlsafe_b64encode  # noqa: PLC0415

    said = urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")
    answer = world.call("GET /v1/memories", query={"next": said})
    assert answer.status == 200
    assert {memory["value"] for memory in answer.json["memories"]} <= {"Oslo"}


def test_a_field_that_is_null_counts_as_not_given(world: World) -> None:
    for key, names in {
        TELL: ["subject", "text", "valid_from", "valid_to", "source", "clearance"],
        RECALL: ["limit", "kinds", "as_of", "since", "until"],
        PUT: ["kind", "document_id", "occurred_at", "institutional", "clearance"],
    }.items():
        assert call(world, key, {**FITTING[key], **dict.fromkeys(names)}).status < 300


def test_sixty_thousand_characters_are_a_document_but_no_memory_and_no_query(world: World) -> None:
    for text in ("x" * 60_000, "ก" * 60_000, "word " * 12_000, "a\n" * 30_000):
        assert call(world, PUT, {**FITTING[PUT], "text": text}).status == 201
    assert world.work() == 0
    long = "x" * 60_000
    for key, field in ((TELL, "value"), (TELL, "text"), (PATCH, "value"), (RECALL, "query")):
        answer = call(world, key, {**FITTING[key], field: long})
        assert_refused(answer)
        assert answer.json["fields"][0]["field"] == field
        assert long not in answer.text


def test_a_document_beyond_the_limit_is_a_413_and_the_one_before_it_stands(world: World) -> None:
    document = {**FITTING[PUT], "document_id": "d"}
    call(world, PUT, document)
    for text in ("x" * (MAX_DOCUMENT_BYTES + 1), "漢" * (MAX_DOCUMENT_BYTES // 3 + 1)):
        assert_refused(call(world, PUT, {**document, "text": text}), 413, "document_too_large")
    assert_refused(call(world, PUT, {**document, "text": "x" * 5_000_000}), 413, "too_large")
    assert world.call("GET /v1/documents/{document_id}", {"document_id": "d"}).json["text"] == "A text."


@pytest.mark.parametrize("key", [TELL, PUT])
def test_nothing_is_written_above_ones_own_clearance(world: World, key: str) -> None:
    for clearance in (1, {"level": 1}, {"compartments": ["red"]}):
        assert_refused(call(world, key, {**FITTING[key], "clearance": clearance}), 403, "clearance_exceeded")


@pytest.mark.parametrize(
    "query", ["'; DROP TABLE items; --", '"', '" OR "1"="1', "*", "NEAR(a b)", "a AND", "(", "<script>", "%", "\\", "🤷", "?"]
)
def test_a_query_of_any_signs_is_answered(world: World, query: str) -> None:
    answer = call(world, RECALL, {"query": query})
    assert (answer.status, answer.json["degraded"]) == (200, False)

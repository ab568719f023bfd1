"""Knowledge documents through their handlers: kept whole, replaced whole, found by passage, removed with all of them."""

from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import pytest

from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.domain.audit import Action, Actor, AuditEvent
from keepsake.domain.errors import OutboxFullError
from keepsake.domain.knowledge import MAX_DOCUMENT_BYTES
from keepsake.domain.pending import Outbox
from keepsake.domain.sanitizing import SanitizedText
from keepsake.domain.search import DocumentKind
from keepsake.domain.vectors import Vector
from keepsake.ports.embedding import Purpose
from keepsake.repositories.keys import Keys
from keepsake.repositories.refs import TruthRef
from tests.fakes import DictItemStore, FakeClock
from tests.world import Answer, World, in_path

on_sqlite = pytest.mark.parametrize("store", ["sqlite"], indirect=True)
ADMIN = {"cognito:groups": "keepsake-admins"}
LONG = " ".join(f"Sentence {number} tells of the harbour and its boats." for number in range(200))


def put(world: World, text: str = "The harbour closes at nine.", **more: Any) -> Answer:
    user, claims = more.pop("user", "ada"), more.pop("claims", None)
    body = {"title": "Harbour", "text": text, "document_id": "harbour", **more}
    return world.call("POST /v1/documents", body=body, user=user, claims=claims)


def one(world: World, method: str = "GET", document_id: str = "harbour", **more: Any) -> Answer:
    return world.call(method + " /v1/documents/{document_id}", {"document_id": in_path(document_id)}, **more)


def passages(world: World, query: str = "harbour", **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = world.recall(query, kinds=["document"], limit=50, **more).json["hits"]
    return found


def test_a_document_is_kept_read_and_found_with_where_it_comes_from(world: World) -> None:
    kept = put(world, kind="help", occurred_at="2026-03-01T00:00:00Z")
    assert (kept.status, kept.json["document_id"], kept.json["kind"]) == (201, "harbour", "help")
    assert "text" not in kept.json
    read = one(world).json
    assert read == {**kept.json, "text": "The harbour closes at nine."}
    world.work()
    (hit,) = passages(world)
    assert (hit["id"], hit["title"], hit["text"]) == ("harbour", "Harbour", "The harbour closes at nine.")
    assert (hit["occurred_at"], hit["institutional"]) == ("2026-03-01T00:00:00Z", False)
    assert hit["source"] == {"type": "document", "session_id": None, "turn_ids": [], "document_id": "harbour"}


@on_sqlite
@pytest.mark.parametrize(
    ("kind", "source"), [("story", "story"), ("recording", "recording"), ("help", "document"), ("reference", "document")]
)
def test_a_passage_says_what_kind_of_source_it_is(world: World, kind: str, source: str) -> None:
    put(world, kind=kind)
    world.work()
    assert [hit["source"]["type"] for hit in passages(world)] == [source]


@on_sqlite
def test_a_document_without_an_id_gets_one_of_its_own(world: World) -> None:
    first, second = (world.call("POST /v1/documents", body={"title": "A", "text": "The same text."}) for _ in range(2))
    assert {first.status, second.status} == {201}
    assert first.json["document_id"] != second.json["document_id"]
    assert one(world, document_id=first.json["document_id"]).json["text"] == "The same text."


@on_sqlite
def test_the_same_document_once_more_changes_nothing(world: World) -> None:
    first = put(world)
    world.work()
    world.clock.advance(minutes=5)
    again = put(world)
    assert (again.status, again.json) == (200, first.json)
    assert world.queue.receive(10) == ()


def test_a_replaced_document_is_replaced_whole_and_no_old_passage_is_found_any_more(world: World) -> None:
    put(world, LONG)
    world.work()
    assert len(passages(world, "harbour boats")) > 5
    replaced = put(world, "The pier opens at six.", title="Pier")
    assert replaced.status == 200
    world.work()
    for query in ("pier", "harbour boats sentence"):
        assert [(hit["title"], hit["text"]) for hit in passages(world, query)] == [("Pier", "The pier opens at six.")]
    assert len(world.index.list_owned("ada", limit=100).documents) == 1


@on_sqlite
def test_between_a_change_and_the_next_run_no_old_word_is_told(world: World) -> None:
    put(world, LONG)
    world.work()
    put(world, "The pier opens at six.")
    assert all("Sentence" not in hit["text"] for hit in passages(world, "harbour boats sentence"))
    one(world, "DELETE")
    assert passages(world, "harbour boats sentence pier") == []


def test_a_deleted_document_is_gone_at_once_from_everything(world: World) -> None:
    put(world, LONG)
    world.work()
    assert one(world, "DELETE").status == 204
    assert one(world).json["code"] == "document_not_found"
    assert one(world, "DELETE").json["code"] == "document_not_found"
    assert passages(world) == []
    world.work()
    assert world.index.list_owned("ada", limit=100).documents == ()
    assert put(world).status == 201


@on_sqlite
@pytest.mark.parametrize("stranger", ["bob", "ada0", "ad"])
def test_an_own_document_is_nobody_elses(world: World, stranger: str) -> None:
    put(world)
    world.work()
    for answer in (one(world, user=stranger), one(world, "DELETE", user=stranger)):
        assert (answer.status, answer.json["code"]) == (404, "document_not_found")
    assert passages(world, user=stranger) == []
    assert put(world, "Another harbour.", user=stranger).status == 201
    assert one(world).json["text"] == "The harbour closes at nine."


def test_the_institutions_documents_are_for_everybody_and_only_admins_write_them(world: World) -> None:
    assert put(world, institutional=True).json["code"] == "access_denied"
    kept = put(world, institutional=True, user="root", claims=ADMIN)
    assert (kept.status, kept.json["institutional"]) == (201, True)
    world.work()
    for user in ("ada", "bob"):
        assert one(world, user=user).json["institutional"] is True
        (hit,) = passages(world, user=user)
        assert (hit["institutional"], hit["text"]) == (True, "The harbour closes at nine.")
        refused = one(world, "DELETE", user=user)
        assert (refused.status, refused.json["code"]) == (403, "access_denied")
        assert put(world, "Ours now.", institutional=True, user=user).status == 403
    context = world.turn("s1", "When does the harbour close?", recall="always").json["context"]["text"]
    assert "## Institutional Knowledge" in context
    assert put(world, "The harbour closes at ten.", institutional=True, user="root2", claims=ADMIN).status == 200
    world.work()
    assert [hit["text"] for hit in passages(world)] == ["The harbour closes at ten."]
    assert one(world, "DELETE", user="root", claims=ADMIN).status == 204
    world.work()
    assert passages(world) == []
    assert one(world, user="bob").status == 404


@on_sqlite
def test_an_own_document_of_the_same_id_stands_before_the_institutions(world: World) -> None:
    put(world, "Theirs.", institutional=True, user="root", claims=ADMIN)
    put(world, "Mine.")
    assert one(world).json["text"] == "Mine."
    assert one(world, user="bob").json["text"] == "Theirs."
    assert one(world, "DELETE").status == 204
    assert one(world).json["text"] == "Theirs."


@on_sqlite
def test_no_user_can_pass_for_the_institution(world: World) -> None:
    put(world, institutional=True, user="root", claims=ADMIN)
    for name in ("\x1finstitution", "institution", "\x1f"):
        answer = one(world, user=name)
        assert answer.status in (401, 200)
        assert one(world, "DELETE", user=name).status in (401, 403)
    assert one(world).status == 200


def test_what_is_above_ones_clearance_is_neither_found_nor_read_nor_replaced() -> None:
    world = World(DictItemStore(), FakeClock())
    above = {"clearance": "2", "compartments": "red blue"}
    put(world, "Open words of the harbour.", document_id="open")
    secret = {"level": 2, "compartments": ["red"]}
    assert put(world, "Secret words of the harbour.", clearance=secret).json["code"] == "clearance_exceeded"
    assert put(world, "Secret words of the harbour.", clearance=secret, claims=above).status == 201
    world.work()
    for claims in ({}, {"clearance": "2"}, {"compartments": "red"}, {"clearance": "1", "compartments": "red"}):
        assert one(world, claims=claims).status == 404
        assert one(world, "DELETE", claims=claims).status == 404
        assert put(world, "Mine.", claims=claims).json["code"] == "document_not_found"
        assert [hit["text"] for hit in passages(world, claims=claims)] == ["Open words of the harbour."]
    assert one(world, claims=above).json["clearance"] == secret
    assert len(passages(world, claims=above)) == 2


@on_sqlite
def test_a_document_of_the_largest_size_is_kept_and_one_beyond_it_refused(world: World) -> None:
    text = ("漢字かな" * (MAX_DOCUMENT_BYTES // 12))[: MAX_DOCUMENT_BYTES // 3]
    assert put(world, text).status == 201
    assert one(world).json["text"] == text
    refused = put(world, text + "漢" * 10)
    assert (refused.status, refused.json["code"]) == (413, "document_too_large")
    assert one(world).json["text"] == text
    assert world.work() == 0
    assert len(passages(world, "漢字")) > 1


class SlowEmbedder(HashingEmbedder):
    """Takes a second for three texts: many documents take longer than a lease lasts."""

    def __init__(self, clock: FakeClock) -> None:
        self.clock = clock

    def embed(self, texts: Sequence[SanitizedText], purpose: Purpose) -> tuple[Vector, ...]:
        self.clock.advance(ms=350 * len(texts))
        return super().embed(texts, purpose)


def test_documents_that_take_longer_than_a_lease_lasts_are_told_to_the_index_in_parts() -> None:
    clock = FakeClock()
    world = World(DictItemStore(), clock, embedder=SlowEmbedder(clock))
    for number in range(4):
        assert put(world, LONG * 8, document_id=f"d{number}").status == 201
    begun = clock.now_ms()
    assert world.work() == 0
    assert clock.now_ms() - begun > 2 * world.runtime.settings.lease_ms
    assert {hit["id"] for hit in passages(world)} <= {f"d{number}" for number in range(4)}
    drift = world.call("POST /v1/admin/drift", body={"user_id": "ada"}, claims=ADMIN).json
    assert drift["documents"] == drift["pointers"] > 200
    assert drift["pointers_without_document"] == 0


@pytest.mark.parametrize("named", ["d", "漢" * 250])
def test_an_outbox_that_is_full_refuses_and_forgets_nothing(named: str) -> None:
    world = World(DictItemStore(), FakeClock())
    memory = world.call("POST /v1/memories", body={"type": "fact", "attribute": "hobby", "value": "the zither"}).json
    world.work()
    keys, memories = Keys("ada", world.runtime.keyed), world.runtime.learning.memories
    state = memories.load("ada")
    outbox, taken = Outbox(), []
    for document_id in [*(f"{named}{number}" for number in range(400)), *(f"e{number}" for number in range(2000))]:
        ref = str(TruthRef(DocumentKind.DOCUMENT, str(keys.document(document_id).sort)))
        with suppress(OutboxFullError):
            outbox = outbox.with_refs([ref], 1)
            taken.append(ref)
    assert list(outbox.refs) == taken
    event = AuditEvent(Action.INDEX_UPDATED, Actor.SCHEDULE, 1, {}, {})
    memories.commit("ada", state, [memories.put_outbox("ada", outbox, state.outbox, state.fence)], event)
    refused = put(world)
    assert (refused.status, refused.json["code"]) == (503, "outbox_full")
    assert "60" in refused.headers.values()
    assert one(world).status == 404
    path = {"memory_id": memory["memory_id"]}
    assert world.call("DELETE /v1/memories/{memory_id}", path).status == 503
    assert world.consolidate() == 0
    assert world.call("DELETE /v1/memories/{memory_id}", path).status == 204
    assert put(world).status == 201


@on_sqlite
@pytest.mark.parametrize("document_id", ["#/|=&* ", "ผู้ใช้", "漢" * 256, "~", "a/b#c", "🙂"])
def test_ids_of_any_script_work_on_every_route(world: World, document_id: str) -> None:
    assert put(world, document_id=document_id).json["document_id"] == document_id
    world.work()
    assert [hit["id"] for hit in passages(world)] == [document_id]
    assert one(world, document_id=document_id).status == 200
    assert one(world, "DELETE", document_id=document_id).status == 204


SCRIPTS = {
    "漢字": "図書館は九時に閉まります。漢字の本があります。",
    "ห้องสมุด": "ห้องสมุดปิดเวลาสามทุ่ม",
    "المكتبة": "تغلق المكتبة في التاسعة.",
    "Öffnungszeiten": "Die Öffnungszeiten der Stadtbücherei stehen an der Tür.",
    "🦄": "The door with the 🦄 is the right one.",
}


@on_sqlite
@pytest.mark.parametrize("query", SCRIPTS)
def test_documents_of_every_script_are_found_and_answered_in_their_own_words(world: World, query: str) -> None:
    put(world, SCRIPTS[query])
    put(world, "Nothing of the kind.", document_id="other")
    world.work()
    assert passages(world, query)[0]["text"] == SCRIPTS[query]

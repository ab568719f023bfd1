"""Every route of the API under attack by others, with all of the owner's own ids: none tells a word, and none changes a thing."""

import re
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest

from local.openapi import routes
from tests.fakes import DictItemStore, FakeClock
from tests.world import Answer, World, in_path

SECRET = "Zanzibar4711"
SECRETS = (SECRET, SECRET.lower(), "Quaxolotl")
OWNER = "user1"
ADMIN = {"cognito:groups": "keepsake-admins"}
ABOVE = {"level": 2, "compartments": ["red"]}
STRANGERS = ("user10", "user", "user2", "USER1", "user1 ", "user1#", "%", "*", "user1/..", "ผู้ใช้")
LOWER: tuple[dict[str, str], ...] = (
    {},
    {"clearance": "2"},
    {"clearance": "1", "compartments": "red"},
    {"compartments": "red blue"},
)
FITTING: dict[str, list[object]] = {
    "POST /v1/sessions/{session_id}/turns": [{"role": "user", "content": "What is my word?", "recall": "always"}],
    "PUT /v1/sessions/{session_id}/scratchpad/{name}": [{"content": "overwritten"}],
    "PUT /v1/profile": [{"interests": ["overwritten"]}],
    "POST /v1/memories": [{"type": "fact", "attribute": "word", "value": "overwritten"}],
    "PATCH /v1/memories/{memory_id}": [{"value": "overwritten"}],
    "POST /v1/memories/{memory_id}/confirm": [{"confirmed": False}, {"confirmed": True}],
    "POST /v1/recall": [{"query": query} for query in (SECRET, "What do you know about me?", "word", "Quaxolotl")],
    "POST /v1/documents": [{"title": "overwritten", "text": "overwritten", "document_id": "doc"}],
    "POST /v1/admin/drift": [{"user_id": OWNER, "repair": True}, {"institutional": True}, {}],
    "POST /v1/audit/verify": [{"user_id": OWNER}],
}


class Victim:
    """One user's memory with a secret in every part of it, under a clearance where one is given."""

    def __init__(self, clearance: dict[str, Any] | None = None, claims: dict[str, str] | None = None) -> None:
        self.world = World(DictItemStore(), FakeClock())
        self.claims = claims
        cleared = {"clearance": clearance} if clearance else {}
        who: dict[str, Any] = {"user": OWNER, "claims": claims}
        for session in ("diary", "live"):
            words = f"My word is {SECRET}. My cat is called Quaxolotl."
            assert self.world.turn(session, words, turn_id="turn", **cleared, **who).status == 200
            if session == "diary":
                self.world.consolidate()
        assert self.world.artifact("PUT", "pad", {"content": SECRET, **cleared}, "live", **who).status == 200
        told = {"type": "fact", "attribute": "word", "value": SECRET, **cleared}
        self.memory_id = self.world.call("POST /v1/memories", body=told, **who).json["memory_id"]
        document = {"title": SECRET, "text": f"The word is {SECRET}.", "document_id": "doc", **cleared}
        assert self.world.call("POST /v1/documents", body=document, **who).status == 201
        self.world.work()
        self.job_id = self.world.call("POST /v1/admin/reindex", user="root", claims=ADMIN).json["job_id"]
        self.world.work()
        self.learned = [memory["memory_id"] for memory in self.world.memories(past="true", **who)]

    def ids(self) -> dict[str, list[str]]:
        """All values for the ids of paths."""
        return {
            "session_id": ["diary", "live", "turn"],
            "name": ["pad", "live"],
            "memory_id": [*self.learned, self.memory_id, f"{self.memory_id}-2", self.memory_id.rpartition(".")[0]],
            "document_id": ["doc", self.memory_id],
            "job_id": [self.job_id, "doc"],
        }

    def attempts(self) -> Iterator[tuple[str, dict[str, str], object]]:
        """Every route with each combination of ids and each body."""
        ids = self.ids()
        for route in routes():
            names = re.findall(r"{(\w+)}", route.key)
            for values, body in product(product(*(ids[name] for name in names)), FITTING.get(route.key, [None])):
                yield route.key, {name: in_path(value) for name, value in zip(names, values, strict=True)}, body

    def holds(self) -> str:
        """All that the owner has, as the owner sees it."""
        who: dict[str, Any] = {"user": OWNER, "claims": self.claims}
        answers = [
            self.world.session("live", **who),
            self.world.log("diary", **who),
            self.world.log("live", **who),
            self.world.call("GET /v1/sessions", **who),
            self.world.call("GET /v1/profile", **who),
            self.world.call("GET /v1/memories", query={"past": "true"}, **who),
            self.world.call("GET /v1/documents/{document_id}", {"document_id": "doc"}, **who),
            self.world.recall(SECRET, limit=50, **who),
        ]
        assert {answer.status for answer in answers} == {200}
        text = "".join(answer.text for answer in answers)
        assert text.count(SECRET) > 8
        return text


def assert_silent(key: str, answer: Answer) -> None:
    """Nothing of the secret, and no crash."""
    assert answer.status < 500, (key, answer.text)
    assert not any(secret in answer.text for secret in SECRETS), (key, answer.status)


@pytest.fixture(scope="module")
def victim() -> Victim:
    return Victim()


def test_the_owners_own_calls_tell_the_secret_so_that_silence_means_something(victim: Victim) -> None:
    telling = set()
    for key, path, body in victim.attempts():
        if key.startswith("GET ") or key == "POST /v1/recall":
            answer = victim.world.call(key, path, body, user=OWNER)
            telling |= {key} if SECRET in answer.text else set()
    silent = {"GET /v1/sessions", "GET /v1/profile", "GET /v1/health", "GET /v1/admin/reindex/{job_id}"}
    assert telling == {route.key for route in routes() if route.key.startswith("GET ")} - silent | {"POST /v1/recall"}


@pytest.mark.parametrize("stranger", STRANGERS)
def test_no_route_tells_or_changes_anything_of_another_user(victim: Victim, stranger: str) -> None:
    before = victim.holds()
    for key, path, body in victim.attempts():
        assert_silent(key, victim.world.call(key, path, body, user=stranger))
        named = {"user_id": OWNER, "sub": OWNER, "owner": OWNER, "user": OWNER, "past": "true", "subject": OWNER}
        assert_silent(key, victim.world.call(key, path, body, user=stranger, query=named))
    victim.world.work()
    assert victim.holds() == before


@pytest.mark.parametrize("stranger", ["user10", "user1 "])
def test_nor_does_any_route_once_the_stranger_has_a_memory_too_and_all_is_consolidated(stranger: str) -> None:
    victim = Victim()
    world = victim.world
    for session in ("diary", "live"):
        world.turn(session, "My word is Kirkwall.", turn_id="turn", user=stranger)
    world.call("POST /v1/documents", body={"title": "Mine", "text": "My word.", "document_id": "doc"}, user=stranger)
    world.consolidate()
    before = victim.holds()
    for key, path, body in victim.attempts():
        assert_silent(key, world.call(key, path, body, user=stranger))
        world.clock.advance(ms=5)
    world.consolidate()
    for query in ("word", SECRET, "cat"):
        assert_silent("recall", world.recall(query, limit=50, user=stranger))
    assert victim.holds() == before


@pytest.mark.parametrize("key", [route.key for route in routes() if "/admin/" in route.key])
def test_what_is_for_admins_is_refused_to_everybody_else(victim: Victim, key: str) -> None:
    for claims in (
        {},
        {"scope": "keepsake-admins admin"},
        {"groups": "keepsake-admins"},
        {"cognito:groups": "keepsake-admins-not"},
    ):
        answer = victim.world.call(key, {"job_id": victim.job_id}, {}, user=OWNER, claims=claims)
        assert (answer.status, answer.json["code"]) == (403, "access_denied")


@pytest.mark.parametrize("claims", LOWER)
def test_no_route_tells_anything_above_the_callers_clearance_be_it_the_owner_or_an_admin(claims: dict[str, str]) -> None:
    victim = Victim(ABOVE, {"clearance": "2", "compartments": "red"})
    for user, more in ((OWNER, {}), (OWNER, ADMIN), ("root", ADMIN)):
        for key, path, body in victim.attempts():
            if key == "POST /v1/profile/reset" or key.startswith("PUT /v1/profile"):
                continue  # one's own, whatever the clearance
            assert_silent(key, victim.world.call(key, path, body, user=user, claims={**claims, **more}))
    victim.world.clock.advance(minutes=1)
    victim.world.consolidate()
    for query in ("word", SECRET, "cat", "What do you know about me?"):
        assert_silent("recall", victim.world.recall(query, limit=50, user=OWNER, claims=claims))
    above = {"clearance": "2", "compartments": "red"}
    assert SECRET in victim.world.recall(SECRET, limit=50, user=OWNER, claims=above).text

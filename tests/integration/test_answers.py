"""Every call once or more: each answer is exactly what the API's description says of it, no field more and none less."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

from local.openapi import description, routes
from tests.fakes import DictItemStore, FakeClock
from tests.world import Answer, World

ADMIN: Any = {"claims": {"cognito:groups": "keepsake-admins", "clearance": "2"}, "user": "ada"}
SECRET = {"level": 1, "compartments": []}
SESSION = {"session_id": "s1"}
ARTIFACT = {**SESSION, "name": "draft"}


@cache
def strict() -> dict[str, Any]:
    """The description, with no object that may hold more than it says."""
    document = deepcopy(description())
    _close(document)
    return document


def _close(node: Any) -> None:
    if isinstance(node, dict):
        if "required" in node and "properties" in node:
            node.setdefault("additionalProperties", False)
        for child in node.values():
            _close(child)
    elif isinstance(node, list):
        for child in node:
            _close(child)


def assert_described(key: str, answer: Answer) -> None:
    method, path = key.split(" ")
    told = strict()["paths"][path][method.lower()]["responses"][str(answer.status)]
    if "content" not in told:
        assert answer.text == ""
        return
    schema = told["content"][answer.headers["content-type"]]["schema"]
    validator = Draft202012Validator({**schema, "components": strict()["components"]})
    assert [f"{error.json_path}: {error.message}" for error in validator.iter_errors(answer.json)] == []


class Tour:
    """Calls, and holds each answer to its description."""

    def __init__(self) -> None:
        self.world = World(DictItemStore(), FakeClock())
        self.taken: set[str] = set()

    def __call__(self, key: str, path: dict[str, str] | None = None, body: object = None, **more: Any) -> Any:
        self.world.clock.advance(seconds=1)
        answer = self.world.call(key, path, body, **(ADMIN | more))
        assert answer.status < 400, (key, answer.text)
        assert_described(key, answer)
        self.taken.add(key)
        return answer.json if answer.text else None


def conversation(tour: Tour) -> None:
    turn = "POST /v1/sessions/{session_id}/turns"
    for content in ("I live in Oslo. I study diabetes.", "My sister Anna lives in Bergen.", "Just the SQL, please."):
        tour(turn, SESSION, {"role": "user", "content": content, "name": "Ada"})
    tour(turn, SESSION, {"role": "assistant", "content": "Noted.", "in_reply_to": "t1", "clearance": SECRET})
    tour("PUT /v1/sessions/{session_id}/scratchpad/{name}", ARTIFACT, {"content": "SELECT 1", "clearance": SECRET})
    tour("GET /v1/sessions/{session_id}/scratchpad/{name}", ARTIFACT)
    for key in ("GET /v1/sessions/{session_id}", "GET /v1/sessions/{session_id}/turns"):
        tour(key, SESSION, query={"limit": "2"})
    tour("GET /v1/sessions")
    tour("DELETE /v1/sessions/{session_id}/scratchpad/{name}", ARTIFACT)


def memories(tour: Tour) -> None:
    tour("POST /v1/memories", body={"type": "event", "attribute": "trip", "value": "Lima", "valid_to": "2030-01-01T00:00:00Z"})
    told = tour("POST /v1/memories", body={"type": "fact", "attribute": "home", "value": "Rome", "clearance": SECRET})
    path = {"memory_id": told["memory_id"]}
    tour("GET /v1/memories", query={"past": "true", "limit": "2"})
    tour("GET /v1/memories/{memory_id}", path)
    tour("PATCH /v1/memories/{memory_id}", path, {"value": "Paris"})
    tour("GET /v1/memories/{memory_id}/history", path)
    tour("POST /v1/memories/{memory_id}/confirm", path, {"confirmed": False})
    tour("POST /v1/memories/{memory_id}/confirm", path, {"confirmed": True})
    tour("DELETE /v1/memories/{memory_id}", path)


def documents(tour: Tour) -> None:
    path, body = {"document_id": "d1"}, {"title": "Harbour", "text": "It closes at nine.", "document_id": "d1", "clearance": 1}
    tour("POST /v1/documents", body={**body, "institutional": True, "kind": "help"})
    for _ in range(2):
        tour("POST /v1/documents", body=body)
    tour("GET /v1/documents/{document_id}", path)


def recall(tour: Tour) -> None:
    for query in ("Where does my sister Anna live?", "When does the harbour close?", "What do you know about me?"):
        assert tour("POST /v1/recall", body={"query": query})["hits"]
    asked = {"role": "user", "content": "Where does my sister live, and when does the harbour close?", "recall": "always"}
    assert tour("POST /v1/sessions/{session_id}/turns", {"session_id": "s2"}, asked)["recall"]["hits"]


def administration(tour: Tour) -> None:
    job = tour("POST /v1/admin/reindex")["job_id"]
    tour("GET /v1/admin/reindex/{job_id}", {"job_id": job})
    tour.world.work()
    tour("GET /v1/admin/reindex/{job_id}", {"job_id": job})
    for body in ({}, {"repair": True}, {"user_id": "bob"}, {"institutional": True}):
        tour("POST /v1/admin/drift", body=body)
    tour("POST /v1/audit/verify", body={})


def profile(tour: Tour) -> None:
    learned = tour("GET /v1/profile")
    assert learned["interests"]
    assert learned["preferences"]
    tour("PUT /v1/profile", body={"interests": ["oncology"], "expertise": {"epidemiology": 0.8}})
    tour("POST /v1/profile/reset")


def test_every_answer_is_as_described() -> None:
    tour = Tour()
    tour("GET /v1/profile")
    tour("GET /v1/memories")
    recall_of_nothing = tour("POST /v1/recall", body={"query": "anything"})
    assert recall_of_nothing["hits"] == []
    conversation(tour)
    documents(tour)
    tour.world.consolidate()
    for part in (recall, memories, administration, profile):
        part(tour)
    tour("DELETE /v1/documents/{document_id}", {"document_id": "d1"})
    for query in ({}, {"deep": "true"}):
        tour("GET /v1/health", query=query)
    assert tour.taken == {route.key for route in routes()}


@pytest.mark.parametrize("key", [route.key for route in routes() if not route.is_open])
def test_every_refusal_is_as_described(key: str) -> None:
    world = World(DictItemStore(), FakeClock())
    answer = world.call(
        key, {"session_id": "~", "name": "~", "memory_id": "~", "document_id": "~", "job_id": "~"}, "[", claims={"sub": ""}
    )
    assert answer.status == 401
    assert_described(key, answer)

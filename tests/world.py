"""A deployed Keepsake in miniature: the functions' handlers over one store, called by HTTP API events."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from keepsake import bootstrap
from keepsake.adapters.tokens import VendoredTokens
from keepsake.config import Settings
from keepsake.ports.item_store import ItemStore
from keepsake.services.recall import NothingRecalled
from tests.fakes import FakeChance, FakeClock, FakeHashKeys, FakeIds

EVENTS = Path(__file__).parent.parent / "events"
TOKENS = VendoredTokens()


def load_event(name: str) -> dict[str, Any]:
    """One of the canonical events."""
    event: dict[str, Any] = json.loads((EVENTS / f"{name}.json").read_text())
    return event


def in_path(identifier: str) -> str:
    """An id as it travels in a path."""
    return "~" + urlsafe_b64encode(identifier.encode()).decode().rstrip("=")


class LambdaContext:
    """What a function is given beside its event."""

    def __init__(self, remaining_ms: int = 29_000) -> None:
        self._remaining_ms = remaining_ms

    def get_remaining_time_in_millis(self) -> int:
        return self._remaining_ms


@dataclass(frozen=True)
class Answer:
    """What a function answered."""

    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def json(self) -> Any:
        return json.loads(self.text)


class World:
    """Calls functions as the gateway does. Users are named by each call."""

    def __init__(self, store: ItemStore, clock: FakeClock) -> None:
        self.store, self.clock = store, clock
        self.runtime = bootstrap.Runtime(
            settings=Settings(store_kind="test"),
            store=store,
            clock=clock,
            ids=FakeIds(),
            chance=FakeChance(),
            hash_keys=FakeHashKeys(),
            tokens=TOKENS,
            recall=NothingRecalled(),
        )

    def call(
        self,
        key: str,
        path: Mapping[str, str] | None = None,
        body: object = None,
        *,
        user: str = "ada",
        query: Mapping[str, str] | None = None,
        claims: Mapping[str, str] | None = None,
    ) -> Answer:
        event = load_event("turn")
        event |= {"routeKey": key, "pathParameters": dict(path or {}), "queryStringParameters": dict(query or {})}
        event["requestContext"]["authorizer"]["jwt"]["claims"] = {"sub": user, **(claims or {})}
        event["body"] = body if isinstance(body, str) else json.dumps(body) if body is not None else None
        return self.invoke(_function_of(key), event)

    def invoke(self, function: str, event: Mapping[str, Any]) -> Answer:
        bootstrap.use(self.runtime)
        answer = handler(function)(dict(event), LambdaContext())
        return Answer(answer["statusCode"], answer["headers"], answer.get("body", ""))

    def turn(self, session: str = "s1", content: object = "hello there", **more: Any) -> Answer:
        user, claims = more.pop("user", "ada"), more.pop("claims", None)
        body = {"role": "user", "content": content, **more}
        path = {"session_id": in_path(session)}
        return self.call("POST /v1/sessions/{session_id}/turns", path, body, user=user, claims=claims)

    def session(self, session: str = "s1", **more: Any) -> Answer:
        return self.call("GET /v1/sessions/{session_id}", {"session_id": in_path(session)}, **more)

    def log(self, session: str = "s1", **more: Any) -> Answer:
        return self.call("GET /v1/sessions/{session_id}/turns", {"session_id": in_path(session)}, **more)

    def artifact(self, method: str, name: str = "draft", body: object = None, session: str = "s1", **more: Any) -> Answer:
        path = {"session_id": in_path(session), "name": in_path(name)}
        return self.call(method + " /v1/sessions/{session_id}/scratchpad/{name}", path, body, **more)

    def verify(self, body: object = None, **more: Any) -> Any:
        return self.call("POST /v1/audit/verify", body=body or {}, **more)

    def consolidate(self, remaining_ms: int = 60_000) -> Any:
        bootstrap.use(self.runtime)
        return handler("consolidation")(load_event("consolidation"), LambdaContext(remaining_ms))


def handler(function: str) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """A function's handler."""
    found: Callable[[dict[str, Any], Any], dict[str, Any]] = import_module(f"functions.{function}.app").lambda_handler
    return found


def _function_of(key: str) -> str:
    path = key.split(" ")[1]
    if key == "POST /v1/sessions/{session_id}/turns":
        return "turn"
    return path.split("/")[2]

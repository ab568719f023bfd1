"""A deployed Keepsake in miniature: the functions' handlers over one store, called by HTTP API events."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from keepsake import bootstrap
from keepsake.adapters.embedding_hashing import HashingEmbedder
from keepsake.adapters.sqlite_queue import ReceivedMessage
from keepsake.adapters.tokens import VendoredTokens
from keepsake.api.scheduled import RunFailedError
from keepsake.config import Settings
from keepsake.domain.errors import IndexUnavailableError
from keepsake.ports.embedding import Embedder
from keepsake.ports.item_store import ItemStore
from keepsake.ports.language_model import LanguageModel
from keepsake.ports.search_index import SearchIndex
from local.queues import sqs_event
from tests.fakes import FakeChance, FakeClock, FakeHashKeys, FakeIds
from tests.fakes_index import DictSearchIndex
from tests.fakes_queue import FakeWorkQueue

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

    def __init__(
        self,
        store: ItemStore,
        clock: FakeClock,
        *,
        index: SearchIndex | None = None,
        embedder: Embedder | None = None,
        model: LanguageModel | None = None,
        settings: Settings | None = None,
    ) -> None:
        self.store, self.clock = store, clock
        self.queue = FakeWorkQueue(clock)
        self.index = index or DictSearchIndex()
        self.embedder = embedder or HashingEmbedder()
        self.runtime = bootstrap.Runtime(
            settings=settings or Settings(store_kind="test"),
            store=store,
            clock=clock,
            ids=FakeIds(),
            chance=FakeChance(),
            hash_keys=FakeHashKeys(),
            tokens=TOKENS,
            backends=bootstrap.Backends(
                queue=lambda: self.queue,
                index=lambda: self.index,
                embedder=lambda: self.embedder,
                background_embedder=lambda: self.embedder,
                model=lambda: model,
            ),
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

    def plan(self, remaining_ms: int = 60_000, *, everything: bool = True) -> Any:
        bootstrap.use(self.runtime)
        event = load_event("consolidation_planner") | {"everything": everything}
        return handler("consolidation_planner")(event, LambdaContext(remaining_ms))

    def work(self, remaining_ms: int = 300_000) -> int:
        """Hand everything on the queue to the worker, as its event source does; how many messages failed."""
        failed = 0
        while batch := self.queue.receive(5):
            failures = self.deliver(batch, remaining_ms)
            for message in batch:
                if message.message_id in failures:
                    failed += 1
                else:
                    self.queue.delete(message.receipt)
        return failed

    def deliver(self, batch: Sequence[ReceivedMessage], remaining_ms: int = 300_000) -> frozenset[str]:
        bootstrap.use(self.runtime)
        answer = handler("consolidation")(sqs_event(batch, "ConsolidationQueue"), LambdaContext(remaining_ms))
        return frozenset(failure["itemIdentifier"] for failure in answer["batchItemFailures"])

    def consolidate(self) -> int:
        """Plan everything that waits, and do it; how many messages failed."""
        try:
            self.plan()
        except RunFailedError as failed:
            # A schedule that finds the index silent has planned all the same.
            if str(failed) != IndexUnavailableError.code:
                raise
        return self.work()

    def recall(self, query: str, **more: Any) -> Any:
        user, claims = more.pop("user", "ada"), more.pop("claims", None)
        return self.call("POST /v1/recall", body={"query": query, **more}, user=user, claims=claims)

    def memories(self, **more: Any) -> Any:
        user, claims = more.pop("user", "ada"), more.pop("claims", None)
        return self.call("GET /v1/memories", query=more, user=user, claims=claims).json["memories"]


def handler(function: str) -> Callable[[dict[str, Any], Any], dict[str, Any]]:
    """A function's handler."""
    found: Callable[[dict[str, Any], Any], dict[str, Any]] = import_module(f"functions.{function}.app").lambda_handler
    return found


def _function_of(key: str) -> str:
    path = key.split(" ")[1]
    if key == "POST /v1/sessions/{session_id}/turns":
        return "turn"
    return _FOLDERS.get(path.split("/")[2], path.split("/")[2])


_FOLDERS = {"admin": "index_admin"}

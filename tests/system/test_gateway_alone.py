"""The gateway by itself, with handlers that misbehave as real ones should not."""

import asyncio
import json
import logging
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from keepsake.adapters.surroundings import SystemClock
from local.answers import Answer
from local.cors import Cors
from local.events import Event, FunctionContext, Request
from local.gateway import Doors, Gateway
from local.routing import RouteTable
from local.template import Route
from local.tokens import TokenIssuer
from local.wire import Receive

pytestmark = pytest.mark.sockets  # an event loop is made of a pair of them

WORDS = "what a user wrote"
ROUTE = Route("POST", "/v1/things/{name}", "ThingFunction", "functions.thing.app", authorised=False)


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(4) as pool:
        yield pool


def gateway(
    handler: Callable[[Event, FunctionContext], object], threads: ThreadPoolExecutor, folder: Path, **more: Any
) -> Gateway:
    def own(_request: Request, _body: bytes) -> Answer:
        return Answer(200)

    doors = Doors(RouteTable([ROUTE]), {"ThingFunction": handler}, own)
    return Gateway(doors, TokenIssuer(folder / "token-key"), SystemClock(), Cors(), threads, **more)


def call(served: Gateway, receive: Receive | None = None, *, body: bytes = b"{}") -> tuple[int, dict[str, str], bytes]:
    """One request straight into the application; (0, {}, b"") when it answered nothing."""
    scope = {
        "type": "http",
        "method": "POST",
        "path": f"/v1/things/{WORDS}",
        "query_string": b"",
        "headers": [(b"Content-Type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }
    sent: list[dict[str, Any]] = []

    async def whole() -> dict[str, Any]:
        return {"type": "http.request", "body": body}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(served(scope, receive or whole, send))
    if not sent:
        return 0, {}, b""
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, sent[1]["body"]


def test_an_exception_of_a_handler_is_a_500_that_says_nothing_of_it(
    threads: ThreadPoolExecutor, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(_event: Event, _context: FunctionContext) -> object:
        raise RuntimeError(WORDS)

    with caplog.at_level(logging.INFO, "keepsake.local"):
        status, headers, body = call(gateway(broken, threads, tmp_path))
    assert (status, headers["content-type"]) == (500, "application/problem+json")
    assert json.loads(body)["code"] == "internal_error"
    assert WORDS not in body.decode() + caplog.text
    assert "POST /v1/things/{name} failed: RuntimeError" in caplog.text


@pytest.mark.parametrize("result", [{"statusCode": 200, "body": {1, 2}}, {"statusCode": 200, "body": "\ud800"}, {1, 2}, object()])
def test_a_result_that_is_no_answer_is_a_500(threads: ThreadPoolExecutor, tmp_path: Path, result: object) -> None:
    status, _, body = call(gateway(lambda _event, _context: result, threads, tmp_path))
    assert (status, json.loads(body)["code"]) == (500, "internal_error")


def test_a_handler_that_takes_too_long_is_a_503_and_is_let_finish(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    going_on, finished = threading.Event(), threading.Event()

    def slow(_event: Event, _context: FunctionContext) -> object:
        going_on.wait(10)
        finished.set()
        return {}

    status, headers, body = call(gateway(slow, threads, tmp_path, longest_s=0.1))
    going_on.set()
    assert (status, headers["retry-after"], json.loads(body)["code"]) == (503, "1", "function_timeout")
    assert finished.wait(10)


def test_a_handler_sees_what_the_real_one_would_see(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    seen: list[tuple[Event, FunctionContext]] = []

    def noting(event: Event, context: FunctionContext) -> object:
        seen.append((event, context))
        return {"statusCode": 200, "body": "fine"}

    status, headers, _ = call(gateway(noting, threads, tmp_path), body=b'{"a": "b"}')
    ((event, context),) = seen
    assert (status, event["body"], event["pathParameters"]) == (200, '{"a": "b"}', {"name": WORDS})
    assert context.aws_request_id == headers["apigw-requestid"]
    assert 0 < context.get_remaining_time_in_millis() <= 30_000
    json.dumps(event)


def test_a_client_that_went_away_reaches_no_handler(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    told: list[dict[str, Any]] = [{"type": "http.request", "body": b"{", "more_body": True}, {"type": "http.disconnect"}]
    parts = iter(told)

    async def leaving() -> dict[str, Any]:
        return next(parts)

    def never(_event: Event, _context: FunctionContext) -> object:
        raise AssertionError("not to be called")

    assert call(gateway(never, threads, tmp_path), leaving) == (0, {}, b"")


def test_a_body_beyond_the_limit_is_dropped_as_it_comes(threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    coming = iter(range(30))

    async def flood() -> dict[str, Any]:
        return {"type": "http.request", "body": b"x" * 1_000_000, "more_body": next(coming) < 29}

    def never(_event: Event, _context: FunctionContext) -> object:
        raise AssertionError("not to be called")

    status, _, body = call(gateway(never, threads, tmp_path), flood)
    assert (status, json.loads(body)["code"]) == (413, "request_too_large")
    assert next(coming, None) is None

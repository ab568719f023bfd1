"""The HTTP API of one machine, as an ASGI application: it routes, authorizes and maps as the real one does.

Handlers run on threads, each request in a context of its own. Neither the log nor an answer of the gateway holds what a
client sent: the log names routes as the template writes them.
"""

import asyncio
import json
import logging
import secrets
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass

from keepsake.ports.surroundings import Clock
from local.answers import Answer, MalformedResultError, from_result, problem
from local.calls import Calls, start_counting
from local.cors import Cors
from local.events import Event, FunctionContext, Request, http_event
from local.routing import Match, RouteTable
from local.tokens import BadTokenError, Claims, TokenIssuer
from local.wire import (
    BodyTooLargeError,
    ClientGoneError,
    Receive,
    Scope,
    Send,
    SlowClientError,
    discard,
    read_body,
    read_request,
    write_answer,
)

Handler = Callable[[Event, FunctionContext], object]
OwnEndpoint = Callable[[Request, bytes], Answer]

LARGEST_BODY = 10 * 1024 * 1024
LARGEST_EVENT = 6 * 1024 * 1024  # what a function may be sent
THREADS = 40

log = logging.getLogger("keepsake.local")


@dataclass(frozen=True, slots=True)
class Doors:
    """What stands behind the gateway: a handler for each route's function, and the machine's own endpoints."""

    routes: RouteTable
    handlers: Mapping[str, Handler]
    own: OwnEndpoint


@dataclass(frozen=True, slots=True)
class Gateway:
    """The ASGI application."""

    doors: Doors
    issuer: TokenIssuer
    clock: Clock
    cors: Cors
    threads: ThreadPoolExecutor
    longest_s: float = 30.0  # an HTTP API waits no longer for a function

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. One whose client went away before it was whole reaches no handler."""
        began = time.monotonic()
        request = read_request(scope, _request_id())
        calls = start_counting()
        match = self.doors.routes.find(request.method, request.path)
        try:
            answer = await self._answer(request, match, receive)
        except ClientGoneError:
            return
        except BodyTooLargeError:
            answer = _refusal(request, 413, "request_too_large", "The request is larger than 10 MB.")
        except SlowClientError:
            answer = _refusal(request, 408, "request_timeout", "The request's body did not arrive in time.").with_headers(
                {"connection": "close"}
            )
        answer = self.cors.applied(request, answer).with_headers(_own_headers(request, calls))
        log.info(
            "%s %d %.0f ms %s",
            match.route_key if match else "(no route)",
            answer.status,
            (time.monotonic() - began) * 1000,
            calls,
        )
        await write_answer(send, answer)

    async def _answer(self, request: Request, match: Match | None, receive: Receive) -> Answer:
        if request.path.startswith("/local/"):
            body = await read_body(request, receive, 64 * 1024)
            return await asyncio.get_running_loop().run_in_executor(None, self.doors.own, request, body)
        if (preflight := self.cors.preflight(request)) is not None:
            return preflight
        if match is None:
            await discard(request, receive)
            return _refusal(request, 404, "not_found", "There is no such route.")
        try:
            claims = self._claims(request) if match.route.authorised else None
        except BadTokenError as bad:
            await discard(request, receive)
            unauthorized = _refusal(request, 401, "unauthenticated", str(bad))
            return unauthorized.with_headers({"www-authenticate": "Bearer"})
        body = await read_body(request, receive, LARGEST_BODY)
        event = http_event(request, body, match=match, claims=claims, now_ms=self.clock.now_ms())
        if len(body) > LARGEST_EVENT // 2 and len(json.dumps(event)) > LARGEST_EVENT:
            return _refusal(request, 413, "request_too_large", "The request is larger than a function can be sent.")
        return await self._invoke(match, event, request)

    def _claims(self, request: Request) -> Claims:
        token = request.header("authorization") or ""
        scheme, _, rest = token.partition(" ")
        return self.issuer.verify(rest.strip() if scheme.lower() == "bearer" else token)

    async def _invoke(self, match: Match, event: Event, request: Request) -> Answer:
        handler = self.doors.handlers[match.route.function]
        context = FunctionContext(match.route.function, request.request_id)
        running = asyncio.get_running_loop().run_in_executor(self.threads, copy_context().run, handler, event, context)
        await asyncio.wait([running], timeout=self.longest_s)
        if not running.done():  # the function runs on, as the real one would, and may yet write
            log.error("%s did not answer in %.0f s", match.route_key, self.longest_s)
            refusal = _refusal(
                request, 503, "function_timeout", "The function did not answer in time; what it was asked may still take effect."
            )
            return refusal.with_headers({"retry-after": "1"})
        if (error := running.exception()) is None:
            try:
                return from_result(running.result())
            except (MalformedResultError, TypeError, ValueError) as malformed:
                error = malformed
        log.error("%s failed: %s", match.route_key, type(error).__name__)
        return _refusal(request, 500, "internal_error", "Something went wrong.")


def _refusal(request: Request, status: int, code: str, detail: str) -> Answer:
    return problem(status, code, detail, correlation_id=request.request_id)


def _own_headers(request: Request, calls: Calls) -> Mapping[str, str]:
    return {"apigw-requestid": request.request_id, "x-keepsake-calls": str(calls)}


def _request_id() -> str:
    return f"{secrets.token_urlsafe(11)}="  # the real ones look like JKJaXmPLvHcESHA=

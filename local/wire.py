"""ASGI at its edges: a request's head and body in, an answer out. A body is never held beyond its limit."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from local.answers import Answer
from local.events import Request

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

MOST_DISCARDED = 64 * 1024 * 1024
SLOWEST_BODY_S = 30.0


class ClientGoneError(Exception):
    """The client closed the connection before its request was whole."""


class BodyTooLargeError(Exception):
    """The body is beyond the limit; what came of it was dropped."""


class SlowClientError(Exception):
    """The body did not arrive in time."""


def read_request(scope: Scope, request_id: str) -> Request:
    """The head of the request. The server has decoded the path, once."""
    client = scope.get("client")
    return Request(
        method=scope["method"],
        path=scope["path"],
        query=scope["query_string"].decode("latin-1"),
        headers=tuple((name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in scope["headers"]),
        source_ip=client[0] if client else "127.0.0.1",
        request_id=request_id,
        protocol=f"HTTP/{scope['http_version']}",
    )


async def read_body(request: Request, receive: Receive, limit: int) -> bytes:
    """The whole body. Raises BodyTooLargeError, SlowClientError or ClientGoneError."""
    if _announced(request) > limit:
        await discard(request, receive)
        raise BodyTooLargeError
    body = bytearray()
    try:
        async with asyncio.timeout(SLOWEST_BODY_S):
            while True:
                chunk, more = await _chunk(receive)
                body += chunk
                if len(body) > limit:
                    body.clear()
                    await _drop(receive, more=more)
                    raise BodyTooLargeError
                if not more:
                    return bytes(body)
    except TimeoutError:
        raise SlowClientError from None


async def discard(request: Request, receive: Receive) -> None:
    """Let the rest of a body come in and drop it: a client that is still sending may not listen to an answer.

    One that asked first (`Expect: 100-continue`), or announced far too much, is answered at once.
    """
    if request.header("expect") is None and _announced(request) <= MOST_DISCARDED:
        try:
            async with asyncio.timeout(SLOWEST_BODY_S):
                await _drop(receive, more=True)
        except TimeoutError:
            raise SlowClientError from None


async def write_answer(send: Send, answer: Answer) -> None:
    """Send it whole."""
    headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in answer.headers]
    if answer.status not in (204, 304):
        headers.append((b"content-length", str(len(answer.body)).encode()))
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": answer.body})


def _announced(request: Request) -> int:
    length = request.header("content-length") or ""
    return int(length) if length.isdecimal() else 0


async def _chunk(receive: Receive) -> tuple[bytes, bool]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    return message.get("body", b""), message.get("more_body", False)


async def _drop(receive: Receive, *, more: bool) -> None:
    dropped = 0
    while more and dropped <= MOST_DISCARDED:
        chunk, more = await _chunk(receive)
        dropped += len(chunk)

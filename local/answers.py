"""What goes back to the client: a handler's result in wire form, and the gateway's own problem documents."""

import base64
import binascii
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus

LARGEST_RESULT = 6 * 1024 * 1024  # what a function may return


@dataclass(frozen=True, slots=True)
class Answer:
    """A response: header names in lower case, repeated ones stand repeatedly."""

    status: int
    body: bytes = b""
    headers: tuple[tuple[str, str], ...] = field(default=())

    def with_headers(self, headers: Mapping[str, str]) -> "Answer":
        """The same, with these headers in place of any of their names."""
        kept = tuple(pair for pair in self.headers if pair[0] not in headers)
        return Answer(self.status, self.body, kept + tuple(headers.items()))


class MalformedResultError(Exception):
    """A function returned what an HTTP API cannot pass on."""


def problem(status: int, code: str, detail: str, *, correlation_id: str, headers: Mapping[str, str] | None = None) -> Answer:
    """An RFC 9457 problem document of the gateway. `detail` never holds what the client sent."""
    document = {
        "type": f"urn:keepsake:problem:{code}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "code": code,
        "detail": detail,
        "correlation_id": correlation_id,
    }
    told = {"content-type": "application/problem+json", "cache-control": "no-store", **(headers or {})}
    return Answer(status, json.dumps(document).encode(), tuple(told.items()))


def json_answer(content: object, status: int = 200) -> Answer:
    """An answer of the machine's own endpoints."""
    return Answer(status, json.dumps(content).encode(), (("content-type", "application/json"), ("cache-control", "no-store")))


def from_result(result: object) -> Answer:
    """A handler's result as an HTTP API passes it on. Raises MalformedResultError."""
    if not isinstance(result, dict) or "statusCode" not in result:
        return json_answer(result)  # the real one takes whatever else is JSON for the body of a 200
    status = result["statusCode"]
    if not isinstance(status, int) or not 200 <= status <= 599:
        raise MalformedResultError("statusCode")
    headers = _headers(result.get("headers") or {})
    headers.setdefault("content-type", "text/plain")
    cookies = tuple(("set-cookie", _header_value(cookie)) for cookie in result.get("cookies") or ())
    body = _body(result.get("body"), encoded=bool(result.get("isBase64Encoded")))
    # The whole result travels as JSON, the body as a string in it.
    if len(body) > LARGEST_RESULT // 8 and len(json.dumps(result, ensure_ascii=False).encode()) > LARGEST_RESULT:
        raise MalformedResultError("the result is larger than a function may return")
    return Answer(status, body, tuple(headers.items()) + cookies)


def _headers(headers: object) -> dict[str, str]:
    if not isinstance(headers, Mapping):
        raise MalformedResultError("headers")
    return {str(name).lower(): _header_value(value) for name, value in headers.items()}


def _header_value(value: object) -> str:
    text = str(value)
    if any(character in text for character in "\r\n\0") or not text.isascii():
        raise MalformedResultError("a header's value")
    return text


def _body(body: object, *, encoded: bool) -> bytes:
    if body is None:
        return b""
    if not isinstance(body, str):
        raise MalformedResultError("body")
    try:
        return base64.b64decode(body, validate=True) if encoded else body.encode()
    except (binascii.Error, UnicodeEncodeError):
        raise MalformedResultError("body") from None

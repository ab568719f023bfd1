"""The event that an HTTP API sends to a function (payload format 2.0), made here as the real one makes it."""

import base64
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from urllib.parse import parse_qsl

from local.routing import Match

Event = dict[str, object]

ACCOUNT = "123456789012"
REGION = "us-east-1"
TEXT_TYPES = ("application/json", "application/javascript", "application/xml")


@dataclass(frozen=True, slots=True)
class Request:
    """An HTTP request as it arrived; `path` is decoded, header names are lower-case, repeated headers stand repeatedly."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    source_ip: str
    request_id: str
    protocol: str = "HTTP/1.1"

    def header(self, name: str) -> str | None:
        """All values of a header joined by commas, None when there is none."""
        values = [value for other, value in self.headers if other == name]
        return ",".join(values) if values else None


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """What Lambda hands to a handler beside the event."""

    function_name: str
    aws_request_id: str
    timeout_s: float = 29.0
    memory_limit_in_mb: int = 1024
    function_version: str = "$LATEST"
    began: float = field(default_factory=time.monotonic)

    @property
    def invoked_function_arn(self) -> str:
        """An ARN of the real form."""
        return f"arn:aws:lambda:{REGION}:{ACCOUNT}:function:{self.function_name}"

    @property
    def log_group_name(self) -> str:
        """Where the real function would log."""
        return f"/aws/lambda/{self.function_name}"

    @property
    def log_stream_name(self) -> str:
        """Which stream it would log to."""
        return "local"

    def get_remaining_time_in_millis(self) -> int:
        """Milliseconds before the real one would be stopped."""
        return max(0, int((self.timeout_s - (time.monotonic() - self.began)) * 1000))


def http_event(request: Request, body: bytes, *, match: Match, claims: Mapping[str, object] | None, now_ms: int) -> Event:
    """A version 2.0 event; `claims` are the authorizer's, None on a route that has none."""
    headers = _joined((name, value) for name, value in request.headers if name != "cookie")
    event: Event = {
        "version": "2.0",
        "routeKey": match.route_key,
        "rawPath": request.path,
        "rawQueryString": request.query,
        "headers": {**headers, "x-forwarded-for": request.source_ip, "x-forwarded-proto": "http"},
        "requestContext": {**_request_context(request, match.route_key, now_ms), **_authorizer(claims)},
        "isBase64Encoded": False,
    }
    if cookies := [part.strip() for name, value in request.headers if name == "cookie" for part in value.split(";")]:
        event["cookies"] = cookies
    if query := _joined(parse_qsl(request.query, keep_blank_values=True)):
        event["queryStringParameters"] = query
    if match.parameters:
        event["pathParameters"] = dict(match.parameters)
    if body:
        event["body"], event["isBase64Encoded"] = _body(request, body)
    return event


def claim_text(value: object) -> str:
    """A claim as the authorizer writes it: arrays as `[a b]`, numbers and booleans as their JSON text."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case list():
            return f"[{' '.join(claim_text(part) for part in value)}]"
        case dict():
            return f"map[{' '.join(f'{name}:{claim_text(part)}' for name, part in sorted(value.items()))}]"
        case None:
            return "<nil>"
        case _:
            return str(value)


def _authorizer(claims: Mapping[str, object] | None) -> Event:
    if claims is None:
        return {}
    return {"authorizer": {"jwt": {"claims": {name: claim_text(value) for name, value in claims.items()}, "scopes": None}}}


def _request_context(request: Request, route_key: str, now_ms: int) -> Event:
    host = (request.header("host") or "localhost").split(":")[0]
    return {
        "accountId": ACCOUNT,
        "apiId": "local",
        "domainName": host,
        "domainPrefix": host.split(".")[0],
        "http": {
            "method": request.method,
            "path": request.path,
            "protocol": request.protocol,
            "sourceIp": request.source_ip,
            "userAgent": request.header("user-agent") or "",
        },
        "requestId": request.request_id,
        "routeKey": route_key,
        "stage": "$default",
        "time": datetime.fromtimestamp(now_ms // 1000, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000"),
        "timeEpoch": now_ms,
    }


def _body(request: Request, body: bytes) -> tuple[str, bool]:
    kind = (request.header("content-type") or "text/plain").split(";")[0].strip().lower()
    textual = kind.startswith("text/") or kind in TEXT_TYPES or kind.endswith(("+json", "+xml"))
    if textual and request.header("content-encoding") is None:
        try:
            return body.decode(), False
        except UnicodeDecodeError:
            pass
    return base64.b64encode(body).decode(), True


def _joined(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in pairs:
        joined[name] = f"{joined[name]},{value}" if name in joined else value
    return joined

"""HTTP API events in, HTTP API answers out: the entry point of every function that has routes.

The gateway has matched the route already (`routeKey`), so a dictionary finds what answers it. Powertools' resolver is not used:
it keeps the event in a class attribute, and a local service answers many requests at once. The only broad `except` stands here.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from keepsake.api.observability import Observed, observed
from keepsake.api.principals import principal_of
from keepsake.api.problems import CONTENT_TYPE, problem, retry_after, status_of
from keepsake.api.wire import path_id
from keepsake.bootstrap import Runtime, runtime
from keepsake.domain.errors import InvalidRequestError, KeepsakeError, NotFoundError
from keepsake.domain.principal import Principal

if TYPE_CHECKING:
    from pydantic import BaseModel  # slow to load, and only loaded by those who take bodies

Event = dict[str, Any]
Answer = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """What a route gets to see. Path parameters as they came; `principal` is None on an open route only."""

    principal: Principal
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: bytes
    until_ms: int

    def id(self, name: str, what: str) -> str:
        """The id in a path parameter. Raises InvalidIdError."""
        return path_id(self.path[name], what)


@dataclass(frozen=True, slots=True)
class Response:
    """A status and a JSON body (None: no body)."""

    body: Mapping[str, Any] | None
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Route:
    """One route: its key as the gateway writes it, what answers it, and for the API's description what it takes and its status.

    An open route needs no token.
    """

    key: str
    answer: Callable[[Runtime, Request], Response]
    body: type[BaseModel] | None = None
    query: tuple[str, ...] = ()
    status: int = 200
    is_open: bool = False


# Time kept back for writing an answer when work is cut short by the function's own time limit.
_RESERVE_MS = 3_000


def http_handler(routes: Sequence[Route]) -> Callable[[Event, Any], Answer]:
    """The Lambda handler of a function that answers `routes`."""
    by_key = {route.key: route for route in routes}

    def lambda_handler(event: Event, context: Any) -> Answer:
        with observed(event) as call:
            try:
                response = _answered(by_key, event, context)
            except KeepsakeError as error:
                return _refused(error, call)
            except Exception as error:  # noqa: BLE001 - the entry point: nothing may reach the gateway as a bare 502
                call.crashed(error)
                return _refused(KeepsakeError(), call)
            call.answered(response.status)
            return _written(response)

    return lambda_handler


def _answered(routes: Mapping[str, Route], event: Event, context: Any) -> Response:
    route = routes.get(event.get("routeKey", ""))
    if route is None:
        raise NotFoundError("there is no such route")
    current = runtime()
    settings = current.settings
    principal = (
        Principal("nobody")
        if route.is_open
        else principal_of(event, admin_group=settings.admin_group, admin_group_claim=settings.admin_group_claim)
    )
    request = Request(
        principal=principal,
        path=event.get("pathParameters") or {},
        query=event.get("queryStringParameters") or {},
        body=_body(event),
        until_ms=current.clock.now_ms() + max(0, context.get_remaining_time_in_millis() - _RESERVE_MS),
    )
    return route.answer(current, request)


def _body(event: Event) -> bytes:
    body = event.get("body") or ""
    if not event.get("isBase64Encoded"):
        try:
            return str(body).encode()
        except UnicodeEncodeError as error:
            raise InvalidRequestError("the body is not UTF-8") from error
    try:
        return b64decode(body, validate=True)
    except ValueError as error:
        raise InvalidRequestError("the body is not base64, as the event says") from error


def _written(response: Response) -> Answer:
    headers = {"cache-control": "no-store", **response.headers}
    if response.body is None:
        return {"statusCode": response.status, "headers": headers}
    headers.setdefault("content-type", "application/json")
    return {
        "statusCode": response.status,
        "headers": headers,
        "body": json.dumps(response.body, ensure_ascii=False, separators=(",", ":")),
        "isBase64Encoded": False,
    }


def _refused(error: KeepsakeError, call: Observed) -> Answer:
    call.refused(error, status_of(error))
    wait = retry_after(error)
    headers = {"content-type": CONTENT_TYPE} | ({"retry-after": str(wait)} if wait is not None else {})
    return _written(Response(problem(error, call.correlation_id), status_of(error), headers))

"""DynamoDB at the other end of a wire that can fail: faults at the HTTP level, below the SDK, with moto behind them."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.exceptions import ReadTimeoutError
from moto.core.models import botocore_stubber

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_dynamodb import DynamoDBClient

Fault = Callable[["Wire", AWSPreparedRequest], AWSResponse | None]

JSON = "application/x-amz-json-1.0"
SECRET = "what the user wrote"


class RawBody(BytesIO):
    """What botocore reads an answer from."""

    def stream(self, **_: object) -> Iterator[bytes]:
        yield self.read()


class Wire:
    """Stands between the SDK and moto. Plays `faults`, one a request; honours client request tokens, which moto does not."""

    def __init__(self, client: DynamoDBClient) -> None:
        self.faults: list[Fault] = []
        self.sent: list[tuple[str, dict[str, Any]]] = []
        self._done: dict[str, AWSResponse] = {}
        # else moto would get every request, answered here or not
        client.meta.events.unregister("before-send", botocore_stubber)  # type: ignore[arg-type]
        client.meta.events.register("before-send.dynamodb", self._between)  # type: ignore[arg-type]  # it may answer

    def _between(self, request: AWSPreparedRequest, **_: object) -> AWSResponse | None:
        operation = request.headers["X-Amz-Target"]
        self.sent.append((str(operation, "ascii") if isinstance(operation, bytes) else operation, body_of(request)))
        if self.faults:
            return self.faults.pop(0)(self, request)
        return self.reach(request)

    def reach(self, request: AWSPreparedRequest) -> AWSResponse:
        """What DynamoDB does with a request that gets through."""
        token = body_of(request).get("ClientRequestToken")
        if token in self._done:
            return answer(request, 200, {})
        response = botocore_stubber("before-send", request)
        assert response
        if token and response.status_code == 200:
            self._done[token] = response
        return response

    def tokens(self) -> list[str]:
        return [body["ClientRequestToken"] for _, body in self.sent if "ClientRequestToken" in body]


def body_of(request: AWSPreparedRequest) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(cast("bytes", request.body))
    return body


def answer(request: AWSPreparedRequest, status: int, body: object, content_type: str = JSON) -> AWSResponse:
    raw = body if isinstance(body, bytes) else json.dumps(body).encode()
    headers: Any = {"content-type": content_type, "x-amzn-requestid": "R"}
    return AWSResponse(request.url, status, headers, RawBody(raw))


# ---- faults -----------------------------------------------------------------------------------------------------------


def through(wire: Wire, request: AWSPreparedRequest) -> AWSResponse:
    return wire.reach(request)


def error(code: str, status: int = 400, **rest: object) -> Fault:
    body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": f"no: {SECRET}", **rest}
    return lambda _, request: answer(request, status, body)


def body(raw: object, status: int = 200, content_type: str = JSON) -> Fault:
    return lambda _, request: answer(request, status, raw, content_type)


def cancelled(*codes: str, message: str = SECRET) -> Fault:
    reasons = [{"Code": code} if code == "None" else {"Code": code, "Message": message} for code in codes]
    return error("TransactionCanceledException", CancellationReasons=reasons)


def broken(exception: Exception) -> Fault:
    def fail(_: Wire, __: AWSPreparedRequest) -> AWSResponse:
        raise exception

    return fail


def lost_answer(wire: Wire, request: AWSPreparedRequest) -> AWSResponse:
    """The request takes effect; its answer never comes."""
    wire.reach(request)
    raise ReadTimeoutError(endpoint_url=request.url)


TIMEOUT = broken(ReadTimeoutError(endpoint_url=f"https://example/{SECRET}"))

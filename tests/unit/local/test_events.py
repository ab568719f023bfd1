"""Routes, events, answers and cross-origin rules, as the real HTTP API has them."""

import base64
from collections.abc import Mapping
from typing import Any

import pytest

from local.answers import Answer, MalformedResultError, from_result
from local.cors import Cors, cors_of
from local.events import Request, claim_text, http_event
from local.routing import Match, RouteTable
from local.template import Route, load_template, read_template

TURNS = Route("POST", "/v1/sessions/{session_id}/turns", "TurnFunction", "functions.turn.app", authorised=True)
ONE = Route("GET", "/v1/sessions/{session_id}", "SessionsFunction", "functions.sessions.app", authorised=True)
FIXED = Route("GET", "/v1/sessions/latest", "SessionsFunction", "functions.sessions.app", authorised=True)
ROUTES = RouteTable([ONE, TURNS, FIXED])


def request(**changes: Any) -> Request:
    usual: dict[str, Any] = {
        "method": "POST",
        "path": "/v1/sessions/s/turns",
        "query": "",
        "headers": (("host", "localhost:3000"),),
        "source_ip": "127.0.0.1",
        "request_id": "id=",
    }
    return Request(**{**usual, **changes})


def event(asked: Request, body: bytes = b"", claims: Mapping[str, object] | None = None) -> dict[str, Any]:
    return http_event(asked, body, match=Match(TURNS, {"session_id": "s"}), claims=claims, now_ms=1_700_000_000_123)


@pytest.mark.parametrize(
    ("method", "path", "found"),
    [
        ("POST", "/v1/sessions/s/turns", {"session_id": "s"}),
        ("GET", "/v1/sessions/a b", {"session_id": "a b"}),
        ("GET", "/v1/sessions/latest", {}),
        ("GET", "/v1/sessions/a/b", None),  # what was %2F in the path has become a slash
        ("GET", "/v1/sessions/", None),
        ("GET", "/v1/sessions//turns", None),
        ("POST", "/v1/sessions/s/turns/", None),
        ("GET", "/v1/sessions/s/turns", None),
        ("HEAD", "/v1/sessions/s", None),
        ("GET", "/V1/sessions/s", None),
        ("GET", "v1/sessions/s", None),
        ("GET", "", None),
    ],
)
def test_a_path_is_matched_segment_by_segment(method: str, path: str, found: dict[str, str] | None) -> None:
    match = ROUTES.find(method, path)
    assert (match.parameters if match else None) == found


def test_every_route_of_the_template_is_found_by_itself() -> None:
    template = load_template()
    table = RouteTable(template.routes)
    assert template.routes
    for route in template.routes:
        match = table.find(route.method, route.path.replace("{", "").replace("}", ""))
        assert match is not None
        assert match.route == route


def test_an_event_has_the_form_of_the_real_ones() -> None:
    headers = (
        ("host", "localhost:3000"),
        ("content-type", "application/json"),
        ("x-thing", "a"),
        ("x-thing", "b"),
        ("cookie", "c=1; d=2"),
        ("user-agent", "curl/8"),
    )
    made = event(request(headers=headers, query="a=1&a=2&b=%20x&c"), b'{"role": "user"}')
    assert made == {
        "version": "2.0",
        "routeKey": "POST /v1/sessions/{session_id}/turns",
        "rawPath": "/v1/sessions/s/turns",
        "rawQueryString": "a=1&a=2&b=%20x&c",
        "cookies": ["c=1", "d=2"],
        "headers": {
            "host": "localhost:3000",
            "content-type": "application/json",
            "x-thing": "a,b",
            "user-agent": "curl/8",
            "x-forwarded-for": "127.0.0.1",
            "x-forwarded-proto": "http",
        },
        "queryStringParameters": {"a": "1,2", "b": " x", "c": ""},
        "pathParameters": {"session_id": "s"},
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "local",
            "domainName": "localhost",
            "domainPrefix": "localhost",
            "http": {
                "method": "POST",
                "path": "/v1/sessions/s/turns",
                "protocol": "HTTP/1.1",
                "sourceIp": "127.0.0.1",
                "userAgent": "curl/8",
            },
            "requestId": "id=",
            "routeKey": "POST /v1/sessions/{session_id}/turns",
            "stage": "$default",
            "time": "14/Nov/2023:22:13:20 +0000",
            "timeEpoch": 1_700_000_000_123,
        },
        "body": '{"role": "user"}',
        "isBase64Encoded": False,
    }


def test_what_is_not_there_is_left_out() -> None:
    made = http_event(request(), b"", match=Match(FIXED, {}), claims=None, now_ms=0)
    assert not {"cookies", "queryStringParameters", "pathParameters", "body"} & made.keys()
    assert "authorizer" not in made["requestContext"]  # type: ignore[operator]


def test_claims_arrive_as_strings() -> None:
    claims = {
        "sub": "alice",
        "clearance": 2,
        "exp": 1.5,
        "admin": True,
        "cognito:groups": ["a", "b"],
        "deep": {"x": [1]},
        "no": None,
    }
    assert event(request(), claims=claims)["requestContext"]["authorizer"] == {
        "jwt": {
            "claims": {
                "sub": "alice",
                "clearance": "2",
                "exp": "1.5",
                "admin": "true",
                "cognito:groups": "[a b]",
                "deep": "map[x:[1]]",
                "no": "<nil>",
            },
            "scopes": None,
        }
    }
    assert claim_text([]) == "[]"


@pytest.mark.parametrize(
    ("headers", "body", "encoded"),
    [
        ((("content-type", "application/json; charset=utf-8"),), "grüße".encode(), False),
        ((), b"plain", False),
        ((("content-type", "application/json"),), b"\xff\xfe", True),
        ((("content-type", "application/octet-stream"),), b"abc", True),
        ((("content-type", "application/x-www-form-urlencoded"),), b"{}", True),
        ((("content-type", "application/json"), ("content-encoding", "gzip")), b"abc", True),
    ],
)
def test_a_body_that_is_no_text_is_base64(headers: tuple[tuple[str, str], ...], body: bytes, encoded: bool) -> None:
    made = event(request(headers=headers), body)
    assert made["isBase64Encoded"] is encoded
    assert (base64.b64decode(made["body"]) if encoded else made["body"].encode()) == body


def test_a_result_is_mapped_and_other_json_is_the_body_of_a_200() -> None:
    told = from_result(
        {"statusCode": 201, "headers": {"X-A": "b"}, "cookies": ["c=1", "d=2"], "body": "aGk=", "isBase64Encoded": True}
    )
    assert told == Answer(
        201, b"hi", (("x-a", "b"), ("content-type", "text/plain"), ("set-cookie", "c=1"), ("set-cookie", "d=2"))
    )
    assert from_result({"ok": True}).body == b'{"ok": true}'
    assert from_result({"statusCode": 204}).body == b""


@pytest.mark.parametrize(
    "result",
    [
        {"statusCode": "200"},
        {"statusCode": 99},
        {"statusCode": 200, "body": {"a": 1}},
        {"statusCode": 200, "body": "\ud800"},
        {"statusCode": 200, "body": "not base64!", "isBase64Encoded": True},
        {"statusCode": 200, "headers": {"x": "a\r\nset-cookie: b"}},
        {"statusCode": 200, "headers": "x"},
        {"statusCode": 200, "body": "x" * (6 * 1024 * 1024 + 1)},
    ],
)
def test_a_result_that_cannot_be_passed_on_is_refused(result: dict[str, object]) -> None:
    with pytest.raises(MalformedResultError):
        from_result(result)


def test_only_the_named_origins_may_call() -> None:
    cors = cors_of(read_template(), ["https://app.example"])
    asked = {"method": "OPTIONS", "headers": (("origin", "https://app.example"), ("access-control-request-method", "POST"))}
    permitted = cors.preflight(request(**asked))
    assert permitted is not None
    told = dict(cors.applied(request(**asked), permitted).headers)
    assert told["access-control-allow-origin"] == "https://app.example"
    assert told["access-control-allow-headers"] == "authorization,content-type"
    stranger = request(method="OPTIONS", headers=(("origin", "https://evil.example"), ("access-control-request-method", "POST")))
    refused = cors.preflight(stranger)
    assert refused is not None
    assert cors.applied(stranger, refused).headers == ()


def test_without_origins_no_page_may_call_and_a_function_s_own_word_is_dropped() -> None:
    answer = Answer(200, b"", (("access-control-allow-origin", "*"), ("content-type", "text/plain")))
    assert Cors().applied(request(headers=(("origin", "https://app.example"),)), answer).headers == (
        ("content-type", "text/plain"),
    )
    assert Cors().preflight(request()) is None

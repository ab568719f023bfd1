"""The gateway over HTTP: what it refuses by itself, and what a badly behaved client meets."""

import json
import socket
import time
from typing import Any

import pytest

from tests.system.running import Service

pytestmark = pytest.mark.sockets

PROBLEM = {"type", "title", "status", "code", "detail", "correlation_id"}


def raw(service: Service, *parts: bytes, pause_s: float = 0.0) -> tuple[int, dict[str, str], bytes]:
    """Send bytes as they are; status, headers and body of the first answer."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        for part in parts:
            connection.sendall(part)
            time.sleep(pause_s)
        return answer(connection, bodiless=parts[0].startswith(b"HEAD "))


def answer(connection: socket.socket, *, bodiless: bool = False) -> tuple[int, dict[str, str], bytes]:
    """One answer from an open connection."""
    received = b""
    while b"\r\n\r\n" not in received:
        chunk = connection.recv(65536)
        assert chunk, received
        received += chunk
    head, _, body = received.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while not bodiless and len(body) < int(headers.get("content-length", "0")):
        body += connection.recv(65536)
    return int(status.split()[1]), headers, body


def head(service: Service, method: str, path: str, **headers: str) -> bytes:
    token = service.issuer.issue("raw-user")
    usual = {"host": "localhost", "authorization": f"Bearer {token}", "content-type": "application/json"}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name.replace('_', '-')}: {value}" for name, value in {**usual, **headers}.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def assert_problem(status: int, headers: dict[str, str], body: bytes, *, expected: int, code: str) -> None:
    assert (status, headers["content-type"]) == (expected, "application/problem+json")
    document: dict[str, Any] = json.loads(body)
    assert document.keys() >= PROBLEM
    assert (document["status"], document["code"], document["correlation_id"]) == (expected, code, headers["apigw-requestid"])


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/"),
        ("GET", "/v1/nothing"),
        ("PATCH", "/v1/profile"),
        ("HEAD", "/v1/health"),
        ("OPTIONS", "/v1/sessions"),
        ("GET", "/v1/sessions/a%2Fb"),
        ("GET", "/v1/sessions//turns"),
        ("GET", "/v1/health/"),
        ("GET", "/v1/%FF%zz"),
        ("GET", "/V1/health"),
    ],
)
def test_an_unknown_route_is_404(sqlite_service: Service, method: str, path: str) -> None:
    status, headers, body = raw(sqlite_service, head(sqlite_service, method, path, content_length="0"))
    if method == "HEAD":
        assert (status, body) == (404, b"")
    else:
        assert_problem(status, headers, body, expected=404, code="not_found")


def test_every_answer_tells_its_calls_and_its_request(sqlite_service: Service, user: str) -> None:
    client = sqlite_service.client(user)
    turn = client.post_turn("s", {"role": "user", "content": "hello"})
    assert (turn.status, turn.headers["x-keepsake-calls"]) == (200, "store=2 index=0 model=0 embed=0")
    unknown = client.call("GET", "/nowhere")
    assert unknown.headers["x-keepsake-calls"] == "store=0 index=0 model=0 embed=0"
    assert turn.headers["apigw-requestid"] != unknown.headers["apigw-requestid"]


def test_an_ordinary_turn_costs_two_round_trips_however_many_came_before(sqlite_service: Service, user: str) -> None:
    client = sqlite_service.client(user)
    costs = {client.post_turn("s", {"role": "user", "content": f"turn {n}"}).headers["x-keepsake-calls"] for n in range(60)}
    assert costs == {"store=2 index=0 model=0 embed=0"}


def test_a_connection_is_kept_alive(sqlite_service: Service) -> None:
    host, port = sqlite_service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        for _ in range(3):
            connection.sendall(head(sqlite_service, "GET", "/v1/health"))
            assert answer(connection)[0] == 200


def test_a_body_beyond_10_mb_is_413_whether_announced_or_not(sqlite_service: Service) -> None:
    chunk = b"x" * 1_000_000
    path = "/v1/sessions/s/turns"
    announced = raw(sqlite_service, head(sqlite_service, "POST", path, content_length="11000000"), *[chunk] * 11)
    assert_problem(*announced, expected=413, code="request_too_large")
    chunked = [f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n"] * 11
    unannounced = raw(sqlite_service, head(sqlite_service, "POST", path, transfer_encoding="chunked"), *chunked, b"0\r\n\r\n")
    assert_problem(*unannounced, expected=413, code="request_too_large")
    asked_first = raw(sqlite_service, head(sqlite_service, "POST", path, content_length="11000000", expect="100-continue"))
    assert_problem(*asked_first, expected=413, code="request_too_large")


def test_a_body_of_10_mb_is_refused_clearly_too(sqlite_service: Service, user: str) -> None:
    reply = sqlite_service.client(user).post_turn("s", {"role": "user", "content": "x" * (10 * 1024 * 1024 - 100)})
    assert reply.status == 413
    assert reply.code
    assert sqlite_service.client(user).get_session("s").status == 404


def test_a_client_that_asks_first_is_told_to_go_on(sqlite_service: Service) -> None:
    body = b'{"role": "user", "content": "hello"}'
    host, port = sqlite_service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        told = {"content_length": str(len(body)), "expect": "100-continue"}
        connection.sendall(head(sqlite_service, "POST", "/v1/sessions/expect/turns", **told))
        assert answer(connection)[0] == 100
        connection.sendall(body)
        assert answer(connection)[0] == 200


def test_a_slow_client_is_waited_for(sqlite_service: Service) -> None:
    body = b'{"role": "user", "content": "hello"}'
    start = head(sqlite_service, "POST", "/v1/sessions/slow/turns", content_length=str(len(body)))
    assert raw(sqlite_service, start, body[:5], body[5:20], body[20:], pause_s=0.2)[0] == 200


def test_a_turn_whose_client_went_away_halfway_is_not_taken(sqlite_service: Service) -> None:
    host, port = sqlite_service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head(sqlite_service, "POST", "/v1/sessions/gone/turns", content_length="500") + b'{"role": "user"')
    time.sleep(0.3)
    assert sqlite_service.client("raw-user").get_turns("gone").status == 404


def test_what_is_no_http_is_400_and_the_service_lives_on(sqlite_service: Service) -> None:
    assert raw(sqlite_service, b"\x16\x03\x01 hello\r\n\r\n")[0] == 400
    assert sqlite_service.client("raw-user").health().status == 200


@pytest.mark.parametrize(
    "path", ["/v1/sessions/%00/turns", "/v1/sessions/~!/turns", "/v1/sessions/~_w/turns", "/v1/sessions/%F0%9F%98%80/turns"]
)
def test_an_id_that_cannot_be_one_is_400(sqlite_service: Service, path: str) -> None:
    body = b'{"role": "user", "content": "hello"}'
    told = raw(sqlite_service, head(sqlite_service, "POST", path, content_length=str(len(body))), body)
    assert_problem(*told, expected=400, code="invalid_id")


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b"\xff\xfe", b'{"role": "user", "content": "a\\ud800b"}', b"nul\x00", b"[" * 100_000]
)
def test_a_body_that_is_no_turn_is_400(sqlite_service: Service, user: str, body: bytes) -> None:
    reply = sqlite_service.client(user).call("POST", "/v1/sessions/s/turns", body)
    assert (reply.status, reply.headers["content-type"]) == (400, "application/problem+json")
    assert reply.code == "invalid_request"


@pytest.mark.parametrize("session", ["a/b", "研究 #1", "a|b=c&d*e", "…", "~", " spaced out ", "x" * 200])
def test_a_session_id_in_any_script_travels_and_comes_back(service: Service, user: str, session: str) -> None:
    client = service.client(user)
    taken = client.post_turn(session, {"role": "user", "content": "hello"})
    assert (taken.status, taken.json["session"]["session_id"]) == (200, session)
    assert [turn["content"] for turn in client.all_turns(session)] == ["hello"]
    assert [listed["session_id"] for listed in client.list_sessions().json["sessions"]] == [session]


@pytest.mark.parametrize("token", ["", "Bearer x", "Basic eDp5"])
def test_the_machine_s_own_endpoints_need_its_own_token(sqlite_service: Service, token: str) -> None:
    for told in (token, f"Bearer {sqlite_service.issuer.issue('raw-user')}"):
        status, headers, body = raw(sqlite_service, head(sqlite_service, "GET", "/local/clock", authorization=told))
        assert_problem(status, headers, body, expected=401, code="unauthenticated")


def test_no_page_may_call_unless_its_origin_was_named(sqlite_service: Service) -> None:
    asked = head(sqlite_service, "OPTIONS", "/v1/sessions", origin="https://evil.example", access_control_request_method="GET")
    status, headers, _ = raw(sqlite_service, asked)
    assert status == 204
    assert not [name for name in headers if name.startswith("access-control-")]

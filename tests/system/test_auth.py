"""Nobody reads another's memory, whatever the token, the id or the body says."""

import time
from pathlib import Path

import jwt
import pytest

from local.client import Client
from local.folder import open_folder
from local.tokens import API_AUDIENCE, ISSUER, Grant, TokenIssuer
from tests.system.running import Service

pytestmark = pytest.mark.sockets

SECRET = "my locker number is 4711"


def claims(user: str, **changes: object) -> dict[str, object]:
    now = int(time.time())
    usual: dict[str, object] = {"iss": ISSUER, "sub": user, "client_id": API_AUDIENCE, "iat": now, "exp": now + 60}
    return {name: value for name, value in {**usual, **changes}.items() if value is not None}


def bad_tokens(service: Service, user: str, other: TokenIssuer) -> dict[str, str]:
    key = (service.data / "token-key").read_bytes()
    good = jwt.encode(claims(user), key, "HS256")
    return {
        "none at all": "",
        "expired": jwt.encode(claims(user, exp=int(time.time()) - 1), key, "HS256"),
        "never expires": jwt.encode(claims(user, exp=None), key, "HS256"),
        "not yet valid": jwt.encode(claims(user, nbf=int(time.time()) + 600), key, "HS256"),
        "unsigned": good.rsplit(".", 1)[0] + ".",
        "alg none": jwt.encode(claims(user), "", algorithm="none"),
        "another algorithm": jwt.encode(claims(user), key, "HS512"),
        "another issuer": jwt.encode(claims(user, iss="https://elsewhere.example"), key, "HS256"),
        "another audience": jwt.encode(claims(user, client_id="another-app"), key, "HS256"),
        "another key": other.issue(user),
        "for the machine's own endpoints": service.issuer.issue_control(),
        "names nobody": jwt.encode(claims(user, sub=None), key, "HS256"),
        "names a blank": jwt.encode(claims("  "), key, "HS256"),
    }


def calls(client: Client) -> list[int]:
    return [
        client.post_turn("diary", {"role": "user", "content": "hello"}).status,
        client.get_session("diary").status,
        client.get_turns("diary").status,
        client.list_sessions().status,
        client.put_artifact("diary", "draft", {"content": "x", "kind": "text"}).status,
        client.get_artifact("diary", "draft").status,
        client.delete_artifact("diary", "draft").status,
        client.get_profile().status,
        client.verify_audit().status,
        client.call("POST", "/v1/profile/reset").status,
    ]


def test_without_a_valid_token_nothing_is_answered(service: Service, user: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    service.client(user).post_turn("diary", {"role": "user", "content": SECRET})
    other = TokenIssuer(tmp_path_factory.mktemp("other") / "token-key")
    for what, token in bad_tokens(service, user, other).items():
        client = Client(service.url, token)
        assert set(calls(client)) == {401}, what
        refused = client.get_session("diary")
        assert refused.headers["content-type"] == "application/problem+json", what
        assert SECRET.encode() not in refused.body, what
    assert len(service.client(user).all_turns("diary")) == 1


def test_a_token_of_another_data_folder_is_told_apart_from_an_expired_one(sqlite_service: Service, user: str, data: Path) -> None:
    foreign = TokenIssuer(open_folder(data).token_key).issue(user)
    expired = sqlite_service.issuer.issue(user, ttl_s=-1)
    for token, words in ((foreign, "data folder"), (expired, "expired"), ("", "carries no bearer token")):
        assert words in Client(sqlite_service.url, token).list_sessions().json["detail"]


def test_another_user_s_token_finds_nothing_under_a_guessed_id(service: Service, user: str) -> None:
    owner = service.client(user)
    owner.post_turn("diary", {"role": "user", "content": SECRET})
    owner.put_artifact("diary", "draft", {"content": SECRET, "kind": "text"})
    for stranger in (
        service.client(f"{user}0"),
        service.client(user[:-1]),
        service.client(user.upper()),
        service.client(f"{user} "),
    ):
        assert stranger.get_session("diary").status == 404
        assert stranger.get_turns("diary").status == 404
        assert stranger.get_artifact("diary", "draft").status == 404
        assert stranger.delete_artifact("diary", "draft").status in (204, 404)
        assert stranger.list_sessions().json["sessions"] == []
        taken = stranger.post_turn("diary", {"role": "user", "content": "what is my locker number?"})
        assert taken.json["session"]["is_new"]
        assert SECRET.encode() not in taken.body
    assert [turn["content"] for turn in owner.all_turns("diary")] == [SECRET]
    assert owner.get_artifact("diary", "draft").json["content"] == SECRET


def test_foreign_and_unknown_sessions_are_the_same_404(service: Service, user: str) -> None:
    service.client(user).post_turn("diary", {"role": "user", "content": SECRET})
    stranger = service.client(f"{user}-stranger")
    foreign, unknown = stranger.get_session("diary").json, stranger.get_session("never-was").json
    assert {**foreign, "correlation_id": ""} == {**unknown, "correlation_id": ""}


def test_user1_beside_user10(service: Service, user: str) -> None:
    one, ten = service.client(f"{user}1"), service.client(f"{user}10")
    one.post_turn("s", {"role": "user", "content": "words of one"})
    ten.post_turn("s", {"role": "user", "content": "words of ten"})
    ten.post_turn("0", {"role": "user", "content": "more words of ten"})
    assert [turn["content"] for turn in one.all_turns("s")] == ["words of one"]
    assert [listed["session_id"] for listed in one.list_sessions().json["sessions"]] == ["s"]
    assert one.get_session("0").status == 404


@pytest.mark.parametrize("field", ["user_id", "sub", "user", "owner", "tenant"])
def test_a_body_cannot_name_another_user(service: Service, user: str, field: str) -> None:
    victim = f"{user}-victim"
    service.client(victim).post_turn("diary", {"role": "user", "content": SECRET})
    attacker = service.client(user)
    refused = attacker.post_turn("diary", {"role": "user", "content": "hello", field: victim})
    assert (refused.status, refused.code) == (400, "invalid_request")
    assert victim.encode() not in refused.body
    assert attacker.get_turns("diary").status == 404
    assert len(service.client(victim).all_turns("diary")) == 1


def test_nor_can_a_header_a_query_or_a_cookie(service: Service, user: str) -> None:
    service.client(f"{user}-victim").post_turn("diary", {"role": "user", "content": SECRET})
    attacker = service.client(user)
    assert attacker.list_sessions(user_id=f"{user}-victim", sub=f"{user}-victim").json["sessions"] == []
    headers = {"authorization": f"Bearer {attacker.token}", "x-user-id": f"{user}-victim", "cookie": f"sub={user}-victim"}
    assert attacker.pool.request("GET", f"{service.url}/v1/sessions/diary", headers=headers).status == 404


def test_only_an_admin_verifies_another_user_s_audit(service: Service, user: str) -> None:
    service.client(user).post_turn("diary", {"role": "user", "content": SECRET})
    assert service.client(f"{user}-stranger").verify_audit({"user_id": user}).status == 403
    found = service.client(f"{user}-admin", Grant(admin=True)).verify_audit({"user_id": user})
    assert (found.status, found.json["valid"]) == (200, True)


def test_a_turn_above_one_s_clearance_is_refused_and_one_below_it_is_hidden_from_lower_tokens(
    service: Service, user: str
) -> None:
    low, high = service.client(user), service.client(user, Grant(clearance=2, compartments=("trial",)))
    assert low.post_turn("s", {"role": "user", "content": "secret words", "clearance": 1}).status == 403
    cleared = {"role": "user", "content": "secret words", "clearance": {"level": 2, "compartments": ["trial"]}}
    assert high.post_turn("s", cleared).status == 200
    low.post_turn("s", {"role": "user", "content": "open words"})
    assert [turn["content"] for turn in high.all_turns("s")] == ["secret words", "open words"]
    assert [turn["content"] for turn in low.all_turns("s")] == ["open words"]
    assert b"secret words" not in low.post_turn("s", {"role": "user", "content": "what was said?"}).body

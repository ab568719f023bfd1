"""Tokens: what is accepted, and that nothing else is."""

import time
from pathlib import Path

import jwt
import pytest

from local.folder import LocalError
from local.tokens import API_AUDIENCE, CONTROL_AUDIENCE, ISSUER, BadTokenError, Grant, TokenIssuer


@pytest.fixture
def issuer(tmp_path: Path) -> TokenIssuer:
    return TokenIssuer(tmp_path / "token-key")


def forged(issuer: TokenIssuer, **claims: object) -> str:
    """A token with the right key and these claims in place of the usual ones; None leaves one out."""
    usual: dict[str, object] = {
        "iss": ISSUER,
        "sub": "alice",
        "client_id": API_AUDIENCE,
        "iat": int(time.time()),
        "exp": int(time.time()) + 60,
    }
    return jwt.encode({name: value for name, value in {**usual, **claims}.items() if value is not None}, issuer._key, "HS256")


@pytest.mark.parametrize("user", ["alice", "user1", "研究者", "алиса", "a b#c/d|e=f", "👩‍⚕️"])
def test_any_user_gets_a_token_that_names_them(issuer: TokenIssuer, user: str) -> None:
    claims = issuer.verify(issuer.issue(user, Grant(admin=True, clearance=2, compartments=("trial", "site-4"))))
    assert (claims["sub"], claims["clearance"], claims["compartments"]) == (user, 2, "trial site-4")
    assert claims["cognito:groups"] == ["keepsake-admins"]


def test_the_key_is_made_once_and_kept(tmp_path: Path) -> None:
    token = TokenIssuer(tmp_path / "token-key").issue("alice")
    assert TokenIssuer(tmp_path / "token-key").verify(token)["sub"] == "alice"


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) - 1},
        {"exp": None},
        {"iat": None},
        {"iat": int(time.time()) + 3600},
        {"nbf": int(time.time()) + 3600},
        {"iss": "https://elsewhere.example"},
        {"iss": None},
        {"client_id": "another-app"},
        {"client_id": None},
        {"aud": "another-app"},
        {"aud": []},
        {"exp": "never"},
    ],
)
def test_a_claim_that_is_wrong_or_missing_makes_the_token_worthless(issuer: TokenIssuer, claims: dict[str, object]) -> None:
    with pytest.raises(BadTokenError):
        issuer.verify(forged(issuer, **claims))


def test_the_audience_counts_before_the_client_id(issuer: TokenIssuer) -> None:
    assert issuer.verify(forged(issuer, aud=["x", API_AUDIENCE], client_id="another-app"))["sub"] == "alice"


def test_other_keys_and_algorithms_are_refused(issuer: TokenIssuer, tmp_path: Path) -> None:
    claims = {"iss": ISSUER, "sub": "alice", "client_id": API_AUDIENCE, "iat": int(time.time()), "exp": int(time.time()) + 60}
    whole = issuer.issue("alice")
    head, body, signature = whole.split(".")
    bad = [
        TokenIssuer(tmp_path / "other-key").issue("alice"),
        jwt.encode(claims, "", algorithm="none"),
        jwt.encode(claims, issuer._key, algorithm="HS384"),
        f"{head}.{body}.",
        f"{head}.{body}",
        f"{head}.{body}.{signature[:-2]}AA",
        "",
        "not a token",
        "....",
        "\u00e9.\u00e9.\u00e9",
    ]
    for token in bad:
        with pytest.raises(BadTokenError):
            issuer.verify(token)


def test_a_refusal_tells_its_sender_what_to_mend(issuer: TokenIssuer, tmp_path: Path) -> None:
    foreign = TokenIssuer(tmp_path / "other-key").issue("alice")
    told = {
        "carries no bearer token": "",
        "has expired": forged(issuer, exp=int(time.time()) - 1),
        "not signed with the key of this service's data folder": foreign,
        "not one for this use": issuer.issue_control(),
    }
    for words, token in told.items():
        with pytest.raises(BadTokenError, match=words):
            issuer.verify(token)


def test_a_control_token_is_worth_nothing_at_the_api_and_the_other_way_round(issuer: TokenIssuer) -> None:
    assert issuer.verify(issuer.issue_control(), CONTROL_AUDIENCE)
    with pytest.raises(BadTokenError):
        issuer.verify(issuer.issue_control())
    with pytest.raises(BadTokenError):
        issuer.verify(issuer.issue("alice"), CONTROL_AUDIENCE)


@pytest.mark.parametrize(
    ("user", "grant"),
    [
        ("", Grant()),
        ("  ", Grant()),
        ("a\udc80", Grant()),
        ("a\x00b", Grant()),
        ("a" * 257, Grant()),
        ("\u200b", Grant()),
        ("alice", Grant(clearance=-1)),
        ("alice", Grant(clearance=1_000_000_000)),
        ("alice", Grant(compartments=("no\u00a0break",))),
        ("alice", Grant(compartments=("line\n",))),
        ("alice", Grant(compartments=("x" * 65,))),
        ("alice", Grant(compartments=("two words",))),
        ("alice", Grant(compartments=("",))),
    ],
)
def test_what_the_service_would_not_take_is_refused(issuer: TokenIssuer, user: str, grant: Grant) -> None:
    with pytest.raises(LocalError):
        issuer.issue(user, grant)


def test_a_key_that_is_too_short_is_refused(tmp_path: Path) -> None:
    (tmp_path / "token-key").write_bytes(b"short")
    with pytest.raises(LocalError, match="token-key"):
        TokenIssuer(tmp_path / "token-key")

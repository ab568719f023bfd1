"""This machine's token issuer and the check that an HTTP API's JWT authorizer makes.

Tokens live by the real time: putting the service's clock forward does not age them. Nothing here says why a token was refused.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jwt

from local.folder import LocalError, write_once

ISSUER = "https://keepsake.invalid/local"
API_AUDIENCE = "keepsake-api"
CONTROL_AUDIENCE = "keepsake-control"
ADMIN_GROUP = "keepsake-admins"
GROUPS_CLAIM = "cognito:groups"
DEFAULT_TTL_S = 12 * 3600

Claims = Mapping[str, object]


class BadTokenError(Exception):
    """The token is not one of ours, not for this audience, or not valid now."""


@dataclass(frozen=True, slots=True)
class Grant:
    """What a token says of a user besides the name."""

    admin: bool = False
    clearance: int = 0
    compartments: Sequence[str] = ()


class TokenIssuer:
    """Signs and checks tokens with the data folder's key, which is made when there is none."""

    def __init__(self, key_path: Path) -> None:
        self._key = write_once(key_path, secrets.token_hex(32).encode())
        if len(self._key) < 32:
            raise LocalError(f"{key_path} does not read as a key: remove it")

    def issue(self, user: str, grant: Grant | None = None, *, ttl_s: int = DEFAULT_TTL_S) -> str:
        """A bearer token for the API. `user` may be any text; raises LocalError for what no claim can carry."""
        grant = grant or Grant()
        _check(user, grant)
        claims: dict[str, object] = {
            "sub": user,
            "client_id": API_AUDIENCE,
            "token_use": "access",
            "clearance": grant.clearance,
            "compartments": " ".join(grant.compartments),
        }
        if grant.admin:
            claims[GROUPS_CLAIM] = [ADMIN_GROUP]
        return self._sign(claims, ttl_s)

    def issue_control(self, *, ttl_s: int = 3600) -> str:
        """A token for this machine's own endpoints under `/local/`, worth nothing at the API."""
        return self._sign({"aud": CONTROL_AUDIENCE}, ttl_s)

    def verify(self, token: str, audience: str = API_AUDIENCE) -> Claims:
        """The token's claims. Raises BadTokenError."""
        try:
            claims: dict[str, object] = jwt.decode(
                token,
                self._key,
                algorithms=["HS256"],
                issuer=ISSUER,
                options={"require": ["exp", "iat", "iss"], "verify_aud": False, "verify_sub": False},
            )
        except jwt.InvalidTokenError:
            raise BadTokenError from None
        named = claims.get("aud", claims.get("client_id"))  # client_id counts only where there is no aud, as at the real one
        if audience not in (named if isinstance(named, list) else [named]):
            raise BadTokenError
        return claims

    def _sign(self, claims: Mapping[str, object], ttl_s: int) -> str:
        now = int(time.time())
        times = {"iss": ISSUER, "iat": now, "exp": now + ttl_s, "jti": secrets.token_hex(16)}
        return jwt.encode({**claims, **times}, self._key, algorithm="HS256", headers={"kid": "local"})


def _check(user: str, grant: Grant) -> None:
    try:
        " ".join((user, *grant.compartments)).encode()
    except UnicodeEncodeError:
        raise LocalError("a user or compartment is not valid text") from None
    if not user.strip():
        raise LocalError("a user has a name that is not blank")
    if grant.clearance < 0:
        raise LocalError("a clearance is 0 or more")
    if any(not compartment or compartment.split() != [compartment] for compartment in grant.compartments):
        raise LocalError("a compartment is a word without spaces")

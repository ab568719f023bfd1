"""This machine's token issuer and the check that an HTTP API's JWT authorizer makes.

Tokens live by the real time: putting the service's clock forward does not age them. Why a token was refused may be told
here, where issuer and reader are one person: the real authorizer tells nobody.
"""

import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import jwt

from keepsake.domain.errors import InvalidIdError
from keepsake.domain.ids import checked_id
from local.folder import LocalError, write_once

ISSUER = "https://keepsake.invalid/local"
API_AUDIENCE = "keepsake-api"
CONTROL_AUDIENCE = "keepsake-control"
ADMIN_GROUP = "keepsake-admins"
GROUPS_CLAIM = "cognito:groups"
DEFAULT_TTL_S = 12 * 3600
# What the service takes; it reads a higher level as 0, and no turn could carry a longer compartment.
HIGHEST_LEVEL = 999_999_999
LONGEST_COMPARTMENT = 64

MISSING = "The request carries no bearer token: `python -m local token USER` prints one."
EXPIRED = "The token has expired: `python -m local token USER` prints a new one."
FOREIGN = "The token was not signed with the key of this service's data folder: make one with that folder's --data."
WRONG = "The token is not one for this use, or not valid now."

Claims = Mapping[str, object]


class BadTokenError(Exception):
    """The token is not one of ours, not for this audience, or not valid now. The message says which, for its sender."""


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
        """A bearer token for the API. `user` is in any script; raises LocalError for what the service would not take."""
        grant = grant or Grant()
        check(user, grant)
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
        except jwt.ExpiredSignatureError:
            raise BadTokenError(EXPIRED) from None
        except jwt.InvalidSignatureError:
            raise BadTokenError(FOREIGN) from None
        except jwt.InvalidTokenError:
            raise BadTokenError(WRONG if token else MISSING) from None
        named = claims.get("aud", claims.get("client_id"))  # client_id counts only where there is no aud, as at the real one
        if audience not in (named if isinstance(named, list) else [named]):
            raise BadTokenError(WRONG)
        return claims

    def _sign(self, claims: Mapping[str, object], ttl_s: int) -> str:
        now = int(time.time())
        times = {"iss": ISSUER, "iat": now, "exp": now + ttl_s, "jti": secrets.token_hex(16)}
        return jwt.encode({**claims, **times}, self._key, algorithm="HS256", headers={"kid": "local"})


def check(user: str, grant: Grant) -> None:
    """Raises LocalError for a user or a grant that the service would refuse, or would read as another one."""
    try:
        checked_id(user, "user id")
        " ".join(grant.compartments).encode()
    except InvalidIdError as error:
        raise LocalError(error.detail) from None
    except UnicodeEncodeError:
        raise LocalError("a compartment is not valid text") from None
    if not 0 <= grant.clearance <= HIGHEST_LEVEL:
        raise LocalError(f"a clearance is a whole number from 0 to {HIGHEST_LEVEL}")
    if any(each.split() != [each] or len(each) > LONGEST_COMPARTMENT for each in grant.compartments):
        raise LocalError(f"a compartment is a word of 1 to {LONGEST_COMPARTMENT} characters without white space")

"""Who calls, from the claims that the authorizer has verified. Nothing in a body or a path can name another user."""

from collections.abc import Mapping
from typing import Any

from keepsake.domain.clearance import Clearance
from keepsake.domain.errors import InvalidIdError, UnauthenticatedError
from keepsake.domain.ids import checked_id
from keepsake.domain.principal import Principal


def principal_of(event: Mapping[str, Any], *, admin_group: str, admin_group_claim: str) -> Principal:
    """The principal of an HTTP API event. Claims arrive as strings. Raises UnauthenticatedError when there is no usable `sub`."""
    authorizer = event.get("requestContext", {}).get("authorizer") or {}
    claims = (authorizer.get("jwt") or {}).get("claims") or {}
    try:
        user_id = checked_id(str(claims.get("sub") or ""), "user id")
    except InvalidIdError as error:
        raise UnauthenticatedError("the token names no usable user") from error
    return Principal(
        user_id=user_id,
        clearance=Clearance(_level(claims.get("clearance")), frozenset(str(claims.get("compartments") or "").split())),
        is_admin=admin_group in _listed(claims.get(admin_group_claim)),
    )


def _level(claim: object) -> int:
    """A whole number; missing or unreadable is 0, the least that one may see."""
    given = str(claim or "").strip()
    return int(given) if given.isascii() and given.isdecimal() and len(given) < 10 else 0


def _listed(claim: object) -> frozenset[str]:
    """The members of a list claim. The gateway writes a list as `[a b]`, so that no member can hold a space."""
    if isinstance(claim, list | tuple):
        return frozenset(str(member) for member in claim)
    given = str(claim or "").strip()
    if given.startswith("[") and given.endswith("]"):
        return frozenset(given[1:-1].split())
    return frozenset({given})

"""Small forms of the wire: ids in paths, times, cursors, page sizes."""

import json
import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from keepsake.domain.errors import InvalidIdError, InvalidRequestError
from keepsake.domain.ids import checked_id

DEFAULT_PAGE = 50
MAX_PAGE = 200

_PLAIN_ID = re.compile(r"[A-Za-z0-9._-]+\Z")
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*={0,2}\Z")
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EARLIEST = datetime(1900, 1, 1, tzinfo=UTC)
_LATEST = datetime(9999, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC)
_DAY_MS = 24 * 3600 * 1000


def path_id(given: str, what: str) -> str:
    """The id that a path segment stands for: itself, or `~` and the base64url of its UTF-8. Raises InvalidIdError."""
    if _PLAIN_ID.match(given):
        return checked_id(given, what)
    if not given.startswith("~") or not _BASE64URL.match(given[1:]):
        raise InvalidIdError(f"the {what} is outside [A-Za-z0-9._-]: it travels as ~ and the base64url of its UTF-8")
    try:
        raw = _decoded(given[1:])
        identifier = raw.decode()
    except ValueError as error:
        raise InvalidIdError(f"the {what} after ~ is base64url of UTF-8") from error
    if urlsafe_b64encode(raw).decode().rstrip("=") != given[1:].rstrip("="):
        raise InvalidIdError(f"the {what} after ~ has one spelling only")
    return checked_id(identifier, what)


def timestamp(at_ms: int) -> str:
    """RFC 3339 in UTC; milliseconds only where there are any."""
    at = _EPOCH + timedelta(milliseconds=at_ms)
    precision = "milliseconds" if at_ms % 1000 else "seconds"
    return at.isoformat(timespec=precision).replace("+00:00", "Z")


def milliseconds(at: datetime) -> int:
    """Milliseconds since 1970. Raises ValueError without a zone, before 1900, which no caller's clock shows, and after 9999."""
    if at.tzinfo is None:
        raise ValueError("a time without a zone")
    if not _EARLIEST <= at <= _LATEST:
        raise ValueError("a time before 1900 or after 9999")
    return (at - _EPOCH) // timedelta(milliseconds=1)


def rfc_3339(given: str) -> int:
    """Milliseconds of an RFC 3339 time with a zone. Raises ValueError."""
    return milliseconds(datetime.fromisoformat(given if _RFC_3339.fullmatch(given) else ""))


def instant(given: str) -> int:
    """Milliseconds of an RFC 3339 time, or of the end of a day in UTC. Raises ValueError."""
    # A plus sign that nobody encoded reaches us as a space.
    if not _DAY.fullmatch(given):
        return rfc_3339(re.sub(r" (?=\d\d:\d\d$)", "+", given))
    return milliseconds(datetime.fromisoformat(given).replace(tzinfo=UTC)) + _DAY_MS - 1


def page_size(query: Mapping[str, str]) -> int:
    """The `limit` of a list: 1 to MAX_PAGE. Raises InvalidRequestError."""
    given = query.get("limit")
    if given is None:
        return DEFAULT_PAGE
    if not given.isascii() or not given.isdecimal() or len(given) > 6 or not 1 <= int(given) <= MAX_PAGE:
        raise InvalidRequestError(f"limit is a whole number from 1 to {MAX_PAGE}", fields=(("limit", "out of range"),))
    return int(given)


def cursor(position: str | int | None) -> str | None:
    """An opaque `next` for a position in a list."""
    if position is None:
        return None
    return urlsafe_b64encode(json.dumps(position).encode()).decode().rstrip("=")


def text_position(query: Mapping[str, str]) -> str | None:
    """The position in a list by ids that `next` stands for. Raises InvalidRequestError."""
    position = _position(query)
    if position is None or isinstance(position, str):
        return position
    raise _invalid_cursor()


def number_position(query: Mapping[str, str]) -> int | None:
    """The position in a list by numbers that `next` stands for. Raises InvalidRequestError."""
    position = _position(query)
    if position is None or (isinstance(position, int) and not isinstance(position, bool) and abs(position) < 2**53):
        return position
    raise _invalid_cursor()


def _position(query: Mapping[str, str]) -> object:
    given = query.get("next")
    if given is None:
        return None
    try:
        position = json.loads(_decoded(given))
    except (ValueError, RecursionError) as error:
        raise _invalid_cursor() from error
    if position is None or (isinstance(position, str) and not _usable(position)):
        raise _invalid_cursor()
    return position


def _usable(position: str) -> bool:
    try:
        checked_id(position, "cursor")
    except InvalidIdError:
        return False
    return True


def _invalid_cursor() -> InvalidRequestError:
    return InvalidRequestError("next is not a cursor that this list gave", fields=(("next", "not a cursor"),))


def _decoded(given: str) -> bytes:
    stripped = given.rstrip("=")
    return urlsafe_b64decode(stripped + "=" * (-len(stripped) % 4))

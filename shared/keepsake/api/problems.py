"""Errors as problem documents (RFC 9457). The one table of statuses; an error finds its own along its class's ancestors."""

from collections.abc import Mapping
from typing import Any

from keepsake.domain import errors

CONTENT_TYPE = "application/problem+json"

STATUSES: Mapping[type[errors.KeepsakeError], int] = {
    errors.InvalidRequestError: 400,
    errors.UnauthenticatedError: 401,
    errors.AccessDeniedError: 403,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.SubjectErasedError: 410,
    errors.TooLargeError: 413,
    errors.UnprocessableError: 422,
    errors.DependencyUnavailableError: 503,
    errors.StoreUnavailableError: 503,
    errors.KeepsakeError: 500,
}

_TITLES: Mapping[int, str] = {
    400: "The request is malformed",
    401: "No usable identity",
    403: "Not allowed",
    404: "Not found",
    409: "The state has moved",
    410: "Erased",
    413: "Too large",
    422: "The request cannot be carried out",
    500: "Something went wrong here",
    503: "Not available right now",
}

# What a caller should wait, in seconds, where the error itself does not say.
_RETRY_AFTER = 1


def status_of(error: errors.KeepsakeError) -> int:
    """The HTTP status of an error."""
    return next(STATUSES[ancestor] for ancestor in type(error).__mro__ if ancestor in STATUSES)


def problem(error: errors.KeepsakeError, correlation_id: str) -> dict[str, Any]:
    """The problem document of an error. What went wrong inside is told by its code alone."""
    status = status_of(error)
    document: dict[str, Any] = {
        "type": f"urn:keepsake:problem:{error.code}",
        "title": _TITLES[status],
        "status": status,
        "code": error.code,
        "detail": error.detail or _TITLES[status],
        "correlation_id": correlation_id,
    }
    if isinstance(error, errors.InvalidRequestError) and error.fields:
        document["fields"] = [{"field": field, "problem": what} for field, what in error.fields]
    return document


def retry_after(error: errors.KeepsakeError) -> int | None:
    """Seconds after which a repetition makes sense; None where it makes none."""
    if error.retry_after is not None:
        return error.retry_after
    return _RETRY_AFTER if error.retryable else None

"""One OpenSearch endpoint over HTTP: signing, time limits, repeats, and the one place where its errors become the domain's.

No message of the index's is passed on, logged or warned of: it may quote what was sent. Only the operation and the status are.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

import botocore.session
from opensearchpy import Transport, Urllib3AWSV4SignerAuth, Urllib3HttpConnection
from opensearchpy.exceptions import ConnectionError as NoAnswer
from opensearchpy.exceptions import ConnectionTimeout, OpenSearchException, TransportError
from urllib3 import Timeout

from keepsake.domain.errors import IndexUnavailableError
from keepsake.ports.surroundings import Chance, Clock

# What an answer raises when it is not of the shape that it should have.
_UNREADABLE = (AttributeError, LookupError, TypeError, ValueError)
_PASSING = frozenset({429, 502, 503, 504})
_TRIES = 3
_FIRST_WAIT = 0.2  # seconds; the wait is drawn evenly below it, and it doubles with each try
_CONNECTIONS = 4
_PORTS = {"http": 80, "https": 443}

NDJSON = "application/x-ndjson"

Body = bytes | Mapping[str, Any] | None


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds: to connect, for an answer that somebody waits for (tried once), for all other answers (tried three times)."""

    connect: float = 1.0
    read: float = 2.5
    write: float = 20.0


class QuietConnection(Urllib3HttpConnection):
    """The client's own connection, but it neither logs nor warns nor quotes: all of that may hold what users wrote."""

    def log_request_success(self, *_: object, **__: object) -> None:
        """Log nothing."""

    def log_request_fail(self, *_: object, **__: object) -> None:
        """Log nothing."""

    def _raise_warnings(self, warning_headers: Any) -> None:
        """Warn of nothing."""

    def _raise_error(self, status_code: int, raw_data: str | bytes, content_type: str | None = None) -> NoReturn:  # noqa: ARG002
        raise TransportError(status_code, "", None)


@contextmanager
def answer_read(operation: str) -> Iterator[None]:
    """Run what reads an answer; raises IndexUnavailableError when the answer has not the shape that it should have."""
    try:
        yield
    except _UNREADABLE as error:
        raise IndexUnavailableError(f"{operation} was not answered sensibly ({type(error).__name__})") from None


class SearchClient:
    """Sends requests and returns the JSON of the answers. Every method may raise IndexUnavailableError, and nothing else."""

    def __init__(self, transport: Transport, *, clock: Clock, chance: Chance, limits: Limits) -> None:
        self._transport = transport
        self._clock = clock
        self._chance = chance
        self.limits = limits

    def read(self, operation: str, path: str, lines: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
        """The answer to `lines`, in the short time that somebody waits; never tried again."""
        return self._sent(operation, "POST", path, as_lines(lines), self.limits.read, ())

    def write(
        self, operation: str, method: str, path: str, body: Body = None, *, fine: tuple[int, ...] = ()
    ) -> Mapping[str, Any]:
        """The answer to a request that has time, tried again after passing refusals. A status among `fine` is no error."""
        tries = 1
        while True:
            try:
                return self._sent(operation, method, path, body, self.limits.write, fine)
            except _PassingError:
                if tries == _TRIES:
                    raise
            self._clock.sleep(_FIRST_WAIT * 2 ** (tries - 1) * self._chance.fraction())
            tries += 1

    def _sent(
        self,
        operation: str,
        method: str,
        path: str,
        body: bytes | Mapping[str, Any] | None,
        seconds: float,
        fine: tuple[int, ...],
    ) -> Mapping[str, Any]:
        limits = Timeout(connect=min(self.limits.connect, seconds), read=seconds)
        raw = body if isinstance(body, bytes) or body is None else as_json(body)
        headers = {"content-type": NDJSON} if isinstance(body, bytes) else None
        with _errors_mapped(operation):
            answer = self._transport.perform_request(
                method, path, params={"request_timeout": limits, "ignore": fine}, body=raw, headers=headers
            )
        if not isinstance(answer, Mapping):
            raise IndexUnavailableError(f"{operation} was not answered sensibly")
        return answer


class _PassingError(IndexUnavailableError):
    """The same request may be answered a moment later."""


@contextmanager
def _errors_mapped(operation: str) -> Iterator[None]:
    try:
        yield
    except ConnectionTimeout:
        raise IndexUnavailableError(f"{operation} was not answered in time") from None
    except NoAnswer as error:
        raise _PassingError(f"{operation} was not answered ({type(error.info).__name__})") from None
    except TransportError as error:
        status = error.status_code
        kind = _PassingError if status in _PASSING else IndexUnavailableError
        raise kind(f"{operation} failed (status {status})") from None
    except (OpenSearchException, *_UNREADABLE) as error:
        raise IndexUnavailableError(f"{operation} was not answered sensibly ({type(error).__name__})") from None


def as_json(body: Mapping[str, Any]) -> bytes:
    """Compact JSON, ASCII only: whatever a string holds can be sent."""
    return json.dumps(body, separators=(",", ":")).encode()


def as_lines(lines: Sequence[Mapping[str, Any]]) -> bytes:
    """JSON Lines, as bulk and multiple search want them."""
    return b"".join([as_json(line) + b"\n" for line in lines])


def open_client(  # noqa: PLR0913 - what one says of an endpoint
    url: str,
    *,
    service: str,
    region: str | None,
    clock: Clock,
    chance: Chance,
    limits: Limits | None = None,
    credentials: Any = None,
) -> SearchClient:
    """A client of the endpoint at `url`; nothing is sent yet. `service`: `es` or `aoss` to sign for, `none` to sign nothing.

    A user and a password in the URL are sent as they are (basic authorization). `credentials` are botocore's, and default to what
    the environment says. Raises ValueError when the URL is none, or when something needed for signing is missing.
    """
    parts = urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname:
        raise ValueError("the search endpoint is an URL that begins with http:// or https://")
    limits = limits or Limits()
    host = {
        "host": parts.hostname,
        "port": parts.port or _PORTS[parts.scheme],
        "use_ssl": parts.scheme == "https",
        "url_prefix": parts.path.strip("/"),
        "http_auth": _authorization(parts.username, parts.password, service, region, credentials),
    }
    transport = Transport(
        [host],
        connection_class=QuietConnection,
        max_retries=0,
        retry_on_status=(),
        pool_maxsize=_CONNECTIONS,
        timeout=limits.write,
    )
    return SearchClient(transport, clock=clock, chance=chance, limits=limits)


def _authorization(user: str | None, password: str | None, service: str, region: str | None, credentials: Any) -> Any:
    if service == "none":
        return (unquote(user), unquote(password or "")) if user else None
    return Urllib3AWSV4SignerAuth(credentials or botocore.session.get_session().get_credentials(), region, service)

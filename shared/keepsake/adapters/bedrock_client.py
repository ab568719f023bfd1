"""Clients of Bedrock, how long they are waited for, and the one place where their errors become errors of the domain.

No message of AWS's is passed on: it may quote what was sent. Only the name of the operation and of the error is.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from botocore.parsers import ResponseParserError

from keepsake.adapters.aws_clients import make_service_client
from keepsake.domain.errors import ModelUnavailableError

if TYPE_CHECKING:
    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

KNOWN_CODES = frozenset(
    {
        "AccessDeniedException",
        "ExpiredTokenException",
        "InternalServerException",
        "ModelErrorException",
        "ModelNotReadyException",
        "ModelTimeoutException",
        "ResourceNotFoundException",
        "ServiceQuotaExceededException",
        "ServiceUnavailableException",
        "ThrottlingException",
        "UnrecognizedClientException",
        "ValidationException",
    }
)
# What botocore's parser and our reading let through when an answer is not of the shape that it should be.
_UNREADABLE = (ResponseParserError, AttributeError, LookupError, TypeError, ValueError)


class _Times(NamedTuple):
    """Seconds to connect and to read one attempt, and how many attempts there are."""

    connect: float
    read: float
    attempts: int


class Patience(Enum):
    """How long a call may take, waits between its attempts (of a second at most at first, doubling) not counted."""

    TURN = _Times(1, 2.5, 2)  # somebody waits: 7 seconds at most
    EMBEDDING = _Times(2, 10, 4)  # a worker embeds
    ANSWER = _Times(2, 60, 3)  # a worker asks a language model


def make_bedrock_client(
    patience: Patience, *, region: str | None = None, endpoint: str | None = None, max_connections: int = 16
) -> BedrockRuntimeClient:
    """A client whose timeouts and retries are set, not inherited. `region` and `endpoint` default to the environment's."""
    times = patience.value
    config = Config(
        connect_timeout=times.connect,
        read_timeout=times.read,
        retries={"mode": "standard", "total_max_attempts": times.attempts},
        max_pool_connections=max_connections,
        tcp_keepalive=True,
    )
    client: BedrockRuntimeClient = make_service_client("bedrock-runtime", region=region, endpoint=endpoint, config=config)
    return client


class RequestRefusedError(ModelUnavailableError):
    """The request itself was refused as invalid: the same again will be, too."""

    retryable = False


@contextmanager
def bedrock_errors_mapped(operation: str) -> Iterator[None]:
    """Run one call of a client and read its answer; it raises ModelUnavailableError."""
    try:
        yield
    except ClientError as error:
        code = str(error.response.get("Error", {}).get("Code", ""))
        kind = RequestRefusedError if code == "ValidationException" else ModelUnavailableError
        raise kind(f"{operation} failed ({code if code in KNOWN_CODES else _status(error)})") from None
    except (BotoCoreError, *_UNREADABLE) as error:
        raise ModelUnavailableError(f"{operation} failed ({type(error).__name__})") from None


def _status(error: ClientError) -> str:
    """The code may be anybody's text, a proxy's page for one; a number is none."""
    return f"status {int(error.response.get('ResponseMetadata', {}).get('HTTPStatusCode', 0))}"

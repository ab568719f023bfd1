"""The one place where errors of AWS calls become errors of the domain.

No message of AWS's is passed on: it may quote what was sent. Only the name of the operation and of the error is.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import Enum
from typing import Any

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    CredentialRetrievalError,
    FlexibleChecksumError,
    HTTPClientError,
    IncompleteReadError,
    MetadataRetrievalError,
    ReadTimeoutError,
    ResponseStreamingError,
    UndefinedModelAttributeError,
)
from botocore.exceptions import ConnectionError as BotoConnectionError
from botocore.parsers import ResponseParserError

from keepsake.domain.errors import ItemTooLargeError, StoreError, StoreUnavailableError

# Errors that services answer with, by code. A code that is not here is judged by its HTTP status.
ERRORS_BY_CODE: Mapping[str, type[StoreError]] = {
    # DynamoDB
    "InternalServerError": StoreUnavailableError,
    "ProvisionedThroughputExceededException": StoreUnavailableError,
    "RequestLimitExceeded": StoreUnavailableError,
    "ThrottlingException": StoreUnavailableError,
    "TransactionInProgressException": StoreUnavailableError,
    "TransactionConflictException": StoreUnavailableError,
    "ReplicatedWriteConflictException": StoreUnavailableError,
    "LimitExceededException": StoreUnavailableError,
    "ItemCollectionSizeLimitExceededException": ItemTooLargeError,
    "IdempotentParameterMismatchException": StoreError,
    "ResourceNotFoundException": StoreError,
    "ResourceInUseException": StoreUnavailableError,
    "ConditionalCheckFailedException": StoreError,  # conditions stand in transactions only
    # Secrets Manager
    "DecryptionFailure": StoreError,
    "InternalServiceError": StoreUnavailableError,
    "InvalidParameterException": StoreError,
    "InvalidRequestException": StoreError,
    # SQS
    "InvalidAddress": StoreError,
    "InvalidSecurity": StoreError,
    "KmsAccessDenied": StoreError,
    "KmsDisabled": StoreError,
    "KmsInvalidKeyUsage": StoreError,
    "KmsInvalidState": StoreError,
    "KmsNotFound": StoreError,
    "KmsOptInRequired": StoreError,
    "KmsThrottled": StoreUnavailableError,
    "AWS.SimpleQueueService.NonExistentQueue": StoreError,  # QueueDoesNotExist, by the name it had before
    "QueueDoesNotExist": StoreError,
    "RequestThrottled": StoreUnavailableError,
    "UnsupportedOperation": StoreError,
    # all services
    "AccessDeniedException": StoreError,
    "ExpiredTokenException": StoreError,
    "IncompleteSignature": StoreError,
    "InternalFailure": StoreUnavailableError,
    "InvalidSignatureException": StoreError,
    "MissingAuthenticationTokenException": StoreError,
    "RequestTimeout": StoreUnavailableError,
    "RequestTimeoutException": StoreUnavailableError,
    "ServiceUnavailable": StoreUnavailableError,
    "SlowDown": StoreUnavailableError,
    "Throttling": StoreUnavailableError,
    "TooManyRequestsException": StoreUnavailableError,
    "UnrecognizedClientException": StoreError,
    "ValidationException": StoreError,
}
_CANCELED = "TransactionCanceledException"
_UNANSWERED = (
    BotoConnectionError,
    HTTPClientError,
    ReadTimeoutError,
    IncompleteReadError,
    ResponseStreamingError,
    FlexibleChecksumError,
    CredentialRetrievalError,
    MetadataRetrievalError,
)
# What botocore's parser lets through when an answer is not of the shape that the service's model says.
_UNREADABLE = (ResponseParserError, AttributeError, LookupError, TypeError, ValueError)


class Reason(Enum):
    """Why one write of a transaction that was cancelled did not go through."""

    NONE = "none"  # it was another write's fault
    CONDITION = "condition"
    PASSING = "passing"  # throttled, or in conflict with another transaction: the same again may succeed
    TOO_LARGE = "too large"
    OTHER = "other"


_REASONS = {
    "None": Reason.NONE,
    "ConditionalCheckFailed": Reason.CONDITION,
    "TransactionConflict": Reason.PASSING,
    "ThrottlingError": Reason.PASSING,
    "ProvisionedThroughputExceeded": Reason.PASSING,
    "ItemCollectionSizeLimitExceeded": Reason.TOO_LARGE,
    "ValidationError": Reason.OTHER,
}


class TransactionCanceledError(Exception):
    """A transaction wrote nothing. `reasons` has one entry a write, in order."""

    def __init__(self, reasons: tuple[Reason, ...]) -> None:
        super().__init__("a transaction was cancelled")
        self.reasons = reasons


@contextmanager
def aws_errors_mapped(operation: str) -> Iterator[None]:
    """Run one call of an AWS client; it raises StoreError or below, or TransactionCanceledError."""
    try:
        yield
    except ClientError as error:
        raise _of_answer(error, operation) from None
    except _UNANSWERED as error:
        raise StoreUnavailableError(_detail(operation, type(error).__name__)) from None
    except (BotoCoreError, UndefinedModelAttributeError) as error:
        raise StoreError(_detail(operation, type(error).__name__)) from None
    except _UNREADABLE as error:
        raise StoreUnavailableError(_detail(operation, type(error).__name__)) from None


def _of_answer(error: ClientError, operation: str) -> StoreError | TransactionCanceledError:
    response: Mapping[str, Any] = error.response
    code = str(response.get("Error", {}).get("Code", ""))
    if code == _CANCELED:
        return TransactionCanceledError(_reasons(response.get("CancellationReasons") or ()))
    if code == "ValidationException" and _speaks_of_size(response.get("Error", {})):
        return ItemTooLargeError(_detail(operation, code))
    if code in ERRORS_BY_CODE:
        return ERRORS_BY_CODE[code](_detail(operation, code))
    status = int(response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    kind = StoreUnavailableError if status >= 500 or status in {408, 429} else StoreError
    return kind(_detail(operation, f"status {status}"))  # the code may be anybody's text: a proxy's page, say


def _reasons(answered: Sequence[Mapping[str, Any]]) -> tuple[Reason, ...]:
    return tuple([_reason(one) for one in answered])


def _reason(answered: Mapping[str, Any]) -> Reason:
    if answered.get("Code") == "ValidationError" and _speaks_of_size(answered):
        return Reason.TOO_LARGE
    return _REASONS.get(answered.get("Code", "None"), Reason.OTHER)


def _speaks_of_size(answered: Mapping[str, Any]) -> bool:
    message = str(answered.get("Message", "")).lower()
    return "size" in message and "exceed" in message


def _detail(operation: str, name: str) -> str:
    return f"{operation} failed ({name})"
